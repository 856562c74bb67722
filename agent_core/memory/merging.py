"""Makes one memory of two, and two of one again, by where each entry came from."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent_core.ids import AccountId, PersonId, TurnId
from agent_core.memory.changes import Edit, Refusal, plan
from agent_core.memory.entries import render
from agent_core.memory.files import digest
from agent_core.memory.reconcile import Shelf, find_list
from agent_core.memory.store import MemoryStore
from agent_core.state import ledger, shares, turns
from agent_core.state.database import Connection
from agent_core.state.ledger import Change, LedgerEntry, Origin, Target
from agent_core.state.people import Person
from agent_core.state.shares import Share

_TARGETS: tuple[Target, ...] = ("memory", "user")
_TURN = "turn:"
_UNLINK = "unlink"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """An account that leaves a person. `was` is who it was before it was joined to them, if
    no other account of theirs that was the same person stays.
    """

    account_id: AccountId
    was: PersonId | None


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
    left = len(list_left(connection, keeper=keeper.id, gone=gone))
    still = _add_all(connection, store, (keeper.id, gone), actor=actor, now=now, is_bounded=False)
    return left - still


def list_left(connection: Connection, *, keeper: PersonId, gone: PersonId) -> list[str]:
    """Entries of `gone` that the keeper's lists never took over. Raises `StoreDamaged`."""
    return [
        entry
        for target in _TARGETS
        for entry, _ in _find_left(connection, keeper=keeper, gone=gone, target=target)
    ]


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
    return sum(
        _divide_list(connection, store, keeper.id, back.id, _Cut(parting, target, now))
        for target in _TARGETS
    )


@dataclass(frozen=True, slots=True)
class _Cut:
    parting: Parting
    target: Target
    now: int


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
    for target in _TARGETS:
        shelf = _shelf(store, keeper, target)
        before = entries = find_list(connection, shelf)
        limit = shelf.limit if is_bounded else sys.maxsize
        for entry, row in _find_left(connection, keeper=keeper, gone=gone, target=target):
            change = plan(entries, Edit(action="add", target=target, text=entry), limit)
            if isinstance(change, Refusal):
                left += change.fault != "known"
                continue
            origin = Origin(actor=actor, evidence=row.origin.evidence, now=now)
            _record(connection, shelf, change, origin, source_id=row.id)
            entries = (*entries, entry)
            _share(connection, keeper, [s for s in shared if s.entry == entry], target, origin)
        if entries != before:
            _make_stale(connection, shelf)
    return left


def _find_left(
    connection: Connection, *, keeper: PersonId, gone: PersonId, target: Target
) -> list[tuple[str, LedgerEntry]]:
    """Entries that stand in one list, and were never taken over into the other."""
    ours = ledger.find_entries(connection, person_id=keeper, target=target)
    taken = _find_taken(connection, ours)
    known = tuple(entry for entry, _ in _replay(ours))
    theirs = ledger.find_entries(connection, person_id=gone, target=target)
    return [
        (entry, row)
        for entry, row in _replay(theirs)
        if row.id not in taken and not _says(known, entry, target)
    ]


def _divide_list(
    connection: Connection, store: MemoryStore, keeper: PersonId, back: PersonId, cut: _Cut
) -> int:
    ours = ledger.find_entries(connection, person_id=keeper, target=cut.target)
    theirs = ledger.find_entries(connection, person_id=back, target=cut.target)
    standing = _replay(ours)
    leaving = [
        (place, entry, row)
        for place, (entry, row) in enumerate(standing)
        if _came_by(connection, keeper, row, cut.parting)
    ]
    taken = _find_taken(connection, ours)
    returning = _find_sources(connection, [row for _, _, row in leaving])
    origin = Origin(actor=_UNLINK, now=cut.now)

    shelf = _shelf(store, back, cut.target)
    kept = _replay(theirs)
    gone = [
        (place, entry)
        for place, (entry, row) in enumerate(kept)
        if row.id in taken and row.id not in returning
    ]
    _remove(connection, shelf, gone, origin)
    there = {row.id for _, row in kept}
    for _, entry, row in leaving:
        if not there & _find_sources(connection, [row]):
            _append(connection, shelf, entry, replace(origin, evidence=row.origin.evidence), row)
    if gone or leaving:
        _make_stale(connection, shelf)

    shelf = _shelf(store, keeper, cut.target)
    _remove(connection, shelf, [(place, entry) for place, entry, _ in leaving], origin)
    if leaving:
        _make_stale(connection, shelf)
    for _, entry, _ in leaving:
        _move_shares(connection, keeper, back, entry, cut.target, origin)
    return len(leaving)


