"""What the tools of a workspace changed can be taken back, and no command sees the store."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.execution.contract import Backend
from agent_core.ids import PersonId
from agent_core.state.engine.database import Database
from agent_core.tools.contract import MemoryOwner
from agent_core.tools.workspace.catalog import make_workspace_tools
from agent_core.tools.workspace.versions import FileVersions
from tests.agent_core.execution.backends import make_local, needs_bubblewrap
from tests.agent_core.tools.workspace.desk import Desk

pytestmark = [pytest.mark.process, needs_bubblewrap]


class Versioned(Desk):
    """A desk whose changes can be taken back."""

    def __init__(self, database: Database, folder: Path, share: float = 0.05) -> None:
        backend = make_local(folder)
        self.home = folder
        self.versions = FileVersions(
            folder / "versions", database, backend, lambda: self.now, share=share
        )
        super().__init__(database, folder, backend, versions=self.versions)

    async def undo(self, key: str = "") -> list[str]:
        """Take the newest change back; return what came back."""
        found = await self.versions.find_newest("anna")
        if found is None:
            return []
        made = await self.versions.undo(
            MemoryOwner(person_id=PersonId(1), slug="anna"),
            found.number,
            key or f"undo {found.number}",
        )
        assert made is not None
        return sorted(made.entries)

    def list_copies(self) -> list[Path]:
        return list((self.home / "versions").glob("people/*/copies/*"))


@pytest.fixture
async def desk(database: Database, tmp_path: Path) -> AsyncIterator[Versioned]:
    desk = Versioned(database, tmp_path)
    yield desk
    await desk.background.close()


async def test_every_tool_that_changes_files_can_be_taken_back(desk: Versioned) -> None:
    desk.turn = 1
    await desk.say("write_file", path="a", content="1")
    desk.turn = 2
    await desk.say("patch", path="/workspace/a", old="1", new="2")
    desk.turn = 3
    await desk.say("terminal", command="echo 3 > a; mkdir d; echo 3 > d/b; chmod 755 a")
    desk.turn = 4
    await desk.say("terminal", command="ls; false")
    desk.turn = 5
    await desk.say("write_file", path="d/../c", content="5")
    assert await desk.undo() == ["c"]
    assert await desk.undo() == ["a", "d", "d/b"]
    assert [path.name for path in desk.place.iterdir() if path.name[0] != "."] == ["a"]
    assert (desk.place / "a").read_text() == "2"
    assert (desk.place / "a").stat().st_mode & 0o777 == 0o600
    assert await desk.undo() == ["a"]
    assert (desk.place / "a").read_text() == "1"
    assert await desk.undo() == ["a"]
    assert await desk.undo() == []


async def test_a_command_that_is_stopped_or_starts_in_the_background_counts_too(
    desk: Versioned,
) -> None:
    desk.turn = 1
    await desk.say("terminal", command="echo 1 > a; sleep 60", timeout=1)
    assert await desk.undo() == ["a"]
    desk.turn = 2
    task = asyncio.create_task(desk.use("terminal", command="echo 2 > b; echo 2 > c; sleep 60"))
    while not (desk.place / "c").exists():
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait((task,))
    assert await desk.undo() == ["b", "c"]


async def test_commands_side_by_side_lose_no_change(desk: Versioned) -> None:
    words = [f"for i in 1 2 3; do echo {one} > {one}$i; sleep 0.05; done" for one in "abcd"]
    await asyncio.gather(*(desk.use("terminal", command=text) for text in words))
    taken: list[str] = []
    while more := await desk.undo():
        taken += more
    assert sorted(taken) == [f"{one}{number}" for one in "abcd" for number in (1, 2, 3)]


async def test_no_command_sees_the_store(desk: Versioned) -> None:
    await desk.say("write_file", path="a", content="old-content-7f3")
    await desk.say("write_file", path="a", content="new")
    assert desk.list_copies()
    store = desk.home / "versions"
    for text in (
        f"ls {store}; cat {store}/people/anna/copies/*",
        "grep -rh 'old-content-[7]f3' /tmp /dev /workspace /home /root /etc 2>/dev/null",
        "cat /workspace/../versions/people/anna/copies/*",
        f"ln -s {store}/people/anna/copies link; cat link/*",
    ):
        assert "old-content-7f3" not in await desk.say("terminal", command=text)
    index = "people/anna/index.json"
    for path in (f"{store}/{index}", f"../../versions/{index}", "link"):
        assert (await desk.use("read_file", path=path)).is_error


async def test_the_oldest_changes_leave_when_there_is_no_room(
    database: Database, tmp_path: Path
) -> None:
    disk = os.statvfs(tmp_path)
    desk = Versioned(database, tmp_path, share=1_000_000 / (disk.f_blocks * disk.f_frsize))
    for turn in range(1, 30):
        desk.turn = desk.now = turn
        await desk.say("write_file", path="a", content=f"{turn:05}" * 20_000)
        assert sum(copy.stat().st_size for copy in desk.list_copies()) <= 1_000_000
    for turn in (28, 27, 26):
        assert await desk.undo() == ["a"]
        assert (desk.place / "a").read_text()[:5] == f"{turn:05}"
    while await desk.undo():
        pass
    assert int((desk.place / "a").read_text()[:5]) > 5
    assert (desk.home / "versions" / "people").is_dir()


async def test_a_backend_on_another_machine_says_so(database: Database, tmp_path: Path) -> None:
    class Elsewhere:
        """A backend whose workspaces are elsewhere."""

        def __init__(self, inner: Backend) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

        def find_place(self, workspace: str) -> None:
            """Return None."""

    backend: Backend = Elsewhere(make_local(tmp_path))  # type: ignore[assignment]
    versions = FileVersions(tmp_path / "versions", database, backend, lambda: 0)
    desk = Desk(database, tmp_path, backend, versions=versions)
    assert versions.find_gap("anna", 0) is None
    await desk.say("write_file", path="a", content="1")
    assert versions.find_gap("anna", 0) == "elsewhere"
    assert versions.find_gap("anna", 1) is None
    assert await versions.find_newest("anna") is None


async def test_versions_are_forgotten_at_once(desk: Versioned) -> None:
    await desk.say("write_file", path="a", content="1")
    await desk.versions.forget("anna")
    assert not desk.list_copies()
    assert await desk.undo() == []
    await desk.say("write_file", path="a", content="2")
    await desk.say("write_file", path="b", content="2")
    assert await desk.undo() == ["a", "b"]
    assert (desk.place / "a").read_text() == "1"


async def test_an_erased_store_begins_again(desk: Versioned) -> None:
    await desk.say("write_file", path="a", content="1")
    shutil.rmtree(desk.home / "versions" / "people" / "anna")
    await desk.say("terminal", command="echo 2 > a")
    await desk.say("write_file", path="a", content="3")
    assert await desk.undo() == ["a"]
    assert (desk.place / "a").read_text() == "1"


def test_the_catalog_works_without_versions(tmp_path: Path) -> None:
    assert make_workspace_tools(make_local(tmp_path), None, command_seconds=1)
