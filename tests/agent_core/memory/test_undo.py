"""What was learned can be taken back, given back, and led back to a moment."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_core.memory import files
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.entry_history import UNLINK
from agent_core.memory.files import parse
from agent_core.memory.list_changes import replay
from agent_core.memory.numbering import list_entries
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.memory.undo import RestoredEntry, UndoneChange, UndoRefused
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import Change, LedgerEntry, MemoryTarget, Origin
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount, Person
from tests.agent_core.memory.conftest import Desk
from tests.agent_core.state.rows import add_dialogue, add_turn


class Notebook:
    """One person's memory; every change has a moment of its own."""

    def __init__(self, database: Database, store: MemoryStore, person: Person) -> None:
        self.database = database
        self.store = store
        self.person = person
        self.now = 0

    async def add(
        self, text: str, target: MemoryTarget = "memory", *, for_anyone: bool = False
    ) -> int:
        edit = Edit(action="add", target=target, text=text, is_for_anyone=for_anyone)
        return await self._change(edit)

    async def replace(self, old: str, text: str) -> int:
        return await self._change(Edit(action="replace", target="memory", old=old, text=text))

    async def remove(self, old: str) -> int:
        return await self._change(Edit(action="remove", target="memory", old=old))

    async def change_all(self, *edits: Edit) -> None:
        self.now += 1
        origin = Origin(actor="turn:1", now=self.now, call_key=f"1:{self.now}")
        made = await self.store.change_all(self.person.id, self.person.slug, edits, origin)
        assert not isinstance(made, Refusal)

    async def _change(self, edit: Edit) -> int:
        await self.change_all(edit)
        return (await self.rows(edit.target))[-1].id

    async def undo(
        self, row_id: int | None = None, *, call: str | None = None
    ) -> tuple[UndoneChange, ...] | UndoRefused:
        self.now += 1
        origin = Origin(actor="person", now=self.now, call_key=call)
        return await self.store.undo(self.person.id, self.person.slug, row_id, origin)

    async def restore(self, moment: int) -> Mapping[MemoryTarget, RestoredEntry]:
        self.now += 1
        origin = Origin(actor="house", now=self.now)
        return await self.store.restore(self.person.id, self.person.slug, moment, origin)

    async def entries(self, target: MemoryTarget = "memory") -> tuple[str, ...]:
        self.now += 1
        snapshot = await self.store.snapshot(self.person.id, self.person.slug, self.now)
        return snapshot.memory if target == "memory" else snapshot.user

    async def rows(self, target: MemoryTarget = "memory") -> list[LedgerEntry]:
        return await self.database.read(
            lambda c: ledger.find_entries(c, person_id=self.person.id, target=target)
        )

    async def numbers(self) -> dict[str, int]:
        listed = await self.database.read(lambda c: list_entries(c, person_id=self.person.id))
        return {one.entry: one.number for one in listed}

    async def shared(self) -> list[str]:
        found = await self.database.read(lambda c: shares.list_of(c, person_id=self.person.id))
        return [share.entry for share in found]


@pytest.fixture
def notebook(database: Database, folder: Path, ann: Person) -> Notebook:
    return Notebook(database, MemoryStore(database, folder), ann)


def one(undone: tuple[UndoneChange, ...] | UndoRefused) -> UndoneChange:
    assert not isinstance(undone, UndoRefused)
    (only,) = undone
    return only


def words(rows: tuple[LedgerEntry, ...]) -> list[str | None]:
    return [row.change.after for row in rows]


async def test_an_undone_add_takes_its_later_wordings_with_it(notebook: Notebook) -> None:
    added = await notebook.add("Rex")
    await notebook.replace("Rex", "Rex, a dog")
    await notebook.replace("a dog", "Rex, an old dog")
    undone = one(await notebook.undo(added))
    assert words(undone.derived) == ["Rex, a dog", "Rex, an old dog"]
    assert await notebook.entries() == ()
    assert undone.row.origin.undoes == added


