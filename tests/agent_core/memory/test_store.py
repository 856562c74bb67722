"""The ledger is the truth; the files show it and are heard when a person edits them."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.errors import StoreDamaged
from agent_core.memory import files
from agent_core.memory.changes import Edit, Refusal
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.files import render
from agent_core.memory.store import MemoryLimits, MemoryStore, Write
from agent_core.memory.sync import Difference
from agent_core.memory.undo import UndoRefused
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import Origin, Target
from agent_core.state.people.people import Kind, Person
from tests.agent_core.memory.conftest import Desk, Notebook, add


class Crash(Exception):
    """The process is gone."""


def crash_before_write(path: Path, text: str, seen: str) -> bool:
    raise Crash


def crash_after_write(path: Path, text: str, seen: str) -> bool:
    files.write_file(path, text, seen)
    raise Crash


def fail_to_write(path: Path, text: str, seen: str) -> bool:
    raise OSError(28, "No space left on device", str(path))


class Gate:
    """Holds the write of one person's file until it is opened."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._is_reached, self._is_open = threading.Event(), threading.Event()

    def write(self, path: Path, text: str, seen: str) -> bool:
        if self._slug in path.parts:
            self._is_reached.set()
            assert self._is_open.wait(45)
        return files.write_file(path, text, seen)

    @asynccontextmanager
    async def held(self, notebook: Notebook) -> AsyncIterator[asyncio.Task[None]]:
        """Hold the write of a change while the block runs; gives the change."""
        change = asyncio.create_task(notebook.add("one"))
        assert await asyncio.to_thread(self._is_reached.wait, 45)
        try:
            yield change
            assert not change.done()
        finally:
            self._is_open.set()


async def test_nothing_is_remembered_at_first_and_nothing_is_written(
    store: MemoryStore, ann: Person, folder: Path
) -> None:
    snapshot = await store.snapshot(ann.id, ann.slug, 1)
    assert (snapshot.memory, snapshot.user, snapshot.memory_size) == ((), (), 0)
    assert snapshot.limits == snapshot.bounds == MemoryLimits(memory=2200, user=1375)
    assert not list(folder.parent.glob("memories*"))


async def test_a_change_is_in_ledger_file_and_snapshot(
    store: MemoryStore, notebook: Notebook, desk: Desk, ann: Person
) -> None:
    await notebook.add("one", "two\nlines")
    replace = Edit(action="replace", target="memory", old="one", text="1")
    await notebook.change(replace, add("name: Ann", "user"), call="1:call")
    assert desk.read(ann) == "- 1\n- two\n  lines\n"
    assert (desk.path(ann).parent / "USER.md").read_text() == "- name: Ann\n"
    snapshot = await store.snapshot(ann.id, ann.slug, 9)
    assert (snapshot.memory, snapshot.user) == (("1", "two\nlines"), ("name: Ann",))
    assert (snapshot.memory_size, snapshot.user_size) == (len(desk.read(ann)), len("- name: Ann\n"))
    last = (await notebook.rows())[-1]
    assert (last.change.before, last.change.after, last.change.position) == ("one", "1", 0)
    origin = Origin(actor="turn:1", now=5, evidence="remember this", call_key="1:call")
    assert last.origin == origin


async def test_one_edit_has_one_outcome(store: MemoryStore, ann: Person) -> None:
    origin = Origin(actor="turn:1", now=5)
    made = await store.change(ann.id, ann.slug, add("one"), origin)
    assert isinstance(made, AppliedEdit)
    assert made.entries == ("one",)
    again = await store.change(ann.id, ann.slug, add("one"), origin)
    assert isinstance(again, Refusal)


async def test_undo_and_restore_change_both_lists(
    store: MemoryStore, notebook: Notebook, ann: Person
) -> None:
    await notebook.change(add("one"), add("tea", "user"), call="1:call")
    undone = await store.undo(ann.id, ann.slug, None, Origin(actor="person", now=6))
    assert not isinstance(undone, UndoRefused)
    assert [change.row.change.before for change in undone] == ["tea", "one"]
    assert await notebook.lists() == ((), ())
    restored = await store.restore(ann.id, ann.slug, 5, Origin(actor="house", now=7))
    assert restored.keys() == {"memory", "user"}
    assert await notebook.lists() == (("one",), ("tea",))


async def test_people_have_memories_of_their_own(notebook: Notebook, bob: Person) -> None:
    other = Notebook(notebook.database, notebook.store, bob, notebook.desk)
    await notebook.add("of ann")
    await other.add("of bob")
    assert await notebook.agree() == ("of ann",)
    assert await other.agree() == ("of bob",)


