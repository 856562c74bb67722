"""Whatever happens in whatever order, the ledger, the file and the snapshot say the same."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.memory import files
from agent_core.memory.edits_within_limits import Edit, Refusal, plan
from agent_core.memory.files import parse, render
from agent_core.memory.list_changes import apply, replay
from agent_core.memory.store import MemoryLimits, MemoryStore, Write
from agent_core.state.engine.database import Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person
from tests.agent_core.memory.conftest import Desk

LIMIT = 60


@dataclass(frozen=True)
class ToolChange:
    edit: Edit
    crash: str


@dataclass(frozen=True)
class HandEdit:
    text: str


@dataclass(frozen=True)
class BackToEarlier:
    """The person restores the file as it was some moments ago."""

    moments: int


@dataclass(frozen=True)
class Loss:
    pass


@dataclass(frozen=True)
class Look:
    pass


Event = ToolChange | HandEdit | BackToEarlier | Loss | Look

words = st.sampled_from(["tea", "milk", "Rex the dog", "Tom\n- the cat", "# heading"])
edits = st.one_of(
    st.builds(Edit, action=st.just("add"), target=st.just("memory"), text=words),
    st.builds(Edit, action=st.just("replace"), target=st.just("memory"), text=words, old=words),
    st.builds(Edit, action=st.just("remove"), target=st.just("memory"), old=words),
)
crashes = st.sampled_from(["", "", "before", "after"])
changes = st.builds(ToolChange, edit=edits, crash=crashes)
by_hand = st.one_of(
    st.lists(words, max_size=4).map(tuple).map(render),
    st.lists(words, max_size=4).map("\n\n".join),
    st.text(alphabet="ab-*#\n \u202e", max_size=30),
)
events = st.one_of(
    changes,
    changes,
    st.builds(HandEdit, text=by_hand),
    st.builds(BackToEarlier, moments=st.integers(1, 3)),
    st.just(Loss()),
    st.just(Look()),
)


class Crash(Exception):
    """The process is gone."""


def crash(moment: str) -> Write:
    def write(path: Path, text: str, seen: str) -> bool:
        if moment == "before":
            raise Crash
        is_written = files.write_file(path, text, seen)
        if moment == "after":
            raise Crash
        return is_written

    return write


class Life:
    """One person's memory, through whatever happens to it."""

    def __init__(self, database: Database, person: Person, folder: Path) -> None:
        self._database = database
        self._person = person
        self._folder = folder
        self._desk = Desk(folder)
        self._earlier = [""]
        self._calls = 0

    async def go_through(self, event: Event) -> None:
        match event:
            case ToolChange(edit=edit, crash=moment):
                await self._change(edit, moment)
            case HandEdit(text=text):
                self._desk.save(self._person, text)
            case BackToEarlier(moments=moments):
                self._desk.save(self._person, self._earlier[-moments:][0])
            case Loss():
                self._desk.lose(self._person)
            case Look():
                await self.look()
        self._earlier.append(self._desk.read(self._person))

    async def look(self) -> tuple[str, ...]:
        """The list, once snapshot, ledger and file were seen to agree."""
        person = self._person
        snapshot = await self._store("").snapshot(person.id, person.slug, 1)
        rows = await self._database.read(
            lambda connection: ledger.find_entries(connection, person_id=person.id, target="memory")
        )
        replayed = replay(row.change for row in rows)
        assert snapshot.memory == replayed == parse(self._desk.read(person))
        return replayed

    async def _change(self, edit: Edit, moment: str) -> None:
        """A call that a crash cut off is made again, as the next start would do."""
        self._calls += 1
        origin = Origin(actor="turn:1", now=1, call_key=f"1:{self._calls}")
        person = self._person
        try:
            await self._store(moment).change(person.id, person.slug, edit, origin)
        except Crash:
            self._earlier.append(self._desk.read(person))
            if self._calls % 2:
                await self._store("").change(person.id, person.slug, edit, origin)

    def _store(self, moment: str) -> MemoryStore:
        limits = MemoryLimits(memory=LIMIT)
        return MemoryStore(self._database, self._folder, limits, write=crash(moment))


async def live(happenings: Sequence[Event]) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as place:
        database = await Database.open(Path(place) / "state.db")
        try:
            person = await database.write(
                "ann",
                lambda connection: people.insert(
                    connection, slug="ann", name="Ann", role="owner", now=0
                ),
            )
            life = Life(database, person, Path(place) / "memories")
            for event in happenings:
                await life.go_through(event)
            await life.look()
            return await life.look()
        finally:
            await database.close()


@pytest.mark.slow
@given(st.lists(events, max_size=10))
def test_ledger_file_and_snapshot_agree_after_any_history(happenings: list[Event]) -> None:
    asyncio.run(live(happenings))


@pytest.mark.slow
@given(st.lists(st.one_of(changes, changes, st.just(Loss()), st.just(Look())), max_size=10))
def test_crashes_and_losses_change_nothing_that_was_learned(happenings: list[Event]) -> None:
    expected: tuple[str, ...] = ()
    for event in happenings:
        if isinstance(event, ToolChange):
            changes = plan(expected, event.edit, LIMIT)
            if not isinstance(changes, Refusal):
                expected = apply(expected, changes[0])
    assert asyncio.run(live(happenings)) == expected