async def test_an_undo_of_an_undo_gives_back_what_it_took_and_where_it_stood(
    notebook: Notebook, desk: Desk
) -> None:
    first = await notebook.add("one")
    await notebook.add("two")
    await notebook.replace("one", "one, reworded")
    gone = one(await notebook.undo(first))
    await notebook.add("three")
    back = one(await notebook.undo(gone.row.id))
    assert words(back.revived) == ["one", "one, reworded"]
    assert await notebook.entries() == ("one, reworded", "two", "three")
    assert desk.read(notebook.person) == "- one, reworded\n- two\n- three\n"


async def test_a_wording_under_a_later_one_is_taken_back_unseen_and_counts(
    notebook: Notebook,
) -> None:
    await notebook.add("Rex")
    middle = await notebook.replace("Rex", "Rex, a dog")
    last = await notebook.replace("a dog", "Rex, an old dog")
    undone = one(await notebook.undo(middle))
    assert (undone.row.change.before, undone.row.change.after) == (None, None)
    assert await notebook.entries() == ("Rex, an old dog",)
    await notebook.undo(last)
    assert await notebook.entries() == ("Rex",)


async def test_what_is_taken_back_is_not_taken_back_twice(notebook: Notebook) -> None:
    added = await notebook.add("one")
    await notebook.undo(added)
    refused = await notebook.undo(added)
    assert isinstance(refused, UndoRefused)
    assert refused.fault == "undone"
    assert len(await notebook.rows()) == 2


async def test_an_entry_that_was_dropped_comes_back_to_its_place(notebook: Notebook) -> None:
    for text in ("one", "two", "three"):
        await notebook.add(text)
    dropped = await notebook.remove("two")
    await notebook.undo(dropped)
    assert await notebook.entries() == ("one", "two", "three")


async def test_what_was_done_by_hand_is_taken_back_too(notebook: Notebook, desk: Desk) -> None:
    await notebook.add("one")
    await notebook.add("two")
    desk.save(notebook.person, "- two\n- three\n")
    assert await notebook.entries() == ("two", "three")
    undone = await notebook.undo()
    assert not isinstance(undone, UndoRefused)
    assert {row.undone.origin.actor for row in undone} == {"hand"}
    assert await notebook.entries() == ("one", "two")
    assert desk.read(notebook.person) == "- one\n- two\n"


async def test_an_edit_by_hand_that_nobody_has_read_yet_is_heard_before_an_undo(
    notebook: Notebook, desk: Desk
) -> None:
    added = await notebook.add("one")
    desk.save(notebook.person, "- one\n- by hand\n")
    await notebook.undo(added)
    assert await notebook.entries() == ("by hand",)


async def test_the_newest_stroke_is_all_that_one_call_did_and_then_the_one_before_it(
    notebook: Notebook,
) -> None:
    await notebook.add("one")
    await notebook.change_all(
        Edit(action="add", target="memory", text="two"),
        Edit(action="add", target="user", text="likes tea"),
        Edit(action="replace", target="memory", old="one", text="1"),
    )
    undone = await notebook.undo()
    assert not isinstance(undone, UndoRefused)
    assert [row.undone.change.after for row in undone] == ["1", "likes tea", "two"]
    assert (await notebook.entries(), await notebook.entries("user")) == (("one",), ())
    await notebook.undo()
    assert await notebook.entries() == ()
    assert await notebook.undo() == UndoRefused(fault="nothing")


async def test_the_newest_stroke_passes_over_what_shows_nowhere_any_more(
    notebook: Notebook,
) -> None:
    await notebook.add("one")
    added = await notebook.add("two")
    await notebook.replace("two", "2")
    await notebook.undo(added)
    assert one(await notebook.undo()).undone.change.after == "one"


async def test_an_undo_that_is_asked_for_again_after_a_crash_is_told_again(
    notebook: Notebook,
) -> None:
    await notebook.add("one")
    added = await notebook.add("two")
    await notebook.replace("two", "2")
    first = await notebook.undo(added, call="inbox:7")
    assert await notebook.undo(added, call="inbox:7") == first
    newest = await notebook.undo(call="inbox:8")
    assert await notebook.undo(call="inbox:8") == newest
    assert len(await notebook.rows()) == 5


