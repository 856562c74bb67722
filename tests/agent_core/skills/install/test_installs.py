"""An installed skill has a ledger row before its files move, and can be rolled back."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.errors import SkillConflict
from agent_core.skills.agreements import hash_folder, read_agreements
from agent_core.skills.catalog import SKILL_FILE, SkillCatalog
from agent_core.skills.install.contract import StagedSkill
from agent_core.skills.install.installs import (
    SkillVersion,
    list_versions,
    plan_install,
    plan_rollback,
)
from agent_core.skills.install.sources import open_source
from agent_core.skills.install.stage import find_staged, stage_skill
from agent_core.skills.intents import has_written_all, write_planned
from agent_core.state.engine.database import Database
from tests.agent_core.skills.skill_folders import write_skill, write_text


class Shelf:
    """A home, and a folder from which the skill `tidy` is installed."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.home, self.database = folder / "skills", database
        self.catalog = SkillCatalog(self.home)
        self.source = write_skill(folder / "from", "tidy", "First.")
        self.file = self.home / "tidy" / SKILL_FILE

    def stage(self, source: Path | None = None) -> StagedSkill:
        opened, _ = open_source(str(source or self.source), "", self.home, {}, {})
        return stage_skill(self.home, "tidy", opened.open_skill("tidy"))

    async def plan(self, staged: StagedSkill) -> None:
        await self.database.write("plan", lambda c: plan_install(c, self.home, staged, 1))

    async def write(self) -> None:
        await self.database.write("write", lambda c: write_planned(c, self.home))
        assert await self.database.read(has_written_all)

    async def install(self, body: str, extra: str = "") -> None:
        write_text(self.source, "tidy", body)
        (self.source / "more.md").write_text(extra)
        await self.plan(self.stage())
        await self.write()

    async def roll_back(self, number: int | None = None) -> SkillVersion:
        chosen = await self.database.write(
            "roll", lambda c: plan_rollback(c, self.catalog, "tidy", number, 2)
        )
        await self.write()
        return chosen

    async def versions(self) -> list[tuple[int, bool]]:
        found = await self.database.read(lambda c: list_versions(c, self.home, "tidy"))
        return [(one.number, one.is_current) for one in found]


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    database = await Database.open(tmp_path / "state.db")
    yield Shelf(tmp_path, database)
    await database.close()


async def test_the_row_comes_first_and_a_later_start_moves_the_files(shelf: Shelf) -> None:
    await shelf.plan(shelf.stage())
    assert not shelf.file.exists()
    assert not await shelf.database.read(has_written_all)
    await shelf.write()
    assert "First." in shelf.file.read_text()
    assert shelf.catalog.load("tidy").body == "First."
    await shelf.write()
    assert await shelf.versions() == [(1, True)]


async def test_the_yes_agrees_to_the_files_until_one_changes(shelf: Shelf) -> None:
    await shelf.install("First.")
    assert read_agreements(shelf.home) == {}, "an import has no yes for each skill"
    write_text(shelf.source, "tidy", "Second.")
    staged = shelf.stage()
    await shelf.database.write(
        "plan", lambda c: plan_install(c, shelf.home, staged, 1, agrees=True)
    )
    await shelf.write()
    place = shelf.home / "tidy"
    agreed = read_agreements(shelf.home)
    assert agreed == {str(place.absolute()): hash_folder(place)}
    (place / "SKILL.md").write_text("changed")
    assert agreed[str(place.absolute())] != hash_folder(place)


async def test_a_copy_that_changes_after_the_scan_is_not_installed(shelf: Shelf) -> None:
    staged = shelf.stage()
    copy = find_staged(shelf.home, staged.token, "tidy")
    (copy / "evil.sh").write_text("x")
    with pytest.raises(SkillConflict, match="has changed since the scan"):
        await shelf.plan(staged)
    staged = shelf.stage()
    await shelf.plan(staged)
    (find_staged(shelf.home, staged.token, "tidy") / "evil.sh").write_text("x")
    await shelf.write()
    assert not shelf.file.exists()


async def test_a_skill_of_another_origin_is_not_replaced(shelf: Shelf, tmp_path: Path) -> None:
    write_skill(shelf.home, "tidy", "Mine.")
    with pytest.raises(SkillConflict, match="does not come from there"):
        await shelf.plan(shelf.stage())
    shutil.rmtree(shelf.home / "tidy")
    await shelf.install("First.")
    other = write_skill(tmp_path / "elsewhere", "tidy", "Other.")
    with pytest.raises(SkillConflict, match="does not come from there"):
        await shelf.plan(shelf.stage(other))
    with pytest.raises(SkillConflict, match="installed already, with the same files"):
        await shelf.plan(shelf.stage())


async def test_versions_come_back_with_their_files(shelf: Shelf) -> None:
    await shelf.install("First.", "one")
    await shelf.install("Second.", "two")
    assert await shelf.versions() == [(1, False), (2, True)]
    assert (await shelf.roll_back()).number == 1
    assert "First." in shelf.file.read_text()
    assert (shelf.home / "tidy/more.md").read_text() == "one"
    with pytest.raises(SkillConflict, match="has no version 9"):
        await shelf.roll_back(9)
    assert (await shelf.roll_back(2)).kept
    assert (shelf.home / "tidy/more.md").read_text() == "two"


async def test_a_text_without_its_files_comes_back_alone_and_edits_are_kept(shelf: Shelf) -> None:
    await shelf.install("First.")
    with pytest.raises(SkillConflict, match="no earlier version"):
        await shelf.roll_back()
    write_text(shelf.home / "tidy", "tidy", "By hand.")
    assert (await shelf.roll_back()).kept == ""
    assert "First." in shelf.file.read_text()
    assert await shelf.versions() == [(1, False), (2, False), (3, True)]
    await shelf.roll_back(2)
    assert "By hand." in shelf.file.read_text()


async def test_only_new_files_are_a_version_too(shelf: Shelf) -> None:
    await shelf.install("First.", "one")
    await shelf.install("First.", "two")
    assert (shelf.home / "tidy/more.md").read_text() == "two"
    assert [number for number, _ in await shelf.versions()] == [1, 2]
    with pytest.raises(SkillConflict, match="has the text of version 1 already"):
        await shelf.roll_back(1)
