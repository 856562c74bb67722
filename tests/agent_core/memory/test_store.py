"""The ledger is the truth; the files show it and are heard when a person edits them."""

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from agent_core.errors import StoreDamaged
from agent_core.memory import files
from agent_core.memory.changes import Edit, Refusal, replay
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.files import parse, render
from agent_core.memory.store import MemoryLimits, MemoryStore, Write
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, Origin, Target
from agent_core.state.people.people import Person
from tests.agent_core.memory.conftest import Desk

TURN = Origin(actor="turn:1", now=5, evidence="remember this")


class Crash(Exception):
    """The process is gone."""


def crash_before_write(path: Path, text: str, seen: str) -> bool:
    raise Crash


def crash_after_write(path: Path, text: str, seen: str) -> bool:
    files.write_file(path, text, seen)
    raise Crash


def fail_to_write(path: Path, text: str, seen: str) -> bool:
    raise OSError(28, "No space left on device", str(path))


def add(text: str, target: Target = "memory") -> Edit:
    return Edit(action="add", target=target, text=text)


async def rows(database: Database, person: Person, target: Target = "memory") -> list[LedgerEntry]:
    return await database.read(
        lambda connection: ledger.find_entries(connection, person_id=person.id, target=target)
    )


async def look(store: MemoryStore, person: Person) -> tuple[str, ...]:
    return (await store.snapshot(person.id, person.slug, 9)).memory


async def agree(
    database: Database, store: MemoryStore, person: Person, desk: Desk
) -> tuple[str, ...]:
    """The list, once snapshot, ledger and file were seen to say the same."""
    entries = await look(store, person)
    replayed = replay(row.change for row in await rows(database, person))
    assert entries == replayed == parse(desk.read(person))
    return entries


@pytest.fixture
def store(database: Database, folder: Path) -> MemoryStore:
    return MemoryStore(database, folder)


async def test_nothing_is_remembered_at_first_and_nothing_is_written(
    store: MemoryStore, ann: Person, folder: Path
) -> None:
    snapshot = await store.snapshot(ann.id, ann.slug, 1)
    assert (snapshot.memory, snapshot.user, snapshot.memory_size) == ((), (), 0)
    assert snapshot.limits == MemoryLimits(memory=2200, user=1375)
    assert not list(folder.parent.glob("memories*"))


