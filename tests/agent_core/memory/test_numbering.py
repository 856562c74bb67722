"""The numbered list of a person's memory: a number never comes to mean something else."""

from pathlib import Path

import pytest

from agent_core.memory.edits_within_limits import Edit
from agent_core.memory.numbering import NumberedEntry, list_entries
from agent_core.memory.store import MemoryStore
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import shares
from agent_core.state.memory.ledger import MemoryTarget, Origin
from agent_core.state.memory.shares import EVERYONE, Share
from agent_core.state.people.people import Person
from tests.agent_core.memory.conftest import Desk

TURN = Origin(actor="turn:1", now=1)


class Shelf:
    """The memory of one person, changed and listed."""

    def __init__(self, database: Database, store: MemoryStore, person: Person) -> None:
        self._database = database
        self._store = store
        self._person = person

    async def add(
        self, text: str, target: MemoryTarget = "memory", *, for_anyone: bool = False
    ) -> None:
        edit = Edit(action="add", target=target, text=text, is_for_anyone=for_anyone)
        await self._store.change(self._person.id, self._person.slug, edit, TURN)

    async def replace(self, old: str, text: str, *, for_anyone: bool = False) -> None:
        target: MemoryTarget = (
            "memory" if old in [e.entry for e in await self.list("memory")] else "user"
        )
        edit = Edit(action="replace", target=target, old=old, text=text, is_for_anyone=for_anyone)
        await self._store.change(self._person.id, self._person.slug, edit, TURN)

    async def remove(self, old: str) -> None:
        edit = Edit(action="remove", target="memory", old=old)
        await self._store.change(self._person.id, self._person.slug, edit, TURN)

    async def share(self, entry: str, audience: str, target: MemoryTarget = "memory") -> None:
        def work(connection: Connection) -> None:
            share = Share(target=target, entry=entry, audience=audience)
            shares.insert(connection, share, person_id=self._person.id, actor="x", now=1)

        await self._database.write("share", work)

    async def look(self) -> None:
        """Take in what was done by hand."""
        await self._store.snapshot(self._person.id, self._person.slug, 2)

    async def list(self, target: MemoryTarget | None = None) -> tuple[NumberedEntry, ...]:
        listed = await self._database.read(lambda c: list_entries(c, person_id=self._person.id))
        return tuple(entry for entry in listed if target in (None, entry.target))

    async def shared(self) -> dict[str, tuple[str, ...]]:
        return {entry.entry: entry.audiences for entry in await self.list() if entry.audiences}


@pytest.fixture
def memory_list(database: Database, folder: Path, ann: Person) -> Shelf:
    return Shelf(database, MemoryStore(database, folder), ann)


async def test_both_lists_are_numbered_together_by_when_their_words_came(
    memory_list: Shelf,
) -> None:
    await memory_list.add("has a cat")
    await memory_list.add("likes tea", "user")
    await memory_list.add("has a dog")
    assert [(e.number, e.target, e.entry) for e in await memory_list.list()] == [
        (1, "memory", "has a cat"),
        (3, "memory", "has a dog"),
        (2, "user", "likes tea"),
    ]


async def test_a_number_never_comes_to_mean_another_entry(
    memory_list: Shelf, desk: Desk, ann: Person
) -> None:
    for text in ("one", "two", "three"):
        await memory_list.add(text)
    seen = {entry.number: entry.entry for entry in await memory_list.list()}
    await memory_list.remove("one")
    await memory_list.replace("two", "two, and more")
    desk.save(ann, "- by hand\n- three\n- two, and more\n")
    await memory_list.look()
    now = {entry.number: entry.entry for entry in await memory_list.list()}
    assert sorted(now.values()) == ["by hand", "three", "two, and more"]
    assert all(now[number] == seen[number] for number in now.keys() & seen.keys())


async def test_an_entry_says_who_else_may_see_it(memory_list: Shelf) -> None:
    await memory_list.add("tea")
    await memory_list.add("tea", "user")
    await memory_list.share("tea", EVERYONE)
    await memory_list.share("tea", "room:9")
    assert [(e.target, e.audiences) for e in await memory_list.list()] == [
        ("memory", (EVERYONE, "room:9")),
        ("user", ()),
    ]


async def test_an_entry_is_shared_for_anyone_in_the_stroke_that_writes_it(
    memory_list: Shelf,
) -> None:
    await memory_list.add("short answers", "user", for_anyone=True)
    await memory_list.add("has a secret", "user")
    assert await memory_list.shared() == {"short answers": (EVERYONE,)}
    await memory_list.replace("short answers", "long answers", for_anyone=True)
    assert await memory_list.shared() == {"long answers": (EVERYONE,)}


async def test_an_entry_whose_words_change_is_private_again(memory_list: Shelf) -> None:
    await memory_list.add("has a cat")
    await memory_list.share("has a cat", EVERYONE)
    await memory_list.replace("has a cat", "has a cat and a debt")
    assert await memory_list.shared() == {}
    await memory_list.replace("has a cat and a debt", "has a cat")
    assert await memory_list.shared() == {}, "what was withdrawn does not come back by itself"


async def test_an_entry_that_is_dropped_is_shared_no_more(memory_list: Shelf) -> None:
    await memory_list.add("has a cat")
    await memory_list.share("has a cat", "room:9")
    await memory_list.remove("has a cat")
    await memory_list.add("has a cat")
    assert await memory_list.shared() == {}


async def test_what_is_changed_by_hand_is_private_again_and_the_rest_stays_shared(
    memory_list: Shelf, desk: Desk, ann: Person
) -> None:
    for text in ("has a cat", "has a dog"):
        await memory_list.add(text)
        await memory_list.share(text, EVERYONE)
    desk.save(ann, "- a note\n- has a dog\n- has a cat, and a debt\n")
    await memory_list.look()
    assert await memory_list.shared() == {"has a dog": (EVERYONE,)}
