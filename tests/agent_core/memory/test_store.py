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
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.files import render
from agent_core.memory.store import MemoryLimits, MemoryStore, Write
from agent_core.memory.sync import Difference
from agent_core.memory.undo import UndoRefused
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import MemoryTarget, Origin
from agent_core.state.people.people import Person, PersonKind
from tests.agent_core.memory.conftest import Notebook, add
from tests.patience import PATIENCE


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


async def test_a_change_is_in_ledger_file_and_snapshot(notebook: Notebook) -> None:
    await notebook.add("one", "two\nlines")
    replace = Edit(action="replace", target="memory", old="one", text="1")
    await notebook.change(replace, add("name: Ann", "user"), call="1:call")
    assert notebook.read() == "- 1\n- two\n  lines\n"
    assert (notebook.path.parent / "USER.md").read_text() == "- name: Ann\n"
    snapshot = await notebook.snapshot(9)
    assert (snapshot.memory, snapshot.user) == (("1", "two\nlines"), ("name: Ann",))
    assert (snapshot.memory_size, snapshot.user_size) == (
        len(notebook.read()),
        len("- name: Ann\n"),
    )
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


async def test_undo_and_restore_change_both_lists(notebook: Notebook) -> None:
    await notebook.change(add("one"), add("tea", "user"), call="1:call")
    undone = await notebook.store.undo(
        notebook.person.id, notebook.person.slug, None, Origin(actor="person", now=6)
    )
    assert not isinstance(undone, UndoRefused)
    assert [change.row.change.before for change in undone] == ["tea", "one"]
    assert await notebook.lists() == ((), ())
    restored = await notebook.store.restore(
        notebook.person.id, notebook.person.slug, 5, Origin(actor="house", now=7)
    )
    assert restored.keys() == {"memory", "user"}
    assert await notebook.lists() == (("one",), ("tea",))


async def test_people_have_memories_of_their_own(notebook: Notebook, other: Notebook) -> None:
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
    store: MemoryStore, folder: Path, kind: PersonKind, slug: str, place: str
) -> None:
    target: MemoryTarget = "user" if place.endswith("USER.md") else "memory"
    assert store.locate(kind, slug, target) == folder / place


@pytest.mark.parametrize("kind", ["room", "block", "team"])
def test_only_a_person_has_a_list_about_them(store: MemoryStore, kind: PersonKind) -> None:
    with pytest.raises(ValueError, match=f"a {kind} has no `user` list"):
        store.locate(kind, "den", "user")


@pytest.mark.parametrize("slug", ["", "..", ".", "a/b", "/etc"])
async def test_a_slug_never_leads_out_of_the_folder(
    store: MemoryStore, ann: Person, slug: str
) -> None:
    with pytest.raises(ValueError, match="folder"):
        await store.snapshot(ann.id, slug, 1)


async def test_an_edit_by_hand_becomes_rows_and_stays_as_it_was_written(notebook: Notebook) -> None:
    await notebook.add("one", "two")
    by_hand = "# Notes\n\n* two, corrected\n* three\n"
    notebook.save(by_hand)
    assert await notebook.agree() == ("Notes", "two, corrected", "three")
    assert notebook.read() == by_hand
    added = [row for row in await notebook.rows() if row.origin.actor == "hand"]
    assert {row.origin.now for row in added} == {9}
    await notebook.add("four")
    assert notebook.read() == "- Notes\n- two, corrected\n- three\n- four\n"


async def test_taking_back_the_last_change_by_hand_is_heard(notebook: Notebook) -> None:
    """The file is then, byte for byte, the one from before the change."""
    await notebook.add("one")
    before = notebook.read()
    await notebook.add("two")
    notebook.save(before)
    assert await notebook.agree() == ("one",)
    notebook.save("")
    assert await notebook.agree() == ()


async def test_a_change_of_form_alone_adds_no_row(notebook: Notebook) -> None:
    await notebook.add("one")
    notebook.save("\n*   one\n\n")
    assert await notebook.agree() == ("one",)
    assert len(await notebook.rows()) == 1
    assert notebook.read() == "\n*   one\n\n"


async def test_a_file_made_before_the_first_change_is_taken_in(notebook: Notebook) -> None:
    notebook.save("- by hand\n")
    await notebook.add("by tool")
    assert await notebook.agree() == ("by hand", "by tool")


async def test_a_lost_file_is_written_again(notebook: Notebook) -> None:
    await notebook.add("one")
    notebook.lose()
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
        notebook.save(by_hand)
    assert await notebook.agree() == expected


async def test_a_file_made_by_hand_where_one_was_lost_and_not_yet_mended_keeps_both(
    notebook: Notebook,
) -> None:
    await notebook.add("one")
    notebook.lose()
    with pytest.raises(Crash):
        await notebook.writing(crash_before_write).look()
    notebook.save("- by hand\n")
    assert await notebook.agree() == ("by hand", "one")


async def test_taking_back_a_change_after_a_crash_is_heard_once_the_file_was_seen(
    notebook: Notebook,
) -> None:
    await notebook.add("one")
    before = notebook.read()
    with pytest.raises(Crash):
        await notebook.writing(crash_after_write).add("two")
    assert await notebook.agree() == ("one", "two")
    notebook.save(before)
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
    notebook: Notebook, caplog: pytest.LogCaptureFixture
) -> None:
    await notebook.add("one")
    await notebook.writing(fail_to_write).add("two")
    assert "No space left" in caplog.text
    assert notebook.read() == "- one\n"
    assert await notebook.agree() == ("one", "two")


