"""Reading a trusted skill copies its files to the workspace of the reader, and nothing else."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import WorkspaceError
from agent_core.execution.contract import Backend
from agent_core.execution.local import LocalBackend
from agent_core.execution.selected import UNKNOWN, SelectedBackends
from agent_core.ids import PersonId
from agent_core.skills.agreements import agree
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.tools.toolset import make_skill_tools
from agent_core.skills.tools.workspace_copy import copy_files
from agent_core.state.engine.database import Database
from agent_core.tools.contract import MemoryOwner
from agent_core.tools.toolbox import Toolbox
from tests.agent_core.skills.skill_folders import write_skill
from tests.agent_core.skills.tools.sandbox_limits import LIMITS
from tests.agent_core.tools.toolbox_calls import CONTEXT, run


class Shelf:
    """A home with skills, and the workspaces of its people."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "skills", folder / "project"
        self.catalog = SkillCatalog(self.home, (), self.project)
        self.backend: Backend = LocalBackend(folder / "places", LIMITS, program="/missing/bwrap")

    def write(self, text: str = "print('swept')", folder: Path | None = None) -> Path:
        place = write_skill(folder or self.home, "tidy")
        (place / "scripts").mkdir()
        (place / "scripts/sweep.py").write_text(text)
        return place

    async def copy(self, slug: str = "ada", kind: str = "human") -> str:
        person = MemoryOwner(person_id=PersonId(1), slug=slug)
        owner = person if kind == "human" else replace(person, kind="room")
        context = replace(CONTEXT, memory_owner=owner)
        return await copy_files(self.backend, self.catalog, self.catalog.find("tidy"), context)

    async def read(self, path: str = "scripts/sweep.py", slug: str = "ada") -> str:
        found = await self.backend.read_file(slug, f".skills/tidy/{path}", 1_000)
        return found.data.decode()


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    await shelf.backend.close()


async def test_a_changed_copy_is_kept_beside_the_skills_own_file(shelf: Shelf) -> None:
    place = shelf.write()
    assert ".skills/tidy/" in await shelf.copy()
    await shelf.backend.write_file("ada", ".skills/tidy/scripts/sweep.py", b"mine")
    assert ".skills/tidy/scripts/sweep.py.edited" in await shelf.copy()
    assert await shelf.read() == "print('swept')"
    assert await shelf.read("scripts/sweep.py.edited") == "mine"
    (place / "scripts/sweep.py").write_text("print('newer')")
    assert ".edited" not in await shelf.copy()
    assert await shelf.read() == "print('newer')"
    assert await shelf.read("scripts/sweep.py.edited") == "mine"


@pytest.mark.parametrize("damaged", [b"", b"[1]", b"{", b"[" * 20_000, b"\xff"])
async def test_a_damaged_record_of_the_copy_only_costs_a_second_copy(
    shelf: Shelf, damaged: bytes
) -> None:
    place = shelf.write()
    await shelf.copy()
    await shelf.backend.write_file("ada", ".skills/tidy/.copied.json", damaged)
    (place / "scripts/sweep.py").write_text("print('newer')")
    assert "sweep.py.edited" in await shelf.copy()
    assert await shelf.read() == "print('newer')"


async def test_two_people_have_a_copy_each_and_a_group_has_none(shelf: Shelf) -> None:
    shelf.write()
    await shelf.copy("ada")
    with pytest.raises(WorkspaceError):
        await shelf.read(slug="bert")
    await shelf.copy("bert")
    await shelf.backend.write_file("bert", ".skills/tidy/scripts/sweep.py", b"bert's")
    assert await shelf.read(slug="ada") == "print('swept')"
    assert await shelf.copy("lobby", kind="room") == ""


