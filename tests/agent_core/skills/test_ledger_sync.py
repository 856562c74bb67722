"""What became of skills is in the ledger, whoever did it, and the files are always the truth."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import SkillConflict, SkillMissing
from agent_core.skills import ledger_sync
from agent_core.skills.catalog import (
    ARCHIVE,
    MOST_BYTES,
    SKILL_FILE,
    SkillCatalog,
    list_skill_folders,
)
from agent_core.skills.curator import CuratorRules, plan_steps
from agent_core.skills.intents import write_planned
from agent_core.skills.snapshots import is_whole, read_snapshot
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger, skill_changes, skills
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin
from tests.agent_core.skills.ledger_home import (
    archive_skill,
    put_away,
    put_back,
    restore_skill,
    undo,
)
from tests.agent_core.skills.skill_folders import write_skill, write_text
from tests.agent_core.state.schema import MIGRATIONS, create_schema, migrate

NOW = 1_000
HAND = Origin(actor="hand", now=NOW, evidence="found at the start")
CURATOR = Origin(actor="curator", now=NOW, evidence="not used for 90 days")


def make_store(home: Path) -> Connection:
    connection = sqlite3.connect(home / "state.db", isolation_level=None)
    create_schema(connection)
    return connection


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Connection]:
    with closing(make_store(tmp_path)) as connection:
        yield connection


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "skills"


def compare(connection: Connection, folder: Path) -> None:
    """Do what is done at every start."""
    view = ledger_sync.inspect_skills(connection, SkillCatalog(folder))
    ledger_sync.note_found(connection, view, plan_steps(view, CuratorRules(), NOW), HAND)


def rows_of(connection: Connection, name: str) -> list[LedgerEntry]:
    """All rows about a skill, oldest first."""
    row, team = skills.find(connection, name=name), blocks.find_team(connection)
    if row is None or team is None:
        return []
    return skill_changes.list_later(connection, person_id=team, skill_id=row.id, after=0)


def reported(connection: Connection, name: str) -> list[tuple[str, str]]:
    return [(row.change.operation, row.origin.actor) for row in rows_of(connection, name)]


def newest(connection: Connection, name: str) -> str | None:
    rows = rows_of(connection, name)
    return rows[-1].change.after if rows else None


def state_of(connection: Connection, name: str) -> str:
    row = skills.find(connection, name=name)
    assert row
    return row.state


def test_rows_from_before_skills_had_numbers_stay_as_they_were(
    store: Connection, tmp_path: Path
) -> None:
    """The rows are written today and copied into a database of that time."""
    team = blocks.make_team(store, now=NOW)
    change = Change(operation="add", position=0, before=None, after="tea")
    first = ledger.record(store, person_id=team, target="memory", change=change, origin=HAND)
    undone = replace(HAND, undoes=first.id)
    change = replace(change, operation="remove", before="tea", after=None)
    second = ledger.record(store, person_id=team, target="memory", change=change, origin=undone)
    with closing(sqlite3.connect(tmp_path / "old.db", isolation_level=None)) as old:
        migrate(old, MIGRATIONS[:9])
        old.execute("INSERT INTO skills (name, seen_at, uses) VALUES ('tidy', 5, 3)")
        for table in ("people", "ledger"):
            names = [row[1] for row in old.execute(f"PRAGMA table_info({table})")]
            values = store.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
            marks = ", ".join("?" * len(names))
            old.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", values)
        migrate(old)
        kept = ledger.find_entries(old, person_id=team, target="memory")
        assert kept == [first, second]
        row = skills.find(old, name="tidy")
        assert row
        assert (row.id, row.seen_at, row.uses) == (1, 5, 3)


def test_what_stays_as_it_was_is_no_row(store: Connection, folder: Path) -> None:
    compare(store, folder)
    write_skill(folder, "tidy")
    for _ in range(3):
        compare(store, folder)
    assert reported(store, "tidy") == [("add", "hand")]
    assert rows_of(store, "tidy")[0].origin.evidence == "found at the start"


def test_a_move_that_a_crash_cut_off_is_healed_at_the_next_look(
    store: Connection, folder: Path
) -> None:
    write_skill(folder, "tidy")
    compare(store, folder)
    put_away(folder, "tidy")
    compare(store, folder)
    assert reported(store, "tidy") == [("add", "hand"), ("remove", "hand")]
    assert state_of(store, "tidy") == "archived"
    put_back(folder, "tidy")
    compare(store, folder)
    assert reported(store, "tidy")[2:] == [("add", "hand")]
    assert state_of(store, "tidy") == "active"


def test_one_that_came_again_and_was_put_away_between_two_looks_is_archived(
    store: Connection, folder: Path
) -> None:
    write_skill(folder, "tidy")
    compare(store, folder)
    shutil.rmtree(folder / "tidy")
    compare(store, folder)
    write_skill(folder, "tidy")
    put_away(folder, "tidy")
    compare(store, folder)
    assert state_of(store, "tidy") == "archived"


def test_one_is_archived_while_any_of_its_folders_lies_in_the_archive(
    store: Connection, folder: Path
) -> None:
    for _ in range(2):
        write_skill(folder, "tidy")
        compare(store, folder)
        kept = put_away(folder, "tidy")
        compare(store, folder)
    shutil.rmtree(folder / ARCHIVE / "tidy")
    compare(store, folder)
    assert (kept, state_of(store, "tidy")) == ("tidy~2", "archived")
    shutil.rmtree(folder / ARCHIVE / kept)
    compare(store, folder)
    assert state_of(store, "tidy") == "gone"


def test_a_text_that_was_written_back_before_a_crash_is_healed_too(
    store: Connection, folder: Path
) -> None:
    place = write_skill(folder, "tidy", "First.")
    compare(store, folder)
    before = read_snapshot(place)
    after = write_text(place, "tidy", "Second.")
    compare(store, folder)
    assert after != before
    (place / SKILL_FILE).write_text(before)
    compare(store, folder)
    assert newest(store, "tidy") == before


def test_a_skill_that_came_again_after_it_was_gone_has_the_same_rows(
    store: Connection, folder: Path
) -> None:
    write_skill(folder, "tidy", "First.")
    compare(store, folder)
    shutil.rmtree(folder / "tidy")
    compare(store, folder)
    assert state_of(store, "tidy") == "gone"
    assert [row.name for row in skills.list_present(store)] == []
    write_skill(folder, "tidy", "Second.")
    compare(store, folder)
    assert reported(store, "tidy") == [("add", "hand"), ("remove", "hand"), ("add", "hand")]
    assert state_of(store, "tidy") == "active"


def test_what_the_curator_puts_away_says_who_and_why_and_keeps_the_last_text(
    store: Connection, folder: Path
) -> None:
    place = write_skill(folder, "tidy", "First.")
    compare(store, folder)
    text = write_text(place, "tidy", "Second.")
    assert archive_skill(store, folder, "tidy", CURATOR) == "tidy"
    assert reported(store, "tidy") == [("add", "hand"), ("replace", "hand"), ("remove", "curator")]
    last = rows_of(store, "tidy")[-1]
    assert last.origin.evidence == "not used for 90 days; archived as tidy"
    assert (last.change.before, last.change.after) == (text, None)


def odd_texts(place: Path) -> dict[str, str]:
    """What the ledger keeps of files that are no text of a skill's."""
    file, kept = place / SKILL_FILE, {}
    kept["none"] = read_snapshot(place)
    file.write_bytes(b"\xff\xfe\xfd")
    kept["bytes"] = read_snapshot(place)
    file.write_bytes(b"a" * (MOST_BYTES + 1))
    kept["large"] = read_snapshot(place)
    file.write_bytes(b"a" * (MOST_BYTES + 2))
    kept["larger"] = read_snapshot(place)
    file.write_text(kept["bytes"])
    kept["note"] = read_snapshot(place)
    file.unlink()
    file.symlink_to("../../secret")
    kept["link"] = read_snapshot(place)
    file.unlink()
    file.mkdir()
    kept["folder"] = read_snapshot(place)
    file.rmdir()
    return kept


