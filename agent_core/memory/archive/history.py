"""The history of one archive entry: its changes, their short names and their sources."""

import re
from dataclasses import dataclass, replace

from agent_core.ids import ArchiveId, PersonId, TurnId
from agent_core.memory.archive.entries import format_archive_entry, format_archive_id, parse_id
from agent_core.memory.explanations import (
    ChangeStep,
    Explanation,
    ExplanationReader,
    find_basis,
    is_forgotten,
)
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry

_NAME = re.compile(r"([0-9a-z]{8})(?:-([0-9]{1,4}))?")
"""The id of an entry (eight characters from 1972 to 2059). Old buttons also count its changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveRef:
    """A reference to an archive entry. `change` is a one-based index; None means the newest
    change.
    """

    id: ArchiveId
    change: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveHistory:
    """The changes of one entry, oldest first; at least one."""

    id: ArchiveId
    rows: tuple[LedgerEntry, ...]

    def find(self, change: int | None) -> LedgerEntry | None:
        """Find a change by its index, or the newest one without an index."""
        if change is None:
            return self.rows[-1]
        return self.rows[change - 1] if 1 <= change <= len(self.rows) else None

    def counts(self, row: LedgerEntry) -> bool:
        """True unless the row was undone."""
        takers = (one for one in self.rows if one.origin.undoes == row.id)
        return not any(self.counts(taker) for taker in takers)


def parse_archive_ref(text: str) -> ArchiveRef | None:
    """Parse a reference to an entry or to one of its changes; None if invalid.

    A plain number is not a reference.
    """
    found = _NAME.fullmatch(text.strip().strip("[]#`").casefold())
    archive_id = parse_id(found[1]) if found and not found[1].isdecimal() else None
    if found is None or archive_id is None:
        return None
    return ArchiveRef(id=archive_id, change=int(found[2]) if found[2] else None)


def load_archive_history(
    connection: Connection, *, person_id: PersonId, archive_id: ArchiveId
) -> ArchiveHistory | None:
    """Load all changes of a person's entry; None if they never had it. Raises `StoreDamaged`."""
    rows = ledger.find_of_archived(connection, person_id=person_id, archive_id=archive_id)
    return ArchiveHistory(id=archive_id, rows=tuple(rows)) if rows else None


def list_archive_changes(
    connection: Connection, *, person_id: PersonId, turn_id: TurnId
) -> list[LedgerEntry]:
    """List the changes that a turn made, oldest first. Raises `StoreDamaged`."""
    rows = ledger.find_of_turn(connection, person_id=person_id, turn_id=turn_id)
    return [format_archive_change(row) for row in rows]


def explain_archive_entry(
    connection: Connection, history: ArchiveHistory, reader: ExplanationReader
) -> Explanation:
    """Explain an archive entry; see `memory.explanations.explain_archive_entry`."""
    newest = history.rows[-1]
    made_by = _find_maker(history, newest)
    return Explanation(
        name=format_archive_id(history.id),
        words=format_archive_entry(newest.change.after),
        made_by=made_by,
        basis=find_basis(connection, made_by, reader),
        is_forgotten=is_forgotten(newest.change.after, history.rows),
        steps=tuple(
            ChangeStep(number=row.id, row=format_archive_change(row), counts=history.counts(row))
            for row in history.rows
        ),
    )


def format_archive_change(row: LedgerEntry) -> LedgerEntry:
    """Format the entry texts of a change for people."""
    change = replace(
        row.change,
        before=format_archive_entry(row.change.before),
        after=format_archive_entry(row.change.after),
    )
    return replace(row, change=change)


def _find_maker(history: ArchiveHistory, row: LedgerEntry) -> LedgerEntry:
    """Find the row that gave an entry its text; an undo row restores the text of an older row."""
    places = {one.id: place for place, one in enumerate(history.rows)}
    while (place := places.get(row.origin.undoes or 0)) is not None:
        earlier = history.rows[:place]
        row = next((one for one in reversed(earlier) if history.counts(one)), history.rows[place])
    return row
