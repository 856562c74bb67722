"""The origin of an entry's text, followed through the ledgers of several people."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from agent_core.ids import AccountId, PersonId, TurnId
from agent_core.memory.edits_within_limits import Edit, Refusal, plan
from agent_core.memory.entry_history import UNLINK, EntryHistory
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people
from agent_core.state.memory import evidence, ledger
from agent_core.state.memory.ledger import LedgerEntry, MemoryTarget
from agent_core.state.people import people

_TURN, _REVIEW = "turn:", "review:"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlinkedAccount:
    """An account that leaves a person.

    `was` is the person whom it belonged to before it was linked; None if another account of that
    person stays.
    """

    account_id: AccountId
    was: PersonId | None


def came_from(
    connection: Connection, person_id: PersonId, row: LedgerEntry, unlinked: UnlinkedAccount
) -> bool:
    """True if the text of a row came from the leaving account."""
    actor = row.origin.actor
    accounts = _list_accounts(connection, row)
    if accounts is not None:
        return accounts == {unlinked.account_id}
    is_own = row.origin.source_id is None or actor == UNLINK
    if is_own and person_id == unlinked.was:
        return True
    if row.origin.source_id is None:
        return False
    source = ledger.find_row(connection, entry_id=row.origin.source_id)
    return source is not None and came_from(connection, *source, unlinked)


def find_account(connection: Connection, row: LedgerEntry) -> AccountId | None:
    """Find the account that the text of a row came from; None if it did not come from a message."""
    while True:
        accounts = _list_accounts(connection, row)
        if accounts is not None:
            return next(iter(accounts)) if len(accounts) == 1 else None
        source = row.origin.source_id and ledger.find_row(connection, entry_id=row.origin.source_id)
        if not source:
            return None
        row = source[1]


def still_belongs(connection: Connection, person_id: PersonId, row: LedgerEntry) -> bool:
    """True if the text of a row still belongs to the person.

    It does not if the account that it came from, or its first owner, has left.
    """
    mine = {account.id for account in people.list_accounts(connection, person_id=person_id)}
    owner, given_back = person_id, None
    while True:
        accounts = _list_accounts(connection, row)
        if accounts is not None:
            return not accounts or None in accounts or not mine.isdisjoint(accounts)
        if row.origin.actor == UNLINK and given_back is None:
            given_back = owner
        source = row.origin.source_id and ledger.find_row(connection, entry_id=row.origin.source_id)
        if not source:
            break
        owner, row = source
    owner = owner if given_back is None else given_back
    return owner == person_id or owner in merge_people.list_absorbed(
        connection, person_id=person_id
    )


def _list_accounts(connection: Connection, row: LedgerEntry) -> set[AccountId | None] | None:
    """List the accounts whose words a turn or a review wrote down; None for other changes."""
    actor = row.origin.actor
    if actor.startswith(_TURN):
        turn = turns.find(connection, turn_id=TurnId(int(actor.removeprefix(_TURN))))
        return {turn.account_id} if turn else set()
    if actor.startswith(_REVIEW):
        return evidence.list_accounts(connection, message_ids=row.origin.message_ids)
    return None


def find_first_owner(connection: Connection, person_id: PersonId, row: LedgerEntry) -> PersonId:
    """Find the first owner of a row's text.

    A copy that was returned when an account was unlinked counts as an original.
    """
    while row.origin.source_id is not None and row.origin.actor != UNLINK:
        source = ledger.find_row(connection, entry_id=row.origin.source_id)
        if source is None:
            break
        person_id, row = source
    return person_id


def find_copied(connection: Connection, rows: Iterable[LedgerEntry]) -> set[int]:
    """Collect the rows of other ledgers that a list copied and has not returned."""
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


def trace_row(connection: Connection, row: LedgerEntry) -> list[LedgerEntry]:
    """Return a row and the rows of other ledgers that it repeats. Raises `StoreDamaged`."""
    found = [row]
    while (source_id := found[-1].origin.source_id) is not None:
        source = ledger.find_row(connection, entry_id=source_id)
        if source is None or source[1] in found:
            break
        found.append(source[1])
    return found


def find_sources(connection: Connection, rows: Iterable[LedgerEntry]) -> set[int]:
    """Collect the rows of other ledgers that these rows copy, directly or indirectly."""
    found: set[int] = set()
    for row in rows:
        source_id = row.origin.source_id
        while source_id is not None and source_id not in found:
            found.add(source_id)
            source = ledger.find_row(connection, entry_id=source_id)
            source_id = source[1].origin.source_id if source else None
    return found


def replay(rows: Iterable[LedgerEntry]) -> list[tuple[str, LedgerEntry]]:
    """List the present entries, each with the row that made its text. Raises `StoreDamaged`."""
    return [
        (tracked.words, tracked.made_by)
        for tracked in EntryHistory(rows).current
        if tracked.words is not None and tracked.made_by
    ]


def says(entries: tuple[str, ...], entry: str, target: MemoryTarget) -> bool:
    """True if the list has this entry; case and spaces are ignored."""
    changes = plan(entries, Edit(action="add", target=target, text=entry), sys.maxsize)
    return isinstance(changes, Refusal) and changes.fault == "known"