@pytest.mark.parametrize(
    ("kind", "slug", "place"),
    [
        ("human", "ann", "people/ann/USER.md"),
        ("human", "ann", "people/ann/MEMORY.md"),
        ("room", "den", "rooms/den/MEMORY.md"),
        ("block", "list", "blocks/list/MEMORY.md"),
        ("team", "whatever", "team/MEMORY.md"),
    ],
)
def test_each_owner_has_a_folder(
    store: MemoryStore, folder: Path, kind: Kind, slug: str, place: str
) -> None:
    target: Target = "user" if place.endswith("USER.md") else "memory"
    assert store.locate(kind, slug, target) == folder / place


@pytest.mark.parametrize("kind", ["room", "block", "team"])
def test_only_a_person_has_a_list_about_them(store: MemoryStore, kind: Kind) -> None:
    with pytest.raises(ValueError, match=f"a {kind} has no `user` list"):
        store.locate(kind, "den", "user")


@pytest.mark.parametrize("slug", ["", "..", ".", "a/b", "/etc"])
async def test_a_slug_never_leads_out_of_the_folder(
    store: MemoryStore, ann: Person, slug: str
) -> None:
    with pytest.raises(ValueError, match="folder"):
        await store.snapshot(ann.id, slug, 1)


async def test_an_edit_by_hand_becomes_rows_and_stays_as_it_was_written(
    notebook: Notebook, ann: Person, desk: Desk
) -> None:
    await notebook.add("one", "two")
    by_hand = "# Notes\n\n* two, corrected\n* three\n"
    desk.save(ann, by_hand)
    assert await notebook.agree() == ("Notes", "two, corrected", "three")
    assert desk.read(ann) == by_hand
    added = [row for row in await notebook.rows() if row.origin.actor == "hand"]
    assert {row.origin.now for row in added} == {9}
    await notebook.add("four")
    assert desk.read(ann) == "- Notes\n- two, corrected\n- three\n- four\n"


async def test_taking_back_the_last_change_by_hand_is_heard(
    notebook: Notebook, ann: Person, desk: Desk
) -> None:
    """The file is then, byte for byte, the one from before the change."""
    await notebook.add("one")
    before = desk.read(ann)
    await notebook.add("two")
    desk.save(ann, before)
    assert await notebook.agree() == ("one",)
    desk.save(ann, "")
    assert await notebook.agree() == ()


async def test_a_change_of_form_alone_adds_no_row(
    notebook: Notebook, ann: Person, desk: Desk
) -> None:
    await notebook.add("one")
    desk.save(ann, "\n*   one\n\n")
    assert await notebook.agree() == ("one",)
    assert len(await notebook.rows()) == 1
    assert desk.read(ann) == "\n*   one\n\n"


async def test_a_file_made_before_the_first_change_is_taken_in(
    notebook: Notebook, ann: Person, desk: Desk
) -> None:
    desk.save(ann, "- by hand\n")
    await notebook.add("by tool")
    assert await notebook.agree() == ("by hand", "by tool")


async def test_a_lost_file_is_written_again(notebook: Notebook, ann: Person, desk: Desk) -> None:
    await notebook.add("one")
    desk.lose(ann)
    assert await notebook.agree() == ("one",)


@pytest.mark.parametrize("write", [crash_before_write, crash_after_write])
async def test_a_crash_around_the_write_loses_nothing(notebook: Notebook, write: Write) -> None:
    await notebook.add("one")
    with pytest.raises(Crash):
        await notebook.writing(write).add("two")
    assert await notebook.agree() == ("one", "two")
    assert [row.origin.actor for row in await notebook.rows()] == ["turn:1", "turn:1"]


@pytest.mark.parametrize(
    ("written", "unwritten", "by_hand", "expected"),
    [
        pytest.param((), ("one",), None, ("one",), id="first file"),
        pytest.param((), ("one",), "- by hand\n", ("by hand", "one"), id="hand, no file"),
        pytest.param(
            ("one",), ("two",), "- one\n- by hand\n", ("one", "by hand", "two"), id="hand, old file"
        ),
        pytest.param(("one",), ("two", "three"), None, ("one", "two", "three"), id="two"),
        pytest.param(
            ("one",),
            ("two", "three"),
            "- one\n- by hand\n",
            ("one", "by hand", "two", "three"),
            id="hand, two",
        ),
    ],
)
async def test_crashes_before_the_write_lose_neither_their_changes_nor_a_hand_edit(
    notebook: Notebook,
    written: tuple[str, ...],
    unwritten: tuple[str, ...],
    by_hand: str | None,
    expected: tuple[str, ...],
) -> None:
    await notebook.add(*written)
    for text in unwritten:
        with pytest.raises(Crash):
            await notebook.writing(crash_before_write).add(text)
    if by_hand is not None:
        notebook.desk.save(notebook.person, by_hand)
    assert await notebook.agree() == expected