@pytest.mark.parametrize("looks", [1, 2])
async def test_hand_edits_on_a_full_disk_keep_what_the_file_never_showed(
    notebook: Notebook, looks: int
) -> None:
    full = notebook.writing(fail_to_write)
    await notebook.add("one")
    await full.add("two")
    notebook.save("- one\n- by hand\n")
    for _ in range(looks):
        await full.look()
    notebook.save("- one\n- by hand\n- and again\n")
    await full.look()
    notebook.save("- by hand\n- and again\n")
    assert await notebook.agree() == ("by hand", "and again", "two")


async def test_a_file_that_cannot_be_read_is_neither_served_nor_overwritten(
    notebook: Notebook, caplog: pytest.LogCaptureFixture
) -> None:
    await notebook.add("one")
    huge = "x" * (files.MAX_BYTES + 1)
    notebook.save(huge)
    with caplog.at_level(logging.WARNING):
        assert await notebook.look() == ("one",)
    assert "larger than" in caplog.text
    with pytest.raises(OSError, match="larger than"):
        await notebook.add("two")
    assert notebook.read() == huge
    assert len(await notebook.rows()) == 1


async def test_a_repeated_call_changes_nothing_and_answers_the_same(notebook: Notebook) -> None:
    first = await notebook.change(add("one"), call="1:toolu_1")
    await notebook.add("two")
    notebook.save("- one\n- two\n- by hand\n")
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
    notebook: Notebook, other: Notebook
) -> None:
    gate = Gate("ann")
    slow = notebook.writing(gate.write)
    async with asyncio.timeout(PATIENCE), gate.held(slow) as change:
        assert slow.store.is_at_work(slow.person.id)
        await other.add("two")
        assert not slow.store.is_at_work(other.person.id)
    await change
    assert not slow.store.is_at_work(slow.person.id)
    assert await slow.agree() == ("one",)
    assert await other.agree() == ("two",)


@pytest.mark.parametrize("times", [1, 2])
async def test_a_cancelled_change_leaves_no_write_behind_it(notebook: Notebook, times: int) -> None:
    gate = Gate("ann")
    async with gate.held(notebook.writing(gate.write)) as change:
        for _ in range(times):
            change.cancel()
            await asyncio.wait([change], timeout=0.05)
    with pytest.raises(asyncio.CancelledError):
        await change
    assert await notebook.agree() == ("one",)


async def test_a_list_over_its_limit_by_hand_is_kept_and_counted(notebook: Notebook) -> None:
    notebook.save(render(("x" * 3000, "short")))
    snapshot = await notebook.snapshot(1)
    assert snapshot.bounds == notebook.store.limits, "only a merge lets a list be longer"
    assert snapshot.memory == ("x" * 3000, "short")
    assert snapshot.memory_size == 3000 + 3 + 8
    refused = await notebook.change(add("more"))
    assert isinstance(refused, Refusal)
    assert refused.fault == "full"
    assert notebook.read() == render(("x" * 3000, "short"))


async def test_reading_in_agreement_writes_nothing(notebook: Notebook) -> None:
    def version(connection: Connection) -> object:
        """Changes whenever another connection has written."""
        return connection.execute("PRAGMA data_version").fetchone()

    await notebook.add("one")
    before, then = notebook.path.stat().st_mtime_ns, await notebook.database.read(version)
    assert await notebook.look() == ("one",)
    assert await notebook.database.read(version) == then
    assert notebook.path.stat().st_mtime_ns == before
    notebook.lose()
    assert await notebook.look() == ("one",)
    assert await notebook.database.read(version) != then


async def compare(notebook: Notebook) -> list[Difference]:
    return await notebook.store.compare(notebook.person.id, notebook.person.slug, 9)


async def test_a_comparison_names_the_files_that_differed(notebook: Notebook) -> None:
    await notebook.add("one")
    assert await compare(notebook) == []
    notebook.save("- one\n- by hand\n")
    (difference,) = await compare(notebook)
    assert difference == Difference(path=notebook.path, hand_edits=1, is_rewritten=False)
    notebook.lose()
    (difference,) = await compare(notebook)
    assert difference == Difference(path=notebook.path, hand_edits=0, is_rewritten=True)
    assert await compare(notebook) == []


async def test_a_view_with_other_limits_leaves_the_store_its_own(notebook: Notebook) -> None:
    small = MemoryLimits(memory=10, user=5)
    view = notebook.store.within(small)
    assert (view.limits, notebook.store.limits) == (small, MemoryLimits())
    refused = await Notebook(notebook.database, view, notebook.person, notebook.desk).change(
        add("more than ten")
    )
    assert isinstance(refused, Refusal)
    await notebook.add("more than ten")


async def test_a_stamp_changes_with_its_file(notebook: Notebook) -> None:
    assert notebook.store.stamp("human", notebook.person.slug) is None
    await notebook.add("one")
    stamp = notebook.store.stamp("human", notebook.person.slug)
    assert stamp
    assert stamp[-1] == len("- one\n")
    assert notebook.store.stamp("human", notebook.person.slug) == stamp
    notebook.save("- two\n- one\n")
    assert notebook.store.stamp("human", notebook.person.slug) != stamp


async def test_hand_edits_are_adopted_within_another_transaction(notebook: Notebook) -> None:
    notebook.save("- by hand\n")
    notebook.path.with_name("USER.md").write_text("- tea\n")
    await notebook.database.write(
        "merge",
        lambda connection: notebook.store.adopt_hand_edits(
            connection, notebook.person.id, notebook.person.slug, 3
        ),
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
    notebook: Notebook, damage: str
) -> None:
    await notebook.add("one", "two")

    def spoil(connection: Connection) -> None:
        connection.execute(damage)

    await notebook.database.write("damage", spoil)
    with pytest.raises(StoreDamaged, match="ledger"):
        await notebook.look()
