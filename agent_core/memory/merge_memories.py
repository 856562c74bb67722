"""Merge the memories of linked accounts, and split them again by source account."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.memory import multi_write
from agent_core.memory.edits_within_limits import Edit, Refusal, plan
from agent_core.memory.entry_history import UNLINK
from agent_core.memory.provenance import (
    UnlinkedAccount,
    came_from,
    find_account,
    find_copied,
    find_first_owner,
    find_sources,
    replay,
    says,
)
from agent_core.memory.store import MemoryStore
from agent_core.memory.sync import MemoryList, find_list, record
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import LISTS, LedgerEntry, MemoryTarget, Origin
from agent_core.state.people import people
from agent_core.state.people.people import Person


def merge_memories(
    connection: Connection,
    store: MemoryStore,
    *,
    kept: Person,
    absorbed: Person,
    actor: str,
    now: int,
) -> int:
    """Copy the entries of `absorbed` to the lists of `kept`; return how many did not fit.

    Entries that `kept` already has are skipped. Entries over the limit are left out for now;
    `list_unmerged` finds them. Runs in the caller's transaction. Nobody may use either memory
    meanwhile (see `MemoryStore.is_at_work`). Raises `OSError` if a file is unreadable, and
    `StoreDamaged`.
    """
    for person in (kept, absorbed):
        store.adopt_hand_edits(connection, person.id, person.slug, now)
    for asleep in merge_people.list_absorbed(connection, person_id=absorbed.id):
        for target in LISTS:
            memory_list = multi_write.memory_list(store, asleep, target)
            _drop_forgotten(connection, memory_list, absorbed.id, Origin(actor=actor, now=now))
    return _add_all(connection, store, (kept.id, absorbed.id), actor=actor, now=now)


def merge_rest(
    connection: Connection,
    store: MemoryStore,
    *,
    kept: Person,
    absorbed: PersonId,
    actor: str,
    now: int,
) -> int:
    """Copy the entries that `merge_memories` left out, even over the limits; return how many.

    These lists may then only become shorter, like lists that a person made too long by hand. The
    conditions of `merge_memories` apply.
    """
    store.adopt_hand_edits(connection, kept.id, kept.slug, now)
    left = len(list_unmerged(connection, kept=kept.id, absorbed=[absorbed]))
    still = _add_all(connection, store, (kept.id, absorbed), actor=actor, now=now, is_bounded=False)
    return left - still


def list_unmerged(
    connection: Connection, *, kept: PersonId, absorbed: Sequence[PersonId]
) -> list[str]:
    """List entries of absorbed people that the kept lists never received. Raises `StoreDamaged`."""
    left = (
        entry
        for target in LISTS
        for one in absorbed
        for entry, _ in _find_left(connection, kept=kept, absorbed=one, target=target)
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
    kept, absorbed = pair
    shared = shares.list_of(connection, person_id=absorbed)
    left = 0
    for target in LISTS:
        memory_list = multi_write.memory_list(store, kept, target)
        before = entries = find_list(connection, memory_list)
        limit = memory_list.limit if is_bounded else sys.maxsize
        for entry, row in _find_left(connection, kept=kept, absorbed=absorbed, target=target):
            changes = plan(entries, Edit(action="add", target=target, text=entry), limit)
            if isinstance(changes, Refusal):
                left += changes.fault != "known"
                continue
            origin = multi_write.copy_evidence(Origin(actor=actor, now=now), row)
            record(connection, memory_list, changes[0], origin)
            entries = (*entries, entry)
            multi_write.share(
                connection, kept, [s for s in shared if s.entry == entry], target, origin
            )
        if entries != before:
            multi_write.mark_outdated(connection, memory_list)
    return left


def _find_left(
    connection: Connection, *, kept: PersonId, absorbed: PersonId, target: MemoryTarget
) -> list[tuple[str, LedgerEntry]]:
    """Find present entries of one list that were never copied to the other list.

    A copy of a copy counts as a copy.
    """
    ours = ledger.find_entries(connection, person_id=kept, target=target)
    taken = find_copied(connection, ours)
    known = tuple(entry for entry, _ in replay(ours))
    theirs = ledger.find_entries(connection, person_id=absorbed, target=target)
    return [
        (entry, row)
        for entry, row in replay(theirs)
        if not says(known, entry, target) and not taken & {row.id, *find_sources(connection, [row])}
    ]


def _drop_forgotten(
    connection: Connection, memory_list: MemoryList, kept: PersonId, origin: Origin
) -> None:
    """Remove entries that `kept` copied and later removed, so that they are not offered again."""
    ours = ledger.find_entries(connection, person_id=kept, target=memory_list.target)
    taken = find_copied(connection, ours)
    current = find_sources(connection, [row for _, row in replay(ours)])
    rows = ledger.find_entries(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )
    forgotten = [
        (place, entry)
        for place, (entry, row) in enumerate(replay(rows))
        if row.id in taken and row.id not in current
    ]
    multi_write.remove(connection, memory_list, forgotten, origin)


def split_memory(
    connection: Connection,
    store: MemoryStore,
    *,
    kept: Person,
    back: Person,
    unlinked: UnlinkedAccount,
    now: int,
) -> int:
    """Move the entries of a leaving account back to the lists of `back`; return how many.

    The shares of the entries move along. Entries of `back` that did not fit when that person was
    linked return, too. Entries that others have removed or reworded since do not return. The
    conditions of `merge_memories` apply.
    """
    for person in (kept, back):
        store.adopt_hand_edits(connection, person.id, person.slug, now)
    asleep = [
        one for one in merge_people.list_absorbed(connection, person_id=kept.id) if one != back.id
    ]
    moved = 0
    for target in LISTS:
        cut = _Cut(unlinked, target, now)
        ours = ledger.find_entries(connection, person_id=kept.id, target=target)
        taken = find_copied(connection, ours)
        moved += _divide_list(connection, store, kept.id, back.id, cut)
        for person_id in asleep:
            memory_list, home = (
                multi_write.memory_list(store, person_id, target),
                multi_write.memory_list(store, back.id, target),
            )
            _call_back(connection, memory_list, home, cut, taken)
    return moved


@dataclass(frozen=True, slots=True)
class _Cut:
    unlinked: UnlinkedAccount
    target: MemoryTarget
    now: int


def _divide_list(
    connection: Connection, store: MemoryStore, kept: PersonId, back: PersonId, cut: _Cut
) -> int:
    ours = ledger.find_entries(connection, person_id=kept, target=cut.target)
    theirs = ledger.find_entries(connection, person_id=back, target=cut.target)
    current = replay(ours)
    leaving = [
        (place, entry, row)
        for place, (entry, row) in enumerate(current)
        if came_from(connection, kept, row, cut.unlinked)
    ]
    taken = find_copied(connection, ours)
    returning = find_sources(connection, [row for _, _, row in leaving])
    origin = Origin(actor=UNLINK, now=cut.now)

    memory_list = multi_write.memory_list(store, back, cut.target)
    their_entries = replay(theirs)
    dropped = [
        (place, entry)
        for place, (entry, row) in enumerate(their_entries)
        if row.id not in returning
        and (row.id in taken or find_first_owner(connection, back, row) != back)
    ]
    staying = _find_staying(connection, kept, their_entries, taken | returning, cut)
    staying = [one for one in staying if one[:2] not in dropped]
    dropped = sorted([*dropped, *(one[:2] for one in staying)])
    multi_write.remove(connection, memory_list, dropped, origin)
    there = {row.id for _, row in their_entries}
    for _, entry, row in leaving:
        if not there & find_sources(connection, [row]):
            multi_write.append(connection, memory_list, entry, origin, row)
    if dropped or leaving:
        multi_write.mark_outdated(connection, memory_list)

    memory_list = multi_write.memory_list(store, kept, cut.target)
    multi_write.remove(
        connection, memory_list, [(place, entry) for place, entry, _ in leaving], origin
    )
    for _, entry, row in staying:
        multi_write.append(connection, memory_list, entry, origin, row)
    if leaving or staying:
        multi_write.mark_outdated(connection, memory_list)
    for _, entry, _ in leaving:
        multi_write.move_shares(connection, kept, back, entry, cut.target, origin)
    return len(leaving)


def _find_staying(
    connection: Connection,
    kept: PersonId,
    their_entries: list[tuple[str, LedgerEntry]],
    known: set[int],
    cut: _Cut,
) -> list[tuple[int, str, LedgerEntry]]:
    """Find entries of the leaving person that came from accounts that stay.

    They did not fit when the two were linked. Now they move to the kept list, even over its limit.
    """
    others = {account.id for account in people.list_accounts(connection, person_id=kept)}
    others -= {cut.unlinked.account_id}
    return [
        (place, entry, row)
        for place, (entry, row) in enumerate(their_entries)
        if row.id not in known and find_account(connection, row) in others
    ]


def _call_back(
    connection: Connection, memory_list: MemoryList, home: MemoryList, cut: _Cut, taken: set[int]
) -> None:
    """Move entries of a leaving account out of the list of another absorbed person.

    Those that were never copied to the kept list return to their own list.
    """
    rows = ledger.find_entries(connection, person_id=memory_list.person_id, target=cut.target)
    leaving = [
        (place, entry, row)
        for place, (entry, row) in enumerate(replay(rows))
        if came_from(connection, memory_list.person_id, row, cut.unlinked)
    ]
    origin = Origin(actor=UNLINK, now=cut.now)
    multi_write.remove(
        connection, memory_list, [(place, entry) for place, entry, _ in leaving], origin
    )
    for _, entry, row in leaving:
        if not taken & {row.id, *find_sources(connection, [row])}:
            multi_write.append(connection, home, entry, origin, row)
