"""The pictures of the console page in the docs show what the page says today."""

from pathlib import Path

import pytest

from tests.journeys.chromium import CHROMIUM
from tools.console_pictures import IMAGES, take
from tools.conversation_picture import keep, read_words

AGAIN = "take the pictures again: python -m tools.console_pictures"

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.process,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


async def test_the_pictures_of_the_page_are_current(tmp_path: Path) -> None:
    shown = await take(tmp_path)
    assert {name: read_words(IMAGES / name) for name in shown} == shown, AGAIN
    name, words = next(iter(shown.items()))
    keep(tmp_path / name, words, tmp_path / "kept.png", colours=16)
    assert read_words(tmp_path / "kept.png") == words
