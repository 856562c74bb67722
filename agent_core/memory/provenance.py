"""Where the words of an entry came from: followed from ledger to ledger, over several people."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from agent_core.ids import AccountId, PersonId, TurnId
from agent_core.memory.changes import Edit, Refusal, plan
from agent_core.memory.entry_history import UNLINK, EntryHistory
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, Target
from agent_core.state.people import people

_TURN = "turn:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """An account that leaves a person. `was` is who it was before it was joined to them, if
    no other account of theirs that was the same person stays.
    """

    account_id: AccountId
    was: PersonId | None


def came_by(
    connection: Connection, person_id: PersonId, row: LedgerEntry, parting: Parting
) -> bool:
    """True if the words of a row came by the account that leaves."""
    actor = row.origin.actor
    if actor.startswith(_TURN):
        turn = turns.find(connection, turn_id=TurnId(int(actor.removeprefix(_TURN))))
        return turn is not None and turn.account_id == parting.account_id
    is_own = row.origin.source_id is None or actor == UNLINK
    if is_own and person_id == parting.was:
        return True
    if row.origin.source_id is None:
        return False
    source = ledger.find_row(connection, entry_id=row.origin.source_id)
    return source is not None and came_by(connection, *source, parting)


def find_account(connection: Connection, row: LedgerEntry) -> AccountId | None:
    """The account that the words of a row came by; None if nobody said them to us."""
    while True:
        actor = row.origin.actor
        if actor.startswith(_TURN):
            turn = turns.find(connection, turn_id=TurnId(int(actor.removeprefix(_TURN))))
            return turn.account_id if turn else None
        source = row.origin.source_id and ledger.find_row(connection, entry_id=row.origin.source_id)
        if not source:
            return None
        row = source[1]


def belongs(connection: Connection, person_id: PersonId, row: LedgerEntry) -> bool:
    """True if the words of a row of a person are still theirs.

    They are not if the account that they came by, or who had them first, has left since.
    """
    mine = {account.id for account in people.list_accounts(connection, person_id=person_id)}
    owner, given_back = person_id, None
    while True:
        actor = row.origin.actor
        if actor.startswith(_TURN):
            turn = turns.find(connection, turn_id=TurnId(int(actor.removeprefix(_TURN))))
            return turn is None or turn.account_id is None or turn.account_id in mine
        if actor == UNLINK and given_back is None:
            given_back = owner
        source = row.origin.source_id and ledger.find_row(connection, entry_id=row.origin.source_id)
        if not source:
            break
        owner, row = source
    owner = owner if given_back is None else given_back
    return owner == person_id or owner in merge_people.list_joined(connection, person_id=person_id)


def find_first(connection: Connection, person_id: PersonId, row: LedgerEntry) -> PersonId:
    """In whose ledger the words of a row stood first; what came back is its person's own."""
    while row.origin.source_id is not None and row.origin.actor != UNLINK:
        source = ledger.find_row(connection, entry_id=row.origin.source_id)
        if source is None:
            break
        person_id, row = source
    return person_id


def find_taken(connection: Connection, rows: Iterable[LedgerEntry]) -> set[int]:
    """The rows of other ledgers that were taken over into a list, and not given back since."""
    taken: set[int] = set()
    history = EntryHistory([])
    for row in rows:
        if row.origin.actor == UNLINK and row.change.operation == "remove":
            given_back = history.current[row.change.position].made_by
            taken -= find_sources(connection, [given_back] if given_back else [])
        else:
            taken |= find_sources(connection, [row])
        history.follow(row)
    return taken


def find_sources(connection: Connection, rows: Iterable[LedgerEntry]) -> set[int]:
    """The rows of other ledgers that these repeat, also over several people."""
    found: set[int] = set()
    for row in rows:
        source_id = row.origin.source_id
        while source_id is not None and source_id not in found:
            found.add(source_id)
            source = ledger.find_row(connection, entry_id=source_id)
            source_id = source[1].origin.source_id if source else None
    return found


def replay(rows: Iterable[LedgerEntry]) -> list[tuple[str, LedgerEntry]]:
    """The entries that stand, each with the row that gave it its words. Raises `StoreDamaged`."""
    return [
        (tracked.words, tracked.made_by)
        for tracked in EntryHistory(rows).current
        if tracked.words is not None and tracked.made_by
    ]


def says(entries: tuple[str, ...], entry: str, target: Target) -> bool:
    """True if the list has an entry that differs in case and spaces only."""
    changes = plan(entries, Edit(action="add", target=target, text=entry), sys.maxsize)
    return isinstance(changes, Refusal) and changes.fault == "known"
