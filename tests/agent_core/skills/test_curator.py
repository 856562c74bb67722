"""What is done about skills that nobody uses, that are broken, or that somebody moved."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from agent_core.skills.catalog import CatalogEntry
from agent_core.skills.curator import (
    CurationStep,
    CuratorRules,
    CuratorView,
    SkillDifference,
    hash_fault,
    plan_steps,
)
from agent_core.skills.usage import FILE, USAGE_TABLES, SkillRecord, dump, write_usage
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skills
from agent_core.state.memory.skills import SkillRow
from tests.databases import open_database

DAY = 86_400_000
NOW = 1000 * DAY
RULES = CuratorRules(stale_days=30, archive_days=90)
FAULT = "skill tidy has no SKILL.md"
GOOD = CatalogEntry(name="tidy", origin="home")
BROKEN = CatalogEntry(name="tidy", origin="home", fault=FAULT)
ROW = SkillRow(
    id=1,
    name="tidy",
    seen_at=0,
    uses=1,
    last_used_at=NOW,
    state="active",
    is_pinned=False,
    told_fault="",
)


def idle(days: int, **fields: object) -> SkillRow:
    """A skill that was not used for some days."""
    return replace(ROW, last_used_at=NOW - days * DAY, **fields)  # type: ignore[arg-type]


def look(
    row: SkillRow | None,
    own: Sequence[CatalogEntry] = (GOOD,),
    *,
    rules: CuratorRules = RULES,
    now: int = NOW,
    change: SkillDifference | None = None,
    **fields: Sequence[str],
) -> list[CurationStep]:
    known = {row.name: row} if row else {}
    changes = {"tidy": change} if change else {}
    others = {"others": (), "away": (), "wanted": (), "made": ("tidy",)} | fields
    return plan_steps(CuratorView(own=own, known=known, changes=changes, **others), rules, now)


@pytest.mark.parametrize(
    ("days", "state", "kinds"),
    [
        (0, "active", []),
        (29, "active", []),
        (30, "active", ["stale"]),
        (89, "stale", []),
        (29, "stale", ["fresh"]),
        (90, "stale", ["archive"]),
        (90, "active", ["archive"]),
    ],
)
def test_disuse_makes_stale_and_then_away(days: int, state: str, kinds: list[str]) -> None:
    assert [step.kind for step in look(idle(days, state=state))] == kinds


def test_as_it_is_set_up_disuse_makes_stale_after_30_days_and_archives_after_90() -> None:
    rules = CuratorRules()
    assert look(idle(89), rules=rules) == [CurationStep(kind="stale", name="tidy", days=89)]
    assert look(idle(90), rules=rules) == [CurationStep(kind="archive", name="tidy", days=90)]
    assert look(idle(900), rules=CuratorRules(stale_days=0, archive_days=0)) == []


def test_what_a_person_wrote_or_installed_never_ages() -> None:
    assert look(idle(900), made=()) == []
    assert look(idle(900, state="stale"), made=()) == [CurationStep(kind="fresh", name="tidy")]


def test_what_is_pinned_or_wanted_stays_though_it_is_stale() -> None:
    assert [step.kind for step in look(idle(100, is_pinned=True))] == ["stale"]
    assert [step.kind for step in look(idle(100), wanted=["tidy"])] == ["stale"]


def test_one_that_was_never_used_is_counted_from_when_it_came() -> None:
    row = replace(ROW, last_used_at=None, seen_at=NOW - 29 * DAY)
    assert look(row) == []
    assert [step.kind for step in look(replace(row, seen_at=NOW - 30 * DAY))] == ["stale"]


def test_a_new_one_is_noted_and_nothing_else_is_done_about_it() -> None:
    assert look(None) == [CurationStep(kind="see", name="tidy")]


def test_a_clock_that_was_put_back_makes_nothing_old() -> None:
    assert look(ROW, now=0) == []
    assert look(replace(ROW, last_used_at=None, seen_at=1 << 62), now=NOW) == []


def test_a_fault_is_told_once_and_again_when_it_is_another() -> None:
    assert look(None, [BROKEN]) == [
        CurationStep(kind="see", name="tidy"),
        CurationStep(kind="tell", name="tidy", fault=FAULT),
    ]
    reported = replace(ROW, told_fault=hash_fault(FAULT))
    assert look(reported, [BROKEN]) == []
    other = replace(BROKEN, fault="skill tidy says nothing")
    assert [step.kind for step in look(reported, [other])] == ["tell"]
    assert [step.kind for step in look(reported, [GOOD])] == ["repaired"]


def test_what_was_moved_by_hand_is_noted() -> None:
    assert look(ROW, [], away=["tidy"]) == [CurationStep(kind="archived", name="tidy")]
    archived = idle(1000, state="archived")
    assert look(archived, [], away=["tidy"]) == []
    assert look(archived) == [CurationStep(kind="returned", name="tidy")]


def test_a_text_that_was_changed_by_hand_is_noted() -> None:
    changed = SkillDifference(before="a", after="b")
    assert look(ROW, change=changed) == [CurationStep(kind="changed", name="tidy")]
    came = SkillDifference(before=None, after="b")
    assert look(ROW, change=came) == [CurationStep(kind="see", name="tidy")]
    archived = idle(0, state="archived")
    assert look(archived, change=came) == [CurationStep(kind="returned", name="tidy")]


def test_what_is_nowhere_any_more_is_forgotten_but_not_what_comes_along() -> None:
    assert look(ROW, []) == [CurationStep(kind="forget", name="tidy")]
    assert look(ROW, [], others=["tidy"]) == []
    gone = SkillDifference(before="a", after=None)
    assert look(ROW, [], change=gone, others=["tidy"]) == [CurationStep(kind="forget", name="tidy")]


@pytest.fixture
async def database(tmp_path: Path) -> Database:
    return await open_database(tmp_path / "state.db")


async def test_uses_are_counted_and_make_a_stale_one_active(database: Database) -> None:
    def work(connection: Connection) -> SkillRow | None:
        skills.note_seen(connection, name="tidy", now=1)
        skills.set_state(connection, name="tidy", state="stale")
        skills.note_use(connection, name="tidy", now=5)
        skills.note_use(connection, name="tidy", now=7)
        skills.note_seen(connection, name="tidy", now=9)
        return skills.find(connection, name="tidy")

    found = await database.write("test", work)
    assert found == replace(ROW, seen_at=1, uses=2, last_used_at=7)
    await database.close()


async def test_the_file_says_what_the_table_says_whatever_stood_in_it(
    database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "skills"
    database.project(USAGE_TABLES, partial(write_usage, folder=folder))
    await database.write("test", lambda c: skills.note_seen(c, name="tidy", now=86_400_000))
    assert not folder.exists()
    folder.mkdir()
    (folder / FILE).write_text("my own words")
    await database.write("test", lambda c: skills.note_use(c, name="tidy", now=86_400_000))
    assert json.loads((folder / FILE).read_text()) == {
        "tidy": {
            "uses": 1,
            "successes": 0,
            "failures": 0,
            "last_used": "1970-01-02T00:00:00+00:00",
            "since": "1970-01-02T00:00:00+00:00",
            "version": 0,
            "state": "active",
            "pinned": False,
        }
    }
    assert [path.name for path in folder.iterdir()] == [FILE]
    (folder / FILE).unlink()
    (folder / FILE).mkdir()  # a file that can't be written keeps no change from the database
    await database.write("test", lambda c: skills.pin(c, name="tidy", is_pinned=True))
    (folder / FILE).rmdir()
    await database.write("test", lambda c: skills.pin(c, name="tidy", is_pinned=True))
    assert json.loads((folder / FILE).read_text())["tidy"]["pinned"] is True
    await database.close()


def test_a_moment_that_no_calendar_has_is_no_moment() -> None:
    record = SkillRecord(row=replace(ROW, last_used_at=1 << 62))
    assert json.loads(dump([record]))["tidy"]["last_used"] is None