def test_what_can_not_be_kept_is_noted_in_words_and_nothing_outside_is_read(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("the secret")
    place = folder / "tidy"
    place.mkdir(parents=True)
    kept = odd_texts(place)
    assert kept.pop("none") == ""
    assert len(set(kept.values())) == len(kept)
    assert not any(is_whole(text) or "the secret" in text for text in kept.values())
    assert "not in UTF-8, SHA-256 " in kept["bytes"]
    assert f"{MOST_BYTES + 1} bytes" in kept["large"]
    assert "leads out of its folder" in kept["link"]
    (folder / "linked").symlink_to(place)
    assert read_snapshot(folder / "linked") == "[not kept: the folder is a link]"


def test_what_was_not_kept_is_not_taken_back_and_what_was_is(
    store: Connection, folder: Path
) -> None:
    place = write_skill(folder, "tidy", "First.")
    text = read_snapshot(place)
    compare(store, folder)
    (place / SKILL_FILE).write_bytes(b"\xff\xff")
    compare(store, folder)
    broken = rows_of(store, "tidy")[-1]
    done = undo(store, folder, broken.id, Origin(actor="house", now=NOW))
    assert read_snapshot(place) == text
    with pytest.raises(SkillConflict, match="was not kept: not in UTF-8"):
        undo(store, folder, done.row.id, Origin(actor="house", now=NOW))
    assert read_snapshot(place) == text


def test_a_text_is_not_written_through_a_link(store: Connection, folder: Path) -> None:
    place = write_skill(folder, "tidy", "First.")
    compare(store, folder)
    second = write_text(place, "tidy", "Second.")
    compare(store, folder)
    outside = folder.parent / "outside"
    outside.write_text("mine")
    (place / f".{SKILL_FILE}.new").symlink_to(outside)
    row = rows_of(store, "tidy")[-1]
    undo(store, folder, row.id, Origin(actor="house", now=NOW))
    assert outside.read_text() == "mine"
    assert read_snapshot(place) == second
    compare(store, folder)  # what could not be written yet is not taken for a change by hand
    assert newest(store, "tidy") == row.change.before
    (place / f".{SKILL_FILE}.new").unlink()
    write_planned(store, folder)
    assert read_snapshot(place) == row.change.before


def test_one_that_was_reworded_since_is_named_with_what_came_of_it(
    store: Connection, folder: Path
) -> None:
    place = write_skill(folder, "tidy", "First.")
    compare(store, folder)
    for body in ("Second.", "Third.", "Second."):
        write_text(place, "tidy", body)
        compare(store, folder)
    _, reworded, third, again = rows_of(store, "tidy")
    with pytest.raises(SkillConflict, match=f"undo row {again.id} first"):
        undo(store, folder, third.id, Origin(actor="house", now=NOW))
    done = undo(store, folder, reworded.id, Origin(actor="house", now=NOW))
    assert [row.id for row in done.derived] == [third.id, again.id]
    assert newest(store, "tidy") == read_snapshot(place) == reworded.change.before


NAMES = st.sampled_from(["tidy", "neat"])
ACTS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.sampled_from(["One.", "Two.", "Three."])),
    st.tuples(st.sampled_from(["break", "delete", "hide", "away", "back"]), NAMES, st.just("")),
    st.tuples(st.just("undo"), st.just(""), st.integers(1, 12).map(str)),
)
"""Each is looked at afterwards, or only with those that follow."""


