"""A folder or file that can't be read keeps nothing else from starting."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.model import FakeModel, say
from tests.integration.harness import running


def _make_file(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("not a folder")


def _make_loop(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(place.name)


def _make_dangling(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(place.parent / "gone")


def _make_too_long(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to("x" * 300 + "/y")


def _make_bad_name(place: Path) -> None:
    place.mkdir(parents=True)
    (place / "\udcff\udcfe").mkdir()


def _make_folder_for_file(place: Path) -> None:
    (place / "broken" / "SKILL.md").mkdir(parents=True)
    (place / "broken" / "agent.toml").mkdir(parents=True)


def _make_bad_text(place: Path) -> None:
    (place / "broken").mkdir(parents=True)
    for name in ("SKILL.md", "agent.toml", "SOUL.md"):
        (place / "broken" / name).write_bytes(b"\xff\xfe")


FORMS: dict[str, Callable[[Path], None]] = {
    "file": _make_file,
    "loop": _make_loop,
    "dangling": _make_dangling,
    "too long": _make_too_long,
    "bad name": _make_bad_name,
    "folder for a file": _make_folder_for_file,
    "bad text": _make_bad_text,
}
PLACES = ("skills", "skills/broken", "skills/.archive", "agents", "agents/broken")


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PLACES)
async def test_the_start_goes_on_and_a_message_is_answered(
    tmp_path: Path, name: str, form: str
) -> None:
    FORMS[form](tmp_path / name)
    async with running(tmp_path, FakeModel(say("Here I am."))) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees_text("Here I am.")
        await harness.chat.says("/skills")
        await harness.at_rest()
