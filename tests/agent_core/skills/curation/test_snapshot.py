"""Snapshots of the home's skills, and what restoring one brings back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.errors import SkillConflict
from agent_core.skills.catalog import list_skill_folders
from agent_core.skills.curation.snapshot import (
    RestoredSnapshot,
    list_snapshots,
    restore_snapshot,
    take_snapshot,
)
from agent_core.skills.intents import write_planned
from agent_core.skills.ledger_sync import note_loaded
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skills
from agent_core.state.memory.ledger import Origin
from tests.agent_core.skills.curation.agent_skills import make, read_text
from tests.agent_core.skills.ledger_home import archive_skill
from tests.agent_core.skills.skill_folders import write_skill, write_text
from tests.databases import open_database

DAY = 86_400_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "skills"
    place.mkdir()
    return place


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    yield opened
    await opened.close()


async def restore(database: Database, folder: Path) -> RestoredSnapshot:
    def work(connection: Connection) -> RestoredSnapshot:
        done = restore_snapshot(connection, folder, Origin(actor="house", now=9 * DAY))
        write_planned(connection, folder)
        return done

    return await database.write("test", work)


async def test_restoring_brings_back_what_was_archived_and_what_was_changed(
    folder: Path, database: Database
) -> None:
    await make(database, folder, "old")
    (folder / "old" / "scripts").mkdir()
    script = folder / "old" / "scripts" / "run.sh"
    script.write_text("echo hi\n")
    script.chmod(0o755)
    place = write_skill(folder, "tidy", "First.")
    before = read_text(folder, "tidy")
    assert take_snapshot(folder, DAY) == "19700102T000000Z"

    def change(connection: Connection) -> None:
        archive_skill(connection, folder, "old", Origin(actor="curator", now=2 * DAY))
        note_loaded(connection, folder, "tidy", Origin(actor="hand", now=2 * DAY))

    await database.write("test", change)
    write_text(place, "tidy", "Second.")
    done = await restore(database, folder)
    assert (done.name, done.restored) == ("19700102T000000Z", ("old", "tidy"))
    assert read_text(folder, "tidy") == before
    assert (folder / "old" / "scripts" / "run.sh").stat().st_mode & 0o100
    kept = sorted(one.name for one in (folder / ".archive").iterdir())
    assert kept == ["old", "tidy"]
    assert "Second." in read_text(folder / ".archive", "tidy")
    row = await database.read(lambda c: skills.find(c, name="old"))
    assert row
    assert row.state == "draft", "no test has proved it, as before"


async def test_what_the_curator_wrote_since_goes_and_what_people_wrote_stays(
    folder: Path, database: Database
) -> None:
    await make(database, folder, "old")
    take_snapshot(folder, DAY)
    await make(database, folder, "umbrella", "curator")
    await make(database, folder, "pinned", "curator")
    await make(database, folder, "new")
    write_skill(folder, "mine")
    await database.write("test", lambda c: skills.pin(c, name="pinned", is_pinned=True))
    done = await restore(database, folder)
    assert (done.restored, done.archived) == ((), ("umbrella",))
    assert [one.name for one in list_skill_folders(folder)] == ["mine", "new", "old", "pinned"]


async def test_without_a_snapshot_or_a_difference_nothing_is_restored(
    folder: Path, database: Database
) -> None:
    await make(database, folder, "old")
    with pytest.raises(SkillConflict, match="no snapshot yet"):
        await restore(database, folder)
    take_snapshot(folder, DAY)
    with pytest.raises(SkillConflict, match="as they were"):
        await restore(database, folder)


def test_five_snapshots_stay_and_links_are_in_none(folder: Path) -> None:
    write_skill(folder, "tidy")
    (folder / "elsewhere").symlink_to(folder / "tidy")
    linked = write_skill(folder, "linked")
    (linked / "secret").symlink_to("/etc/passwd")
    crashed = folder / ".snapshots" / ".19700103T000000Z"
    (crashed / "tidy").mkdir(parents=True)
    for day in range(1, 8):
        take_snapshot(folder, day * DAY)
    take_snapshot(folder, 7 * DAY)
    assert list_snapshots(folder) == [f"1970010{day}T000000Z" for day in (8, 7, 6, 5, 4)]
    assert not crashed.exists(), "it would never be finished"
    newest = folder / ".snapshots" / "19700108T000000Z"
    assert [one.name for one in newest.iterdir()] == ["tidy"]


async def test_the_last_snapshot_is_the_newest_whatever_the_clock_and_other_files(
    folder: Path, database: Database
) -> None:
    place = write_skill(folder, "tidy", "First.")
    for day in range(6):
        take_snapshot(folder, (400 + day) * DAY)
    second = write_text(place, "tidy", "Second.")
    (folder / ".snapshots" / "notes.txt").write_text("mine")
    name = take_snapshot(folder, 3 * DAY)  # the clock was put back
    assert list_snapshots(folder)[0] == name
    assert len(list_snapshots(folder)) == 5
    write_text(place, "tidy", "Third.")
    assert (await restore(database, folder)).name == name
    assert read_text(folder, "tidy") == second
    assert (folder / ".snapshots" / "notes.txt").read_text() == "mine"
