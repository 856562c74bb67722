"""Makes one memory of two: entry by entry, each with the row that it came from."""

import sys
from collections.abc import Sequence

from agent_core.ids import PersonId
from agent_core.memory import rewriting
from agent_core.memory.changes import Edit, Refusal, plan
from agent_core.memory.lineage import find_sources, find_taken, replay, says
from agent_core.memory.reconcile import Shelf, find_list, record
from agent_core.memory.rewriting import TARGETS
from agent_core.memory.store import MemoryStore
from agent_core.state import joining, ledger, shares
from agent_core.state.database import Connection
from agent_core.state.ledger import LedgerEntry, Origin, Target
from agent_core.state.people import Person


def merge(
    connection: Connection,
    store: MemoryStore,
    *,
    keeper: Person,
    gone: Person,
    actor: str,
    now: int,
) -> int:
    """Add what is remembered of `gone` to the keeper's lists, entry by entry.

    What the keeper's list says already is not added twice. An entry that would take a list
    over its limit is left out for now; how many are is returned, and `list_left` finds them.
    Runs in the caller's transaction; nobody may be at work on either memory meanwhile (see
    `MemoryStore.is_at_work`). Raises `OSError` if a file of theirs can't be read, and
    `StoreDamaged`.
    """
    for person in (keeper, gone):
        store.take_in(connection, person.id, person.slug, now)
    for asleep in joining.list_joined(connection, person_id=gone.id):
        for target in TARGETS:
            shelf = rewriting.shelf(store, asleep, target)
            _drop_forgotten(connection, shelf, gone.id, Origin(actor=actor, now=now))
    return _add_all(connection, store, (keeper.id, gone.id), actor=actor, now=now)


def take_rest(
    connection: Connection,
    store: MemoryStore,
    *,
    keeper: Person,
    gone: PersonId,
    actor: str,
    now: int,
) -> int:
    """Add what was left out, over the limits if need be; how many entries were added.

    Such lists may only become shorter, like those that a person made too long by hand.
    Conditions as for `merge`.
    """
    store.take_in(connection, keeper.id, keeper.slug, now)
    left = len(list_left(connection, keeper=keeper.id, gone=[gone]))
    still = _add_all(connection, store, (keeper.id, gone), actor=actor, now=now, is_bounded=False)
    return left - still


def list_left(connection: Connection, *, keeper: PersonId, gone: Sequence[PersonId]) -> list[str]:
    """Entries of others that the keeper's lists never took over. Raises `StoreDamaged`."""
    left = (
        entry
        for target in TARGETS
        for one in gone
        for entry, _ in _find_left(connection, keeper=keeper, gone=one, target=target)
    )
    return list(dict.fromkeys(left))


def _add_all(
    connection: Connection,
    store: MemoryStore,
    pair: tuple[PersonId, PersonId],
    *,
    actor: str,
    now: int,
    is_bounded: bool = True,
) -> int:
    keeper, gone = pair
    shared = shares.list_of(connection, person_id=gone)
    left = 0
    for target in TARGETS:
        shelf = rewriting.shelf(store, keeper, target)
        before = entries = find_list(connection, shelf)
        limit = shelf.limit if is_bounded else sys.maxsize
        for entry, row in _find_left(connection, keeper=keeper, gone=gone, target=target):
            changes = plan(entries, Edit(action="add", target=target, text=entry), limit)
            if isinstance(changes, Refusal):
                left += changes.fault != "known"
                continue
            origin = rewriting.repeat(Origin(actor=actor, now=now), row)
            record(connection, shelf, changes[0], origin)
            entries = (*entries, entry)
            rewriting.share(
                connection, keeper, [s for s in shared if s.entry == entry], target, origin
            )
        if entries != before:
            rewriting.make_stale(connection, shelf)
    return left


def _find_left(
    connection: Connection, *, keeper: PersonId, gone: PersonId, target: Target
) -> list[tuple[str, LedgerEntry]]:
    """Entries that stand in one list, and were never taken over into the other, by whatever way."""
    ours = ledger.find_entries(connection, person_id=keeper, target=target)
    taken = find_taken(connection, ours)
    known = tuple(entry for entry, _ in replay(ours))
    theirs = ledger.find_entries(connection, person_id=gone, target=target)
    return [
        (entry, row)
        for entry, row in replay(theirs)
        if not says(known, entry, target) and not taken & {row.id, *find_sources(connection, [row])}
    ]


def _drop_forgotten(connection: Connection, shelf: Shelf, keeper: PersonId, origin: Origin) -> None:
    """What a keeper took over and dropped or reworded is not offered to the next one."""
    ours = ledger.find_entries(connection, person_id=keeper, target=shelf.target)
    taken = find_taken(connection, ours)
    standing = find_sources(connection, [row for _, row in replay(ours)])
    rows = ledger.find_entries(connection, person_id=shelf.person_id, target=shelf.target)
    forgotten = [
        (place, entry)
        for place, (entry, row) in enumerate(replay(rows))
        if row.id in taken and row.id not in standing
    ]
    rewriting.remove(connection, shelf, forgotten, origin)
