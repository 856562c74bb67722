"""The film of a phone in the README shows what the bot says today."""

from pathlib import Path

import pytest
from PIL import Image

from tests.journeys.chromium import CHROMIUM
from tools.conversation_picture import read_words, tell
from tools.phone_film import FILM, draw, film, play

MOST_BYTES = 1_500_000
AGAIN = "make the film again: python -m tools.phone_film"

pytestmark = [pytest.mark.thorough, pytest.mark.process]


async def test_the_film_is_current(tmp_path: Path) -> None:
    scenes = await play(tmp_path / "home")
    assert read_words(FILM) == tell(scenes[-1].lines), AGAIN
    assert FILM.stat().st_size < MOST_BYTES
    with Image.open(FILM) as picture:
        assert getattr(picture, "n_frames", 0) == len(scenes), AGAIN
    assert "Undo" in draw(scenes[5])


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
async def test_the_film_can_be_made(tmp_path: Path) -> None:
    scenes = (await play(tmp_path / "home"))[3:5]
    await film(scenes, tmp_path, tmp_path / "phone.gif")
    with Image.open(tmp_path / "phone.gif") as picture:
        assert getattr(picture, "n_frames", 0) == 2
