"""A memory as a list to choose from: numbered for good, with who else may see what, and why."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory.entry_history import History, Life
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import LedgerEntry, Target

_TARGETS: tuple[Target, ...] = ("memory", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
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
class Register:
    """Every change of both lists of somebody, by its number; see `Listed`."""

    histories: Mapping[Target, History]
    rows: tuple[LedgerEntry, ...]

    def number_of(self, row: LedgerEntry) -> int:
        """The number of a change."""
        return bisect_left(self.rows, row.id, key=lambda one: one.id) + 1

    def find(self, number: int) -> LedgerEntry | None:
        """The change of a number."""
        return self.rows[number - 1] if 1 <= number <= len(self.rows) else None

    def life_of(self, row: LedgerEntry) -> Life:
        """The entry that a change is about."""
        life = self.histories[row.target].life_of(row.id)
        if life is None:
            raise AssertionError("a register holds its own rows only")
        return life


def open_register(connection: Connection, *, person_id: PersonId) -> Register:
    """All changes of somebody's lists. Raises `StoreDamaged`."""
    rows = {
        target: ledger.find_entries(connection, person_id=person_id, target=target)
        for target in _TARGETS
    }
    return Register(
        histories={target: History(part) for target, part in rows.items()},
        rows=tuple(sorted((row for part in rows.values() for row in part), key=lambda row: row.id)),
    )


def list_entries(connection: Connection, *, person_id: PersonId) -> tuple[Listed, ...]:
    """Both lists of a person, in the order of their files. Raises `StoreDamaged`."""
    register = open_register(connection, person_id=person_id)
    shared = shares.list_of(connection, person_id=person_id)
    return tuple(
        Listed(
            number=register.number_of(life.made_by),
            target=target,
            entry=life.words,
            audiences=tuple(
                share.audience
                for share in shared
                if (share.target, share.entry) == (target, life.words)
            ),
        )
        for target, history in register.histories.items()
        for life in history.standing
        if life.words is not None and life.made_by
    )


def find_standing(register: Register, number: int) -> Life | None:
    """The entry that `Listed` gives this number, if it stands still as it was."""
    row = register.find(number)
    life = register.life_of(row) if row else None
    return life if life and life.made_by == row else None
