"""A memory as a list to choose from: numbered for good, with who else may see what, and why."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.entry_history import EntryHistory, TrackedEntry
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import LedgerEntry, Target

_TARGETS: tuple[Target, ...] = ("memory", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEntry:
    """One entry. `audiences` are those of its shares, none if it is private.

    `number` counts the person's changes up to the one that gave the entry its words. So it never
    comes to mean another entry, whatever is added, changed, dropped or taken back between looking
    at the list and choosing from it.
    """

    number: int
    target: Target
    entry: str
    audiences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeIndex:
    """Every change of both lists of somebody, by its number; see `NumberedEntry`."""

    histories: Mapping[Target, EntryHistory]
    rows: tuple[LedgerEntry, ...]

    def find_number(self, row: LedgerEntry) -> int:
        """The number of a change."""
        return bisect_left(self.rows, row.id, key=lambda one: one.id) + 1

    def find(self, number: int) -> LedgerEntry | None:
        """The change of a number."""
        return self.rows[number - 1] if 1 <= number <= len(self.rows) else None

    def find_tracked(self, row: LedgerEntry) -> TrackedEntry:
        """The entry that a change is about."""
        tracked = self.histories[row.target].find_tracked(row.id)
        if tracked is None:
            raise AssertionError("a register holds its own rows only")
        return tracked


def load_change_index(connection: Connection, *, person_id: PersonId) -> ChangeIndex:
    """All changes of somebody's lists. Raises `StoreDamaged`."""
    rows = {
        target: ledger.find_entries(connection, person_id=person_id, target=target)
        for target in _TARGETS
    }
    return ChangeIndex(
        histories={target: EntryHistory(part) for target, part in rows.items()},
        rows=tuple(sorted((row for part in rows.values() for row in part), key=lambda row: row.id)),
    )


def list_entries(connection: Connection, *, person_id: PersonId) -> tuple[NumberedEntry, ...]:
    """Both lists of a person, in the order of their files. Raises `StoreDamaged`."""
    change_index = load_change_index(connection, person_id=person_id)
    shared = shares.list_of(connection, person_id=person_id)
    return tuple(
        NumberedEntry(
            number=change_index.find_number(tracked.made_by),
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
    """The entry that `NumberedEntry` gives this number, if it stands still as it was."""
    row = change_index.find(number)
    tracked = change_index.find_tracked(row) if row else None
    return tracked if tracked and tracked.made_by == row else None