async def test_a_file_made_by_hand_where_one_was_lost_and_not_yet_mended_keeps_both(
    notebook: Notebook, ann: Person, desk: Desk
) -> None:
    await notebook.add("one")
    desk.lose(ann)
    with pytest.raises(Crash):
        await notebook.writing(crash_before_write).look()
    desk.save(ann, "- by hand\n")
    assert await notebook.agree() == ("by hand", "one")


async def test_taking_back_a_change_after_a_crash_is_heard_once_the_file_was_seen(
    notebook: Notebook, ann: Person, desk: Desk
) -> None:
    await notebook.add("one")
    before = desk.read(ann)
    with pytest.raises(Crash):
        await notebook.writing(crash_after_write).add("two")
    assert await notebook.agree() == ("one", "two")
    desk.save(ann, before)
    assert await notebook.agree() == ("one",)


async def test_an_edit_by_hand_at_the_moment_of_writing_keeps_both(notebook: Notebook) -> None:
    """Someone saves the file after it was read and before it is replaced."""
    await notebook.add("one")
    texts: list[str] = []

    def interfere(path: Path, text: str, seen: str) -> bool:
        if not texts:
            path.write_text("- one\n- by hand\n")
        texts.append(text)
        return files.write_file(path, text, seen)

    await notebook.writing(interfere).add("two")
    assert await notebook.agree() == ("one", "by hand", "two")
    assert texts == ["- one\n- two\n", "- one\n- by hand\n- two\n"]


async def test_a_file_that_keeps_changing_is_left_after_five_rewrites(
    notebook: Notebook, caplog: pytest.LogCaptureFixture
) -> None:
    texts: list[str] = []

    def find_it_changed(path: Path, text: str, seen: str) -> bool:
        texts.append(text)
        return False

    await notebook.writing(find_it_changed).add("one")
    assert texts == ["- one\n"] * 5
    assert "keeps changing" in caplog.text
    assert len(await notebook.rows()) == 1
    assert await notebook.agree() == ("one",)