def _came_by(
    connection: Connection, person_id: PersonId, row: LedgerEntry, parting: Parting
) -> bool:
    """True if the words of a row came by the account that leaves."""
    actor = row.origin.actor
    if actor.startswith(_TURN):
        turn = turns.find(connection, turn_id=TurnId(int(actor.removeprefix(_TURN))))
        return turn is not None and turn.account_id == parting.account_id
    if row.source_id is not None:
        source = ledger.find_row(connection, entry_id=row.source_id)
        return source is not None and _came_by(connection, *source, parting)
    return person_id == parting.was


def _find_taken(connection: Connection, rows: Iterable[LedgerEntry]) -> set[int]:
    """The rows of other ledgers that were taken over into a list, and not given back since."""
    taken: set[int] = set()
    standing: list[tuple[str, LedgerEntry]] = []
    for row in rows:
        if row.origin.actor == _UNLINK and row.change.operation == "remove":
            taken -= _find_sources(connection, [standing[row.change.position][1]])
        else:
            taken |= _find_sources(connection, [row])
        _apply(standing, row)
    return taken


def _find_sources(connection: Connection, rows: Iterable[LedgerEntry]) -> set[int]:
    """The rows of other ledgers that these repeat, also over several people."""
    found: set[int] = set()
    for row in rows:
        source_id = row.source_id
        while source_id is not None and source_id not in found:
            found.add(source_id)
            source = ledger.find_row(connection, entry_id=source_id)
            source_id = source[1].source_id if source else None
    return found


def _replay(rows: Iterable[LedgerEntry]) -> list[tuple[str, LedgerEntry]]:
    """The entries that stand, each with the row that gave it its words.

    The rows of `find_entries` fit each other: `find_list` has said so before.
    """
    standing: list[tuple[str, LedgerEntry]] = []
    for row in rows:
        _apply(standing, row)
    return standing


def _apply(standing: list[tuple[str, LedgerEntry]], row: LedgerEntry) -> None:
    change = row.change
    end = change.position + (change.operation != "add")
    standing[change.position : end] = [] if change.after is None else [(change.after, row)]


def _says(entries: tuple[str, ...], entry: str, target: Target) -> bool:
    """True if the list has an entry that differs in case and spaces only."""
    change = plan(entries, Edit(action="add", target=target, text=entry), sys.maxsize)
    return isinstance(change, Refusal) and change.fault == "known"


def _append(
    connection: Connection, shelf: Shelf, entry: str, origin: Origin, source: LedgerEntry
) -> None:
    entries = find_list(connection, shelf)
    if not _says(entries, entry, shelf.target):
        change = Change(operation="add", position=len(entries), before=None, after=entry)
        _record(connection, shelf, change, origin, source_id=source.id)


def _remove(
    connection: Connection, shelf: Shelf, places: list[tuple[int, str]], origin: Origin
) -> None:
    """Take entries out of a list, the last one first, so that the places stay right."""
    for place, entry in reversed(places):
        change = Change(operation="remove", position=place, before=entry, after=None)
        _record(connection, shelf, change, origin)


def _record(
    connection: Connection,
    shelf: Shelf,
    change: Change,
    origin: Origin,
    source_id: int | None = None,
) -> None:
    ledger.record(
        connection,
        person_id=shelf.person_id,
        target=shelf.target,
        change=change,
        origin=origin,
        source_id=source_id,
    )


def _share(
    connection: Connection, person_id: PersonId, like: list[Share], target: Target, origin: Origin
) -> None:
    for share in like:
        if share.target == target:
            shares.insert(
                connection, share, person_id=person_id, actor=origin.actor, now=origin.now
            )


def _move_shares(
    connection: Connection,
    keeper: PersonId,
    back: PersonId,
    entry: str,
    target: Target,
    origin: Origin,
) -> None:
    """Who may see an entry is what was decided last, wherever the entry goes."""
    like = [s for s in shares.list_of(connection, person_id=keeper) if s.entry == entry]
    shares.delete(connection, person_id=back, target=target, entry=entry)
    _share(connection, back, like, target, origin)
    shares.delete(connection, person_id=keeper, target=target, entry=entry)


def _make_stale(connection: Connection, shelf: Shelf) -> None:
    """Let the file be written anew at the next look, for the ledger has moved on.

    What lies there is what `take_in` has just seen.
    """
    stored = ledger.find_projection(connection, person_id=shelf.person_id, target=shelf.target)
    current = digest(render(find_list(connection, shelf)))
    if stored is None or stored.current == current:
        return
    previous = stored.current if stored.previous is None else stored.previous
    projection = replace(stored, current=current, previous=previous)
    ledger.save_projection(
        connection, person_id=shelf.person_id, target=shelf.target, projection=projection
    )


def _shelf(store: MemoryStore, person_id: PersonId, target: Target) -> Shelf:
    return Shelf(person_id=person_id, target=target, limit=store.limits.of(target))
