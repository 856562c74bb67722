"""After an undo, memory is what a replay of the ledger without the undone rows gives."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.memory.edits_within_limits import Edit, Refusal, plan
from agent_core.memory.entry_history import EntryHistory
from agent_core.memory.files import parse, render
from agent_core.memory.list_changes import apply
from agent_core.memory.store import MemoryStore
from agent_core.memory.undo import UndoneChange, UndoRefused
from agent_core.state.engine.database import Database
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import LedgerEntry, MemoryTarget, Origin
from agent_core.state.memory.shares import EVERYONE, Share
from agent_core.state.people import people
from agent_core.state.people.people import Person

TARGETS: tuple[MemoryTarget, ...] = ("memory", "user")
FILES = {"memory": "MEMORY.md", "user": "USER.md"}


@dataclass(frozen=True)
class Step:
    """Something that is done to a list; `pick` chooses among what there is."""

    action: str
    target: MemoryTarget
    pick: int
    by_hand: bool = False


def steps(*actions: str, by_hand: bool) -> st.SearchStrategy[Step]:
    return st.builds(
        Step,
        action=st.sampled_from(actions),
        target=st.sampled_from(TARGETS),
        pick=st.integers(0, 30),
        by_hand=st.booleans() if by_hand else st.just(False),
    )


any_steps = st.lists(
    steps("add", "add", "reword", "drop", "undo", "undo", "share", by_hand=True),
    min_size=3,
    max_size=14,
)
by_tool = st.lists(
    steps("add", "add", "reword", "drop", "undo", "undo", by_hand=False), min_size=3, max_size=14
)


@dataclass
class Reported:
    """What a row does, told without places: `name` is its entry's, for as long as it lives."""

    action: str
    target: MemoryTarget
    name: str
    words: str = ""
    undoes: int = -1


@dataclass
class Model:
    """The rows as they were told, and the order of all entries there ever were."""

    reported: list[Reported] = field(default_factory=list)
    order: dict[MemoryTarget, list[str]] = field(default_factory=lambda: {"memory": [], "user": []})

    def counts(self, number: int) -> bool:
        takers = [taker for taker, row in enumerate(self.reported) if row.undoes == number]
        return not any(self.counts(taker) for taker in takers)

    def replay(self, target: MemoryTarget) -> tuple[str, ...]:
        """The list, of the rows that are not taken back."""
        words: dict[str, str] = {}
        for number, row in enumerate(self.reported):
            if row.target != target or row.action == "undo" or not self.counts(number):
                continue
            if row.action == "add" or (row.name in words and row.action == "reword"):
                words[row.name] = row.words
            elif row.action == "drop":
                words.pop(row.name, None)
        return tuple(words[name] for name in self.order[target] if name in words)

    def replay_edits(self, target: MemoryTarget) -> tuple[str, ...]:
        """The same for rows that a tool made, by making its edits again one by one."""
        entries: tuple[str, ...] = ()
        for number, row in enumerate(self.reported):
            if row.target != target or row.action == "undo" or not self.counts(number):
                continue
            action = {"add": "add", "reword": "replace", "drop": "remove"}[row.action]
            edit = Edit(action=action, target=target, text=row.words, old=row.name)  # type: ignore[arg-type]
            changes = plan(entries, edit, 10_000)
            if not isinstance(changes, Refusal):
                entries = apply(entries, changes[0])
        return entries