async def test_rows_of_others_are_unknown(
    notebook: Notebook, database: Database, folder: Path, bob: Person
) -> None:
    theirs = await Notebook(database, MemoryStore(database, folder), bob).add("of bob")
    assert await notebook.undo(theirs) == UndoRefused(fault="unknown")
    assert await notebook.undo(4711) == UndoRefused(fault="unknown")


async def test_an_undo_goes_over_a_limit_and_later_edits_meet_it_again(
    database: Database, folder: Path, ann: Person
) -> None:
    store = MemoryStore(database, folder, MemoryLimits(memory=12))
    notebook = Notebook(database, store, ann)
    await notebook.add("aaaaaaaa")
    dropped = await notebook.remove("aaaaaaaa")
    await notebook.add("bbbbbbbb")
    await notebook.undo(dropped)
    assert await notebook.entries() == ("aaaaaaaa", "bbbbbbbb")
    edit = Edit(action="add", target="memory", text="c")
    refused = await store.change(ann.id, ann.slug, edit, Origin(actor="turn:1", now=99))
    assert isinstance(refused, Refusal)
    assert refused.fault == "full"


async def test_an_entry_has_its_old_number_when_its_old_words_are_back(notebook: Notebook) -> None:
    await notebook.add("one")
    await notebook.add("likes tea", "user")
    reworded = await notebook.replace("one", "1")
    assert await notebook.numbers() == {"1": 3, "likes tea": 2}
    await notebook.undo(reworded)
    assert await notebook.numbers() == {"one": 1, "likes tea": 2}


async def test_an_entry_that_is_taken_back_is_shared_no_more(notebook: Notebook) -> None:
    added = await notebook.add("short answers", for_anyone=True)
    gone = one(await notebook.undo(added))
    assert await notebook.shared() == []
    await notebook.undo(gone.row.id)
    assert await notebook.entries() == ("short answers",)
    assert await notebook.shared() == [], "what was withdrawn does not come back by itself"


async def leave(notebook: Notebook, *texts: str) -> None:
    """An account is split off, and takes entries along that came by it."""

    def work(connection: Connection) -> None:
        ledger_of = {"person_id": notebook.person.id, "target": "memory"}
        for text in texts:
            rows = ledger.find_entries(connection, **ledger_of)  # type: ignore[arg-type]
            place = replay(row.change for row in rows).index(text)
            change = Change(operation="remove", position=place, before=text, after=None)
            origin = Origin(actor=UNLINK, now=50)
            ledger.record(connection, change=change, origin=origin, **ledger_of)  # type: ignore[arg-type]

    await notebook.database.write("leave", work)


async def learn(notebook: Notebook, account_id: int, text: str) -> int:
    """Note something in a turn that was asked for by an account."""

    def dialogue(connection: Connection) -> int:
        turn_id = add_turn(connection, add_dialogue(connection, notebook.person))
        connection.execute("UPDATE turns SET account_id = ? WHERE id = ?", (account_id, turn_id))
        return turn_id

    turn_id = await notebook.database.write("talk", dialogue)
    edit = Edit(action="add", target="memory", text=text)
    notebook.now += 1
    origin = Origin(actor=f"turn:{turn_id}", now=notebook.now)
    await notebook.store.change(notebook.person.id, notebook.person.slug, edit, origin)
    return (await notebook.rows())[-1].id


@pytest.fixture
async def accounts(database: Database, ann: Person, bob: Person) -> tuple[int, int]:
    """One of Ann's, and one that was Ann's and is Bob's now."""

    def attach(connection: Connection) -> tuple[int, int]:
        for person, user_id in ((ann, "1"), (bob, "2")):
            account = NewAccount(
                platform="p", user_id=user_id, display_name="x", admitted_by="code"
            )
            people.attach_account(connection, account, person_id=person.id, now=0)
        first, second = (
            people.list_accounts(connection, person_id=person.id)[0].id for person in (ann, bob)
        )
        return first, second

    return await database.write("accounts", attach)