def act(store: Connection, folder: Path, kind: str, name: str, word: str) -> None:
    """One thing that people, the curator or the command line do."""
    place = folder / name
    match kind:
        case "write":
            place.mkdir(exist_ok=True)
            write_text(place, name, word)
        case "break" if place.is_dir():
            (place / SKILL_FILE).write_bytes(b"\xff")
        case "delete":
            shutil.rmtree(place, ignore_errors=True)
        case "hide" if place.is_dir():
            put_away(folder, name)
        case "away":
            archive_skill(store, folder, name, CURATOR)
        case "back":
            restore_skill(store, folder, name, replace(CURATOR, actor="house"))
        case "undo":
            compare(store, folder)
            undo(store, folder, int(word), Origin(actor="house", now=NOW))


def agree(store: Connection, folder: Path) -> None:
    """The newest row of each skill says what its file says, and each row goes on from the last."""
    texts = {place.name: read_snapshot(place) for place in list_skill_folders(folder)}
    for name in ("tidy", "neat"):
        rows = rows_of(store, name)
        assert (rows[-1].change.after if rows else None) == texts.get(name)
        befores = [row.change.before for row in rows]
        assert befores == [None, *(row.change.after for row in rows)][: len(rows)]
        known = skills.find(store, name=name)
        if known:
            is_away = name in map(ledger_sync.original_name, list_skill_folders(folder / ARCHIVE))
            others = "archived" if is_away else "gone"
            assert known.state == ("active" if name in texts else others)


@pytest.mark.slow
@given(acts=st.lists(st.tuples(ACTS, st.booleans()), min_size=3, max_size=14))
def test_after_anything_that_is_done_the_newest_row_is_what_the_file_says(
    acts: list[tuple[tuple[str, str, str], bool]],
) -> None:
    with TemporaryDirectory() as home, closing(make_store(Path(home))) as store:
        folder = Path(home) / "skills"
        folder.mkdir()
        for (kind, name, word), is_looked_at in [*acts, (("delete", "neat", ""), True)]:
            with suppress(SkillConflict, SkillMissing, FileExistsError):
                act(store, folder, kind, name, word)
            if is_looked_at:
                compare(store, folder)
                agree(store, folder)