class Life:
    """One person's memory, and the model of it beside it."""

    def __init__(self, database: Database, person: Person, folder: Path) -> None:
        self.database = database
        self.person = person
        self.folder = folder
        self.store = MemoryStore(database, folder)
        self.model = Model()
        self.ids: list[int] = []
        self.made = 0

    async def do(self, step: Step) -> None:
        current = await self.entries(step.target)
        if step.action == "add":
            self.made += 1
            await self._add(step, f"({self.made})", current)
        elif step.action == "undo":
            if self.ids:
                await self._undo(step.pick % len(self.ids))
        elif current:
            entry = current[step.pick % len(current)]
            if step.action == "share":
                await self._share(step.target, entry)
            else:
                await self._change(step, entry, current)
        await self.check()

    async def entries(self, target: MemoryTarget) -> tuple[str, ...]:
        snapshot = await self.store.snapshot(self.person.id, self.person.slug, 1)
        return snapshot.memory if target == "memory" else snapshot.user

    async def rows(self) -> list[LedgerEntry]:
        found = []
        for target in TARGETS:
            found += await self.database.read(
                lambda c, target=target: ledger.find_entries(  # type: ignore[misc]
                    c, person_id=self.person.id, target=target
                )
            )
        return sorted(found, key=lambda row: row.id)

    async def _add(self, step: Step, name: str, current: tuple[str, ...]) -> None:
        words = f"{name} at first"
        place = step.pick % (len(current) + 1) if step.by_hand else len(current)
        order = self.model.order[step.target]
        if place == len(current):
            order.append(name)
        else:
            order.insert(order.index(current[place].split()[0]), name)
        if step.by_hand:
            await self._save(step.target, (*current[:place], words, *current[place:]))
        else:
            await self._edit(Edit(action="add", target=step.target, text=words))
        await self._report(Reported("add", step.target, name, words))

    async def _change(self, step: Step, entry: str, current: tuple[str, ...]) -> None:
        name = entry.split()[0]
        words = "" if step.action == "drop" else f"{name} reworded {len(self.ids)}"
        place = current.index(entry)
        if step.by_hand:
            new = (words,) if words else ()
            await self._save(step.target, (*current[:place], *new, *current[place + 1 :]))
        elif words:
            edit = Edit(action="replace", target=step.target, old=name, text=words)
            await self._edit(edit)
        else:
            await self._edit(Edit(action="remove", target=step.target, old=name))
        await self._report(Reported(step.action, step.target, name, words))

    async def _undo(self, number: int) -> None:
        undone = await self.store.undo(
            self.person.id, self.person.slug, self.ids[number], Origin(actor="person", now=1)
        )
        if not self.model.counts(number):
            assert undone == UndoRefused(fault="undone", row=(await self.rows())[number])
            return
        assert isinstance(undone, tuple)
        (one,) = undone
        assert one.undone.id == self.ids[number]
        before = {target: self.model.replay(target) for target in TARGETS}
        row = self.model.reported[number]
        await self._report(Reported("undo", row.target, row.name, undoes=number))
        self._check_change(one, before)

    def _check_change(
        self, undone: UndoneChange, before: dict[MemoryTarget, tuple[str, ...]]
    ) -> None:
        """One row says all that has changed."""
        target = undone.row.target
        assert apply(before[target], undone.row.change) == self.model.replay(target)

    async def _share(self, target: MemoryTarget, entry: str) -> None:
        share = Share(target=target, entry=entry, audience=EVERYONE)
        await self.database.write(
            "share",
            lambda c: shares.insert(c, share, person_id=self.person.id, actor="x", now=1),
        )

    async def _edit(self, edit: Edit) -> None:
        made = await self.store.change(
            self.person.id, self.person.slug, edit, Origin(actor="turn:1", now=1)
        )
        assert not isinstance(made, Refusal)

    async def _save(self, target: MemoryTarget, entries: tuple[str, ...]) -> None:
        path = self.folder / "people" / self.person.slug / FILES[target]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render(entries))
        await self.entries(target)

    async def _report(self, reported: Reported) -> None:
        self.model.reported.append(reported)
        self.ids = [row.id for row in await self.rows()]
        assert len(self.ids) == len(self.model.reported), "each step is one row"

    async def check(self) -> None:
        """Memory, its files and the lives of its entries are what the model says."""
        shared = await self.database.read(lambda c: shares.list_of(c, person_id=self.person.id))
        rows = await self.rows()
        for target in TARGETS:
            entries = await self.entries(target)
            assert entries == self.model.replay(target)
            path = self.folder / "people" / self.person.slug / FILES[target]
            assert parse(path.read_text() if path.exists() else "") == entries
            history = EntryHistory(row for row in rows if row.target == target)
            assert tuple(tracked.words for tracked in history.current) == entries
            assert {one.entry for one in shared if one.target == target} <= set(entries)
            for number, row in enumerate(rows):
                if row.target == target:
                    assert history.counts(row.id) == self.model.counts(number)


async def live(happenings: Sequence[Step]) -> Model:
    with tempfile.TemporaryDirectory() as place:
        database = await Database.open(Path(place) / "state.db")
        try:
            person = await database.write(
                "ann", lambda c: people.insert(c, slug="ann", name="Ann", role="owner", now=0)
            )
            tracked = Life(database, person, Path(place) / "memories")
            for step in happenings:
                await tracked.do(step)
            return tracked.model
        finally:
            await database.close()


@pytest.mark.slow
@given(any_steps)
def test_after_any_undo_memory_is_a_replay_without_what_was_undone(
    happenings: list[Step],
) -> None:
    asyncio.run(live(happenings))


@pytest.mark.slow
@given(by_tool)
def test_what_a_tool_did_is_after_an_undo_as_if_the_undone_edits_had_never_been_asked_for(
    happenings: list[Step],
) -> None:
    model = asyncio.run(live(happenings))
    for target in TARGETS:
        assert model.replay(target) == model.replay_edits(target)