async def test_files_of_others_come_once_an_owner_agrees_and_until_they_change(
    shelf: Shelf,
) -> None:
    place = shelf.write(folder=shelf.project / ".agents/skills")
    assert await shelf.copy() == ""
    agree(shelf.home, place)
    assert "scripts there" in await shelf.copy()
    trusted = shelf.catalog.find("tidy")
    (place / "scripts/sweep.py").write_text("evil")
    assert await shelf.copy() == ""
    assert await copy_files(shelf.backend, shelf.catalog, trusted, CONTEXT) == ""
    assert await shelf.read() == "print('swept')"


async def test_links_pipes_and_names_without_letters_stay_away(
    shelf: Shelf, tmp_path: Path
) -> None:
    place = shelf.write()
    (tmp_path / "secret").write_text("secret")
    (place / "scripts/inner.py").symlink_to("sweep.py")
    (place / "loop").symlink_to(place)
    os.mkfifo(place / "pipe")
    (place / os.fsdecode(b"bad\xff")).write_text("x")
    (place / "__pycache__").mkdir()
    (place / "__pycache__/sweep.pyc").write_bytes(b"x")
    assert "scripts there" in await shelf.copy()
    found = tmp_path / "places/ada/.skills/tidy"
    files = {one.relative_to(found).as_posix() for one in found.rglob("*") if one.is_file()}
    assert files == {".copied.json", "scripts/sweep.py"}


async def test_too_many_and_too_large_files_are_left_out_with_a_reason(shelf: Shelf) -> None:
    place = shelf.write()
    (place / "large.bin").write_bytes(bytes(10_000_001))
    assert "too many or too large" in await shelf.copy()
    (place / "large.bin").unlink()
    for number in range(200):
        (place / f"{number}.txt").touch()
    assert "too many or too large" in await shelf.copy()
    with pytest.raises(WorkspaceError):
        await shelf.read()


async def test_a_folder_in_the_way_is_named(shelf: Shelf) -> None:
    shelf.write()
    await shelf.backend.write_file("ada", ".skills/tidy/scripts/sweep.py/x", b"1")
    assert "is a folder" in await shelf.copy()


async def test_reading_a_skill_with_its_own_backend_copies_the_files_there(
    shelf: Shelf, tmp_path: Path
) -> None:
    place = shelf.write()
    text = (place / "SKILL.md").read_text()
    (place / "SKILL.md").write_text(text.replace("---\n", "---\nmetadata:\n  backend: gpu\n", 1))
    far = LocalBackend(tmp_path / "far", LIMITS, program="/missing/bwrap")
    database = await Database.open(tmp_path / "state.db")
    try:
        directory = SkillDirectory(shelf.catalog, database, 800)
        gone = SelectedBackends(None, {}, refusal="there is no such backend")
        for elsewhere, said in (
            ({UNKNOWN: gone, "backend:gpu": far}, "at the backend"),
            ({UNKNOWN: gone}, "there is no such backend"),
        ):
            tools = make_skill_tools(
                directory, database, shelf.backend, find_name=str, elsewhere=elsewhere
            )
            read = await run(Toolbox(tools), "skill_view", '{"name": "tidy"}')
            assert said in read.text.splitlines()[-1]
    finally:
        await database.close()
    assert (tmp_path / "far/ada/.skills/tidy/scripts/sweep.py").read_text() == "print('swept')"
    assert not (tmp_path / "places/ada").exists()


async def test_reading_a_skill_says_where_its_files_are_also_in_a_long_text(
    shelf: Shelf, tmp_path: Path
) -> None:
    place = shelf.write()
    text = (place / "SKILL.md").read_text()
    (place / "SKILL.md").write_text(text + "x" * 20_000)
    database = await Database.open(tmp_path / "state.db")
    try:
        directory = SkillDirectory(shelf.catalog, database, 800)
        box = Toolbox(make_skill_tools(directory, database, shelf.backend, find_name=str))
        first = await run(box, "skill_view", '{"name": "tidy"}')
        assert "python3 .skills/tidy/FILE" in first.text.splitlines()[-1]
        rest = await run(box, "skill_view", '{"name": "tidy", "offset": 18000}')
        assert "python3" not in rest.text
        assert await shelf.read() == "print('swept')"
    finally:
        await database.close()
