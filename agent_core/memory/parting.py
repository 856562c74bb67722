"""Makes two memories of one again, by the account that each entry came from."""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory import rewriting
from agent_core.memory.history import UNLINK
from agent_core.memory.lineage import (
    Parting,
    came_by,
    find_account,
    find_first,
    find_sources,
    find_taken,
    replay,
)
from agent_core.memory.reconcile import Shelf
from agent_core.memory.rewriting import TARGETS
from agent_core.memory.store import MemoryStore
from agent_core.state import joining, ledger, people
from agent_core.state.database import Connection
from agent_core.state.ledger import LedgerEntry, Origin, Target
from agent_core.state.people import Person


def divide(
    connection: Connection,
    store: MemoryStore,
    *,
    keeper: Person,
    back: Person,
    parting: Parting,
    now: int,
) -> int:
    """Take out of the keeper's lists what came by an account that leaves; how many entries.

    They stand in the lists of `back` afterwards, with whom they are shared; so does what was
    left out of the keeper's lists when `back` was joined to them. What was forgotten or
    reworded by others since does not come back. Conditions as for `merge`.
    """
    for person in (keeper, back):
        store.take_in(connection, person.id, person.slug, now)
    asleep = [one for one in joining.list_joined(connection, person_id=keeper.id) if one != back.id]
    moved = 0
    for target in TARGETS:
        cut = _Cut(parting, target, now)
        ours = ledger.find_entries(connection, person_id=keeper.id, target=target)
        taken = find_taken(connection, ours)
        moved += _divide_list(connection, store, keeper.id, back.id, cut)
        for person_id in asleep:
            shelf, home = (
                rewriting.shelf(store, person_id, target),
                rewriting.shelf(store, back.id, target),
            )
            _call_back(connection, shelf, home, cut, taken)
    return moved


@dataclass(frozen=True, slots=True)
class _Cut:
    parting: Parting
    target: Target
    now: int


def _divide_list(
    connection: Connection, store: MemoryStore, keeper: PersonId, back: PersonId, cut: _Cut
) -> int:
    ours = ledger.find_entries(connection, person_id=keeper, target=cut.target)
    theirs = ledger.find_entries(connection, person_id=back, target=cut.target)
    standing = replay(ours)
    leaving = [
        (place, entry, row)
        for place, (entry, row) in enumerate(standing)
        if came_by(connection, keeper, row, cut.parting)
    ]
    taken = find_taken(connection, ours)
    returning = find_sources(connection, [row for _, _, row in leaving])
    origin = Origin(actor=UNLINK, now=cut.now)

    shelf = rewriting.shelf(store, back, cut.target)
    kept = replay(theirs)
    gone = [
        (place, entry)
        for place, (entry, row) in enumerate(kept)
        if row.id not in returning
        and (row.id in taken or find_first(connection, back, row) != back)
    ]
    staying = _find_staying(connection, keeper, kept, taken | returning, cut)
    staying = [one for one in staying if one[:2] not in gone]
    gone = sorted([*gone, *(one[:2] for one in staying)])
    rewriting.remove(connection, shelf, gone, origin)
    there = {row.id for _, row in kept}
    for _, entry, row in leaving:
        if not there & find_sources(connection, [row]):
            rewriting.append(connection, shelf, entry, origin, row)
    if gone or leaving:
        rewriting.make_stale(connection, shelf)

    shelf = rewriting.shelf(store, keeper, cut.target)
    rewriting.remove(connection, shelf, [(place, entry) for place, entry, _ in leaving], origin)
    for _, entry, row in staying:
        rewriting.append(connection, shelf, entry, origin, row)
    if leaving or staying:
        rewriting.make_stale(connection, shelf)
    for _, entry, _ in leaving:
        rewriting.move_shares(connection, keeper, back, entry, cut.target, origin)
    return len(leaving)


def _find_staying(
    connection: Connection,
    keeper: PersonId,
    kept: list[tuple[str, LedgerEntry]],
    known: set[int],
    cut: _Cut,
) -> list[tuple[int, str, LedgerEntry]]:
    """What waits in the list of who leaves, and came by accounts that stay: it did not fit into
    the keeper's when the two were joined, and goes there now whatever the limit.
    """
    others = {account.id for account in people.list_accounts(connection, person_id=keeper)}
    others -= {cut.parting.account_id}
    return [
        (place, entry, row)
        for place, (entry, row) in enumerate(kept)
        if row.id not in known and find_account(connection, row) in others
    ]


def _call_back(
    connection: Connection, shelf: Shelf, home: Shelf, cut: _Cut, taken: set[int]
) -> None:
    """What leaves with an account does not wait in the list of somebody else who is joined.

    What of it was left out of the keeper's list goes home.
    """
    rows = ledger.find_entries(connection, person_id=shelf.person_id, target=cut.target)
    leaving = [
        (place, entry, row)
        for place, (entry, row) in enumerate(replay(rows))
        if came_by(connection, shelf.person_id, row, cut.parting)
    ]
    origin = Origin(actor=UNLINK, now=cut.now)
    rewriting.remove(connection, shelf, [(place, entry) for place, entry, _ in leaving], origin)
    for _, entry, row in leaving:
        if not taken & {row.id, *find_sources(connection, [row])}:
            rewriting.append(connection, home, entry, origin, row)