async def test_what_has_left_with_an_account_is_not_brought_back(
    notebook: Notebook, accounts: tuple[int, int]
) -> None:
    hers, theirs = accounts
    mine = await learn(notebook, hers, "mine")
    await learn(notebook, theirs, "theirs")
    dropped = one(await notebook.undo(await learn(notebook, theirs, "theirs, dropped before")))
    moment = notebook.now - 1
    await leave(notebook, "theirs")
    for row_id in ((await notebook.rows())[-1].id, dropped.row.id):
        refused = await notebook.undo(row_id)
        assert isinstance(refused, UndoRefused)
        assert refused.fault == "parted"
    removed = await notebook.remove("mine")
    restored = await notebook.restore(moment)
    assert restored["memory"] == RestoredEntry(rows=1, entries=("mine",), left_out=2)
    assert await notebook.entries() == ("mine",)
    await notebook.undo()
    assert await notebook.entries() == ()
    assert one(await notebook.undo()).undone.id == removed
    assert await notebook.entries() == ("mine",)
    assert one(await notebook.undo()).undone.id == mine
    assert await notebook.undo() == UndoRefused(fault="nothing")


async def test_what_was_forgotten_comes_back_neither_by_an_undo_nor_by_leading_back(
    notebook: Notebook,
) -> None:
    """Forgetting drops an entry, and takes its words out of every row; see `ledger.redact`."""
    await notebook.add("Has a canary")
    kept = await notebook.add("Has a dog")
    moment = notebook.now
    reworded = await notebook.replace("dog", "Has a cat")
    dropped = await notebook.remove("canary")

    def forget(connection: Connection) -> None:
        for row in ledger.find_entries(connection, person_id=notebook.person.id, target="memory"):
            ledger.redact(
                connection,
                entry_id=row.id,
                is_wanted=lambda words: "canary" in words,
                mark=FORGOTTEN,
            )

    await notebook.database.write("forget", forget)
    refused = await notebook.undo(dropped)
    assert isinstance(refused, UndoRefused)
    assert refused.fault == "forgotten"
    assert one(await notebook.undo()).undone.id == reworded
    await notebook.restore(moment)
    assert await notebook.entries() == ("Has a dog",)
    await notebook.undo(kept)
    assert await notebook.entries() == ()


async def test_memory_is_led_back_to_a_moment_and_that_can_be_taken_back(
    notebook: Notebook, desk: Desk
) -> None:
    await notebook.add("one")
    await notebook.add("likes tea", "user")
    moment = notebook.now
    await notebook.replace("one", "1")
    await notebook.add("two")
    done = await notebook.restore(moment)
    assert done == {
        "memory": RestoredEntry(rows=2, entries=("one",)),
        "user": RestoredEntry(rows=0, entries=("likes tea",)),
    }
    assert desk.read(notebook.person) == "- one\n"
    await notebook.undo()
    assert await notebook.entries() == ("1", "two")
    assert await notebook.entries("user") == ("likes tea",)


async def test_memory_led_back_to_before_everything_is_empty(notebook: Notebook) -> None:
    await notebook.add("one")
    await notebook.restore(0)
    assert await notebook.entries() == ()


async def test_a_crash_between_the_undo_and_its_file_loses_nothing(
    database: Database, folder: Path, ann: Person, notebook: Notebook, desk: Desk
) -> None:
    class Crash(Exception):
        pass

    def crash(path: Path, text: str, seen: str) -> bool:
        raise Crash

    await notebook.add("one")
    await notebook.add("two")
    crashing = Notebook(database, MemoryStore(database, folder, write=crash), ann)
    with pytest.raises(Crash):
        await crashing.undo()
    assert desk.read(ann) == "- one\n- two\n"
    assert await notebook.entries() == ("one",)
    assert parse(files.read_file(desk.path(ann)).text) == ("one",)