async def test_a_change_is_in_ledger_file_and_snapshot(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    await store.change(ann.id, ann.slug, add("two\nlines"), TURN)
    await store.change(
        ann.id, ann.slug, Edit(action="replace", target="memory", old="one", text="1"), TURN
    )
    await store.change(ann.id, ann.slug, add("name: Ann", "user"), TURN)
    assert desk.read(ann) == "- 1\n- two\n  lines\n"
    assert (desk.path(ann).parent / "USER.md").read_text() == "- name: Ann\n"
    snapshot = await store.snapshot(ann.id, ann.slug, 9)
    assert snapshot.memory == ("1", "two\nlines")
    assert snapshot.memory_size == len(desk.read(ann))
    assert (snapshot.user, snapshot.user_size) == (("name: Ann",), len("- name: Ann\n"))
    last = (await rows(database, ann))[-1]
    assert (last.change.before, last.change.after, last.change.position) == ("one", "1", 0)
    assert last.origin == TURN


async def test_people_have_memories_of_their_own(
    database: Database, store: MemoryStore, ann: Person, bob: Person, desk: Desk
) -> None:
    await store.change(ann.id, ann.slug, add("of ann"), TURN)
    await store.change(bob.id, bob.slug, add("of bob"), TURN)
    assert await agree(database, store, ann, desk) == ("of ann",)
    assert await agree(database, store, bob, desk) == ("of bob",)


@pytest.mark.parametrize("slug", ["", "..", ".", "a/b", "/etc"])
async def test_a_slug_never_leads_out_of_the_folder(
    store: MemoryStore, ann: Person, slug: str
) -> None:
    with pytest.raises(ValueError, match="folder"):
        await store.snapshot(ann.id, slug, 1)


async def test_an_edit_by_hand_becomes_rows_and_stays_as_it_was_written(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    await store.change(ann.id, ann.slug, add("two"), TURN)
    by_hand = "# Notes\n\n* two, corrected\n* three\n"
    desk.save(ann, by_hand)
    assert await agree(database, store, ann, desk) == ("Notes", "two, corrected", "three")
    assert desk.read(ann) == by_hand
    added = [row for row in await rows(database, ann) if row.origin.actor == "hand"]
    assert {row.origin.now for row in added} == {9}
    await store.change(ann.id, ann.slug, add("four"), TURN)
    assert desk.read(ann) == "- Notes\n- two, corrected\n- three\n- four\n"


async def test_taking_back_the_last_change_by_hand_is_heard(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    """The file is then, byte for byte, the one from before the change."""
    await store.change(ann.id, ann.slug, add("one"), TURN)
    before = desk.read(ann)
    await store.change(ann.id, ann.slug, add("two"), TURN)
    desk.save(ann, before)
    assert await agree(database, store, ann, desk) == ("one",)
    desk.save(ann, "")
    assert await agree(database, store, ann, desk) == ()


async def test_a_change_of_form_alone_adds_no_row(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    desk.save(ann, "\n*   one\n\n")
    assert await agree(database, store, ann, desk) == ("one",)
    assert len(await rows(database, ann)) == 1
    assert desk.read(ann) == "\n*   one\n\n"


async def test_a_file_made_before_the_first_change_is_taken_in(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    desk.save(ann, "- by hand\n")
    await store.change(ann.id, ann.slug, add("by tool"), TURN)
    assert await agree(database, store, ann, desk) == ("by hand", "by tool")
    assert desk.read(ann) == "- by hand\n- by tool\n"


async def test_a_lost_file_is_written_again(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    desk.lose(ann)
    assert await look(store, ann) == ("one",)
    assert desk.read(ann) == "- one\n"


@pytest.mark.parametrize("write", [crash_before_write, crash_after_write])
async def test_a_crash_around_the_write_loses_nothing(
    database: Database, folder: Path, ann: Person, desk: Desk, write: Write
) -> None:
    store = MemoryStore(database, folder)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    with pytest.raises(Crash):
        await MemoryStore(database, folder, write=write).change(ann.id, ann.slug, add("two"), TURN)
    assert await agree(database, MemoryStore(database, folder), ann, desk) == ("one", "two")
    assert len(await rows(database, ann)) == 2


async def test_a_crash_before_the_first_file_loses_nothing(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    with pytest.raises(Crash):
        await MemoryStore(database, folder, write=crash_before_write).change(
            ann.id, ann.slug, add("one"), TURN
        )
    assert await agree(database, MemoryStore(database, folder), ann, desk) == ("one",)


async def test_an_edit_of_the_file_that_a_crash_left_behind_keeps_both(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    store = MemoryStore(database, folder)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    with pytest.raises(Crash):
        await MemoryStore(database, folder, write=crash_before_write).change(
            ann.id, ann.slug, add("two"), TURN
        )
    desk.save(ann, "- one\n- by hand\n")
    assert await agree(database, store, ann, desk) == ("one", "by hand", "two")


async def test_a_file_made_by_hand_where_a_crash_left_none_keeps_both(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    with pytest.raises(Crash):
        await MemoryStore(database, folder, write=crash_before_write).change(
            ann.id, ann.slug, add("one"), TURN
        )
    desk.save(ann, "- by hand\n")
    store = MemoryStore(database, folder)
    assert await agree(database, store, ann, desk) == ("by hand", "one")


async def test_a_file_made_by_hand_where_one_was_lost_and_not_yet_mended_keeps_both(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    store = MemoryStore(database, folder)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    desk.lose(ann)
    with pytest.raises(Crash):
        await look(MemoryStore(database, folder, write=crash_before_write), ann)
    desk.save(ann, "- by hand\n")
    assert await agree(database, store, ann, desk) == ("by hand", "one")


async def test_an_edit_of_a_file_that_two_crashes_left_behind_keeps_all(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    store = MemoryStore(database, folder)
    crashing = MemoryStore(database, folder, write=crash_before_write)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    for text in ("two", "three"):
        with pytest.raises(Crash):
            await crashing.change(ann.id, ann.slug, add(text), TURN)
    desk.save(ann, "- one\n- by hand\n")
    assert await agree(database, store, ann, desk) == ("one", "by hand", "two", "three")


async def test_taking_back_a_change_after_a_crash_is_heard_once_the_file_was_seen(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    store = MemoryStore(database, folder)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    before = desk.read(ann)
    with pytest.raises(Crash):
        await MemoryStore(database, folder, write=crash_after_write).change(
            ann.id, ann.slug, add("two"), TURN
        )
    assert await agree(database, store, ann, desk) == ("one", "two")
    desk.save(ann, before)
    assert await agree(database, store, ann, desk) == ("one",)


async def test_two_crashes_in_a_row_lose_nothing(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    store = MemoryStore(database, folder)
    crashing = MemoryStore(database, folder, write=crash_before_write)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    for text in ("two", "three"):
        with pytest.raises(Crash):
            await crashing.change(ann.id, ann.slug, add(text), TURN)
    assert await agree(database, store, ann, desk) == ("one", "two", "three")
    assert {row.origin.actor for row in await rows(database, ann)} == {"turn:1"}


async def test_an_edit_by_hand_at_the_moment_of_writing_keeps_both(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    """Someone saves the file after it was read and before it is replaced."""
    await MemoryStore(database, folder).change(ann.id, ann.slug, add("one"), TURN)
    times = 0

    def interfere(path: Path, text: str, seen: str) -> bool:
        nonlocal times
        times += 1
        if times == 1:
            path.write_text("- one\n- by hand\n")
        return files.write_file(path, text, seen)

    store = MemoryStore(database, folder, write=interfere)
    outcome = await store.change(ann.id, ann.slug, add("two"), TURN)
    assert isinstance(outcome, AppliedEdit)
    assert await agree(database, store, ann, desk) == ("one", "by hand", "two")
    assert times == 2


async def test_an_edit_without_a_call_is_made_once_even_if_the_file_moves(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    numbers = iter(range(100))

    def keep_interfering(path: Path, text: str, seen: str) -> bool:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"- by hand {next(numbers)}\n")
        return files.write_file(path, text, seen)

    store = MemoryStore(database, folder, write=keep_interfering)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    by_tool = [row for row in await rows(database, ann) if row.origin.actor == "turn:1"]
    assert len(by_tool) == 1
    await agree(database, MemoryStore(database, folder), ann, desk)


async def test_a_full_disk_keeps_the_change_and_mends_the_file_later(
    database: Database, folder: Path, ann: Person, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryStore(database, folder)
    await store.change(ann.id, ann.slug, add("one"), TURN)
    full = MemoryStore(database, folder, write=fail_to_write)
    assert isinstance(await full.change(ann.id, ann.slug, add("two"), TURN), AppliedEdit)
    assert "No space left" in caplog.text
    assert desk.read(ann) == "- one\n"
    assert await agree(database, store, ann, desk) == ("one", "two")


async def test_a_file_that_cannot_be_read_is_neither_served_nor_overwritten(
    database: Database,
    store: MemoryStore,
    ann: Person,
    desk: Desk,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    huge = "x" * (files.MAX_BYTES + 1)
    desk.save(ann, huge)
    with caplog.at_level(logging.WARNING):
        assert await look(store, ann) == ("one",)
    assert "larger than" in caplog.text
    with pytest.raises(OSError, match="larger than"):
        await store.change(ann.id, ann.slug, add("two"), TURN)
    assert desk.read(ann) == huge
    assert len(await rows(database, ann)) == 1


async def test_a_repeated_call_changes_nothing_and_answers_the_same(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    call = Origin(actor="turn:1", now=5, call_key="1:toolu_1")
    first = await store.change(ann.id, ann.slug, add("one"), call)
    await store.change(ann.id, ann.slug, add("two"), TURN)
    desk.save(ann, "- one\n- two\n- by hand\n")
    assert await store.change(ann.id, ann.slug, add("one"), call) == first
    assert await agree(database, store, ann, desk) == ("one", "two", "by hand")


async def test_many_changes_of_one_person_at_once_are_all_made(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    texts = [f"entry {number}" for number in range(20)]
    await asyncio.gather(
        *(store.change(ann.id, ann.slug, add(text), TURN) for text in texts),
        *(store.snapshot(ann.id, ann.slug, 3) for _ in range(5)),
    )
    assert sorted(await agree(database, store, ann, desk)) == sorted(texts)


async def test_the_file_of_one_list_is_written_by_one_change_at_a_time(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    in_use = threading.Lock()
    collisions = 0

    def write_alone(path: Path, text: str, seen: str) -> bool:
        nonlocal collisions
        if not in_use.acquire(blocking=False):
            collisions += 1
            return files.write_file(path, text, seen)
        try:
            return files.write_file(path, text, seen)
        finally:
            in_use.release()

    store = MemoryStore(database, folder, write=write_alone)
    await asyncio.gather(
        *(store.change(ann.id, ann.slug, add(f"entry {number}"), TURN) for number in range(20))
    )
    assert collisions == 0
    assert desk.read(ann) == "".join(f"- entry {number}\n" for number in range(20))


async def test_a_person_does_not_wait_for_another_one_s_file(
    database: Database, folder: Path, ann: Person, bob: Person, desk: Desk
) -> None:
    is_reached, may_go_on = threading.Event(), threading.Event()

    def wait_for_ann(path: Path, text: str, seen: str) -> bool:
        if "ann" in path.parts:
            is_reached.set()
            assert may_go_on.wait(10)
        return files.write_file(path, text, seen)

    store = MemoryStore(database, folder, write=wait_for_ann)
    slow = asyncio.create_task(store.change(ann.id, ann.slug, add("one"), TURN))
    assert await asyncio.to_thread(is_reached.wait, 10)
    async with asyncio.timeout(45):
        await store.change(bob.id, bob.slug, add("two"), TURN)
    assert not slow.done()
    may_go_on.set()
    await slow
    assert await agree(database, store, ann, desk) == ("one",)
    assert await agree(database, store, bob, desk) == ("two",)


async def test_a_cancelled_change_leaves_no_write_behind_it(
    database: Database, folder: Path, ann: Person, desk: Desk
) -> None:
    is_reached, may_go_on = threading.Event(), threading.Event()

    def write_slowly(path: Path, text: str, seen: str) -> bool:
        is_reached.set()
        assert may_go_on.wait(10)
        return files.write_file(path, text, seen)

    change = asyncio.create_task(
        MemoryStore(database, folder, write=write_slowly).change(ann.id, ann.slug, add("one"), TURN)
    )
    assert await asyncio.to_thread(is_reached.wait, 10)
    change.cancel()
    done, _ = await asyncio.wait([change], timeout=0.05)
    assert not done
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await change
    assert await agree(database, MemoryStore(database, folder), ann, desk) == ("one",)


async def test_a_list_over_its_limit_by_hand_is_kept_and_counted(
    store: MemoryStore, ann: Person, desk: Desk
) -> None:
    desk.save(ann, render(("x" * 3000, "short")))
    snapshot = await store.snapshot(ann.id, ann.slug, 1)
    assert snapshot.memory == ("x" * 3000, "short")
    assert snapshot.memory_size == 3000 + 3 + 8
    refused = await store.change(ann.id, ann.slug, add("more"), TURN)
    assert isinstance(refused, Refusal)
    assert refused.fault == "full"
    assert desk.read(ann) == render(("x" * 3000, "short"))


async def test_reading_in_agreement_writes_nothing(
    database: Database, store: MemoryStore, ann: Person, desk: Desk
) -> None:
    def version(connection: Connection) -> object:
        """Changes whenever another connection has written."""
        return connection.execute("PRAGMA data_version").fetchone()

    await store.change(ann.id, ann.slug, add("one"), TURN)
    before, then = desk.path(ann).stat().st_mtime_ns, await database.read(version)
    assert await look(store, ann) == ("one",)
    assert await database.read(version) == then
    assert desk.path(ann).stat().st_mtime_ns == before
    desk.lose(ann)
    assert await look(store, ann) == ("one",)
    assert await database.read(version) != then


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE ledger SET after = 'lies' WHERE after = 'two'",
        "UPDATE ledger SET person_id = person_id, position = 5 WHERE after = 'two'",
        "DELETE FROM ledger WHERE after = 'one'",
    ],
)
async def test_damage_of_the_ledger_is_found_and_never_served(
    database: Database, store: MemoryStore, ann: Person, damage: str
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    await store.change(ann.id, ann.slug, add("two"), TURN)

    def spoil(connection: Connection) -> None:
        connection.execute(damage)

    await database.write("damage", spoil)
    with pytest.raises(StoreDamaged, match="ledger"):
        await store.snapshot(ann.id, ann.slug, 1)
