"""`/undo` takes back the newest change of any kind, also of files, and says what came back."""

import json
from pathlib import Path

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.harness import Harness, running

pytestmark = [pytest.mark.process, needs_bubblewrap]


def run(command: str) -> list[object]:
    """A turn that runs a command."""
    return [ask(call("terminal", json.dumps({"command": command}))), say(f"Ran {command[:20]}.")]


def note(text: str) -> list[object]:
    """A turn that remembers something."""
    arguments = {"action": "add", "target": "user", "text": text}
    return [ask(call("memory", json.dumps(arguments))), say(f"Noted {text}.")]


async def tell(harness: Harness, text: str, answer: str) -> None:
    await harness.chat.says(text)
    await harness.chat.sees_text(answer)
    await harness.at_rest()


async def undo(harness: Harness, command: str = "/undo") -> str:
    await harness.chat.says(command)
    await harness.at_rest()
    return str(harness.chat.shown[-1].text)


def show(home: Path) -> dict[str, str]:
    place = next((home / "workspaces").iterdir())
    return {
        path.name: path.read_text()
        for path in place.iterdir()
        if path.is_file() and path.name[0] != "."
    }


async def test_undo_takes_back_files_and_says_what_came_back(tmp_path: Path) -> None:
    first, second = "echo 1 > a.txt; echo 1 > c.txt", "echo 2 > a.txt; echo 2 > b.txt; rm c.txt"
    model = FakeModel(*run(first), *run(second))  # type: ignore[arg-type]
    async with running(tmp_path, model, TALARIA_TOOLS__BACKEND="local") as harness:
        await tell(harness, "make them", f"Ran {first[:20]}.")
        await tell(harness, "change them", f"Ran {second[:20]}.")
        assert show(tmp_path) == {"a.txt": "2\n", "b.txt": "2\n"}
        said = await undo(harness)
        assert said.startswith(
            "↩ Taken back. 3 files are as they were before: a.txt, b.txt removed, c.txt restored."
        )
        assert show(tmp_path) == {"a.txt": "1\n", "c.txt": "1\n"}
        assert harness.chat.shown[-1].labels == ["Bring it back"]
        assert (
            await undo(harness, "/undo files 3 back")
            == "3 files are as they were before: a.txt, b.txt restored, c.txt removed."
        )
        assert harness.chat.shown[-1].labels == ["Undo"]
        assert show(tmp_path) == {"a.txt": "2\n", "b.txt": "2\n"}
        assert "No change to your files has the number 3." in await undo(harness, "/undo files 3")
        assert "No change to your files has the number 99." in await undo(harness, "/undo files 99")
        place = next((tmp_path / "workspaces").iterdir())
        (place / "a.txt").write_text("by hand\n")
        said = await undo(harness)
        assert said.startswith(
            "↩ Taken back. 2 files are as they were before: b.txt removed, c.txt restored."
        )
        assert "I left this file as it is, because it was changed later: a.txt" in said
        assert show(tmp_path) == {"a.txt": "by hand\n", "c.txt": "1\n"}


async def test_undo_goes_back_through_files_and_memory_in_their_order(tmp_path: Path) -> None:
    model = FakeModel(*run("echo 1 > a"), *note("Likes tea"), *run("echo 2 > a"))  # type: ignore[arg-type]
    async with running(tmp_path, model, TALARIA_TOOLS__BACKEND="local") as harness:
        await tell(harness, "one", "Ran echo 1 > a.")
        await undo(harness, "/new")  # after the words of a command, a note is only proposed
        await tell(harness, "I like tea", "Noted Likes tea.")
        await tell(harness, "two", "Ran echo 2 > a.")
        assert (await undo(harness)).startswith("↩ Taken back. 1 file is as it was before: a.")
        assert show(tmp_path) == {"a": "1\n"}
        assert "Removed: Likes tea" in await undo(harness)
        assert (await undo(harness)).startswith(
            "↩ Taken back. 1 file is as it was before: a removed."
        )
        assert show(tmp_path) == {}
        assert await undo(harness) == "There's nothing to undo."


async def test_forget_forgets_the_earlier_versions_of_files(tmp_path: Path) -> None:
    model = FakeModel(*run("echo xylophone > a"), *run("echo other > a"))  # type: ignore[arg-type]
    async with running(tmp_path, model, TALARIA_TOOLS__BACKEND="local") as harness:
        await tell(harness, "one", "Ran echo xylophone > a.")
        await tell(harness, "two", "Ran echo other > a.")
        copies = list((tmp_path / "versions").glob("people/*/copies/*"))
        assert any(b"xylophone" in copy.read_bytes() for copy in copies)
        await harness.chat.says("/forget xylophone")
        await harness.at_rest()
        await harness.chat.press("Notes and messages")
        await harness.chat.sees_text("Deleted:")
        await harness.at_rest()
        copies = list((tmp_path / "versions").glob("people/*/copies/*"))
        assert not any(b"xylophone" in copy.read_bytes() for copy in copies)
        assert "before:" not in await undo(harness)
