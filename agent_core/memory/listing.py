"""A person's memory as a list to choose from: numbered for good, with who else may see what."""

from dataclasses import dataclass

from agent_core.errors import StoreDamaged
from agent_core.ids import PersonId
from agent_core.state import ledger, shares
from agent_core.state.database import Connection
from agent_core.state.ledger import LedgerEntry, Target

_TARGETS: tuple[Target, ...] = ("memory", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One entry. `audiences` are those of its shares, none if it is private.

    `number` counts the person's changes up to the one that gave the entry its words. So it never
    comes to mean another entry, whatever is added, changed or dropped between looking at the
    list and choosing from it.
    """

    number: int
    target: Target
    entry: str
    audiences: tuple[str, ...]


def list_entries(connection: Connection, *, person_id: PersonId) -> tuple[Listed, ...]:
    """Both lists of a person, in the order of their files. Raises `StoreDamaged`."""
    rows = {
        target: ledger.find_entries(connection, person_id=person_id, target=target)
        for target in _TARGETS
    }
    in_order = sorted(row.id for part in rows.values() for row in part)
    numbers = {row_id: number for number, row_id in enumerate(in_order, start=1)}
    shared = shares.list_of(connection, person_id=person_id)
    return tuple(
        Listed(
            number=numbers[row_id],
            target=target,
            entry=entry,
            audiences=tuple(
                share.audience for share in shared if (share.target, share.entry) == (target, entry)
            ),
        )
        for target in _TARGETS
        for row_id, entry in _replay(rows[target])
    )


def _replay(rows: list[LedgerEntry]) -> list[tuple[int, str]]:
    """The entries as the rows leave them, each with the row that gave it its words."""
    entries: list[tuple[int, str]] = []
    for row in rows:
        change = row.change
        new = [] if change.after is None else [(row.id, change.after)]
        width = 0 if change.operation == "add" else 1
        place = change.position
        if len(entries) < place + width:
            raise StoreDamaged("rows are missing from the ledger")
        entries[place : place + width] = new
    return entries