async def test_a_full_disk_keeps_the_change_and_mends_the_file_later(
    notebook: Notebook, ann: Person, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    await notebook.add("one")
    await notebook.writing(fail_to_write).add("two")
    assert "No space left" in caplog.text
    assert desk.read(ann) == "- one\n"
    assert await notebook.agree() == ("one", "two")


@pytest.mark.parametrize("looks", [1, 2])
async def test_hand_edits_on_a_full_disk_keep_what_the_file_never_showed(
    notebook: Notebook, ann: Person, desk: Desk, looks: int
) -> None:
    full = notebook.writing(fail_to_write)
    await notebook.add("one")
    await full.add("two")
    desk.save(ann, "- one\n- by hand\n")
    for _ in range(looks):
        await full.look()
    desk.save(ann, "- one\n- by hand\n- and again\n")
    await full.look()
    desk.save(ann, "- by hand\n- and again\n")
    assert await notebook.agree() == ("by hand", "and again", "two")


async def test_a_file_that_cannot_be_read_is_neither_served_nor_overwritten(
    notebook: Notebook, ann: Person, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    await notebook.add("one")
    huge = "x" * (files.MAX_BYTES + 1)
    desk.save(ann, huge)
    with caplog.at_level(logging.WARNING):
        assert await notebook.look() == ("one",)
    assert "larger than" in caplog.text
    with pytest.raises(OSError, match="larger than"):
        await notebook.add("two")
    assert desk.read(ann) == huge
    assert len(await notebook.rows()) == 1


async def test_a_repeated_call_changes_nothing_and_answers_the_same(
    notebook: Notebook, ann: Person, desk: Desk
) -> None:
    first = await notebook.change(add("one"), call="1:toolu_1")
    await notebook.add("two")
    desk.save(ann, "- one\n- two\n- by hand\n")
    assert await notebook.change(add("one"), call="1:toolu_1") == first
    assert await notebook.agree() == ("one", "two", "by hand")


async def test_many_changes_of_one_person_at_once_are_written_one_at_a_time(
    notebook: Notebook,
) -> None:
    in_use = threading.Lock()
    collisions = 0

    def write_alone(path: Path, text: str, seen: str) -> bool:
        nonlocal collisions
        collisions += in_use.locked()
        with in_use:
            return files.write_file(path, text, seen)

    alone = notebook.writing(write_alone)
    texts = tuple(f"entry {number}" for number in range(20))
    await asyncio.gather(*(alone.add(text) for text in texts), *(alone.look() for _ in range(5)))
    assert collisions == 0
    assert await notebook.agree() == texts


async def test_a_person_does_not_wait_for_another_one_s_file(
    notebook: Notebook, bob: Person
) -> None:
    gate = Gate("ann")
    slow = notebook.writing(gate.write)
    other = Notebook(slow.database, slow.store, bob, slow.desk)
    async with asyncio.timeout(45), gate.held(slow) as change:
        assert slow.store.is_at_work(slow.person.id)
        await other.add("two")
        assert not slow.store.is_at_work(bob.id)
    await change
    assert not slow.store.is_at_work(slow.person.id)
    assert await slow.agree() == ("one",)
    assert await other.agree() == ("two",)


async def test_a_cancelled_change_leaves_no_write_behind_it(notebook: Notebook) -> None:
    gate = Gate("ann")
    async with gate.held(notebook.writing(gate.write)) as change:
        change.cancel()
        await asyncio.wait([change], timeout=0.05)
    with pytest.raises(asyncio.CancelledError):
        await change
    assert await notebook.agree() == ("one",)


async def test_a_list_over_its_limit_by_hand_is_kept_and_counted(
    store: MemoryStore, notebook: Notebook, ann: Person, desk: Desk
) -> None:
    desk.save(ann, render(("x" * 3000, "short")))
    snapshot = await store.snapshot(ann.id, ann.slug, 1)
    assert snapshot.bounds == store.limits, "only a merge lets a list be longer"
    assert snapshot.memory == ("x" * 3000, "short")
    assert snapshot.memory_size == 3000 + 3 + 8
    refused = await notebook.change(add("more"))
    assert isinstance(refused, Refusal)
    assert refused.fault == "full"
    assert desk.read(ann) == render(("x" * 3000, "short"))


async def test_reading_in_agreement_writes_nothing(
    database: Database, notebook: Notebook, ann: Person, desk: Desk
) -> None:
    def version(connection: Connection) -> object:
        """Changes whenever another connection has written."""
        return connection.execute("PRAGMA data_version").fetchone()

    await notebook.add("one")
    before, then = desk.path(ann).stat().st_mtime_ns, await database.read(version)
    assert await notebook.look() == ("one",)
    assert await database.read(version) == then
    assert desk.path(ann).stat().st_mtime_ns == before
    desk.lose(ann)
    assert await notebook.look() == ("one",)
    assert await database.read(version) != then


async def test_a_comparison_names_the_files_that_differed(
    store: MemoryStore, notebook: Notebook, ann: Person, desk: Desk
) -> None:
    await notebook.add("one")
    assert await store.compare(ann.id, ann.slug, 9) == []
    desk.save(ann, "- one\n- by hand\n")
    (difference,) = await store.compare(ann.id, ann.slug, 9)
    assert difference == Difference(path=desk.path(ann), hand_edits=1, is_rewritten=False)
    desk.lose(ann)
    (difference,) = await store.compare(ann.id, ann.slug, 9)
    assert difference == Difference(path=desk.path(ann), hand_edits=0, is_rewritten=True)
    assert await store.compare(ann.id, ann.slug, 9) == []


async def test_a_view_with_other_limits_leaves_the_store_its_own(
    store: MemoryStore, notebook: Notebook
) -> None:
    small = MemoryLimits(memory=10, user=5)
    view = store.within(small)
    assert (view.limits, store.limits) == (small, MemoryLimits())
    refused = await Notebook(notebook.database, view, notebook.person, notebook.desk).change(
        add("more than ten")
    )
    assert isinstance(refused, Refusal)
    await notebook.add("more than ten")


async def test_a_stamp_changes_with_its_file(
    store: MemoryStore, notebook: Notebook, ann: Person, desk: Desk
) -> None:
    assert store.stamp("human", ann.slug) is None
    await notebook.add("one")
    stamp = store.stamp("human", ann.slug)
    assert stamp
    assert stamp[-1] == len("- one\n")
    assert store.stamp("human", ann.slug) == stamp
    desk.save(ann, "- two\n- one\n")
    assert store.stamp("human", ann.slug) != stamp


async def test_hand_edits_are_adopted_within_another_transaction(
    database: Database, store: MemoryStore, notebook: Notebook, ann: Person, desk: Desk
) -> None:
    desk.save(ann, "- by hand\n")
    desk.path(ann).with_name("USER.md").write_text("- tea\n")
    await database.write(
        "merge", lambda connection: store.adopt_hand_edits(connection, ann.id, ann.slug, 3)
    )
    rows = [*await notebook.rows(), *await notebook.rows("user")]
    assert [(row.change.after, row.origin.now) for row in rows] == [("by hand", 3), ("tea", 3)]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE ledger SET after = 'lies' WHERE after = 'two'",
        "UPDATE ledger SET person_id = person_id, position = 5 WHERE after = 'two'",
        "DELETE FROM ledger WHERE after = 'one'",
    ],
)
async def test_damage_of_the_ledger_is_found_and_never_served(
    database: Database, notebook: Notebook, damage: str
) -> None:
    await notebook.add("one", "two")

    def spoil(connection: Connection) -> None:
        connection.execute(damage)

    await database.write("damage", spoil)
    with pytest.raises(StoreDamaged, match="ledger"):
        await notebook.look()
