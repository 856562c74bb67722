"""Stable numbers for the changes and entries of a memory, so that people can choose one."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.entry_history import EntryHistory, TrackedEntry
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import LISTS, LedgerEntry, MemoryTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEntry:
    """A present entry. `audiences` are those of its shares, empty if it is private.

    `number` is the id of the ledger row that gave the entry its text: the one number of a change
    on every surface. It never names another entry, whoever chooses it, and survives a merge.
    """

    number: int
    target: MemoryTarget
    entry: str
    audiences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeIndex:
    """The changes of a person's lists, by number; see `NumberedEntry`."""

    histories: Mapping[MemoryTarget, EntryHistory]
    rows: tuple[LedgerEntry, ...]

    def find(self, number: int) -> LedgerEntry | None:
        """Find the change with a number."""
        place = bisect_left(self.rows, number, key=lambda one: one.id)
        found = self.rows[place] if place < len(self.rows) else None
        return found if found and found.id == number else None

    def find_tracked(self, row: LedgerEntry) -> TrackedEntry:
        """Return the entry that a change belongs to."""
        tracked = self.histories[row.target].find_tracked(row.id)
        if tracked is None:
            raise AssertionError("a change index contains only its own rows")
        return tracked

    def list_undone_by(self, row: LedgerEntry) -> tuple[LedgerEntry, ...]:
        """List the change that an undo undid, the one that this had undone, and so on."""
        undone: list[LedgerEntry] = []
        while (row_id := row.origin.undoes) is not None:
            row = self.histories[row.target].get(row_id)
            undone.append(row)
        return tuple(undone)


def load_change_index(connection: Connection, *, person_id: PersonId) -> ChangeIndex:
    """Load all changes of a person's lists. Raises `StoreDamaged`."""
    rows = {
        target: ledger.find_entries(connection, person_id=person_id, target=target)
        for target in LISTS
    }
    return ChangeIndex(
        histories={target: EntryHistory(part) for target, part in rows.items()},
        rows=tuple(sorted((row for part in rows.values() for row in part), key=lambda row: row.id)),
    )


def list_entries(connection: Connection, *, person_id: PersonId) -> tuple[NumberedEntry, ...]:
    """List the entries of both lists in file order. Raises `StoreDamaged`."""
    change_index = load_change_index(connection, person_id=person_id)
    shared = shares.list_of(connection, person_id=person_id)
    return tuple(
        NumberedEntry(
            number=tracked.made_by.id,
            target=target,
            entry=tracked.words,
            audiences=tuple(
                share.audience
                for share in shared
                if (share.target, share.entry) == (target, tracked.words)
            ),
        )
        for target, history in change_index.histories.items()
        for tracked in history.current
        if tracked.words is not None and tracked.made_by
    )


def find_current(change_index: ChangeIndex, number: int) -> TrackedEntry | None:
    """Find the entry with a number, unless it has changed since."""
    row = change_index.find(number)
    tracked = change_index.find_tracked(row) if row else None
    return tracked if tracked and tracked.made_by == row else None
