"""The films of a phone, in the README and the documentation, show what the bot says today."""

from pathlib import Path

import pytest
from PIL import Image

from tests.journeys.chromium import CHROMIUM
from tools.conversation_picture import read_words, tell
from tools.phone_film import SCRIPTS, draw, film, play

MOST_BYTES = 1_500_000
AGAIN = "make the films again: python -m tools.phone_film"

pytestmark = [pytest.mark.thorough, pytest.mark.process]


@pytest.mark.parametrize(("language", "undo"), [("en", "Undo"), ("de", "Zurücknehmen")])
async def test_the_film_is_current(tmp_path: Path, language: str, undo: str) -> None:
    path = SCRIPTS[language].film
    scenes = await play(tmp_path / "home", language)
    assert read_words(path) == tell(scenes[-1].lines), AGAIN
    assert path.stat().st_size < MOST_BYTES
    with Image.open(path) as picture:
        assert getattr(picture, "n_frames", 0) == len(scenes), AGAIN
    assert undo in draw(scenes[5], language)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
async def test_the_film_can_be_made(tmp_path: Path) -> None:
    scenes = (await play(tmp_path / "home", "de"))[3:5]
    await film(scenes, "de", tmp_path, tmp_path / "phone.gif")
    with Image.open(tmp_path / "phone.gif") as picture:
        assert getattr(picture, "n_frames", 0) == 2
