"""Within one transaction: the ledger, the files as they were found, and new rows become one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from agent_core.errors import StoreDamaged
from agent_core.ids import PersonId
from agent_core.memory.changes import compare, merge, replay
from agent_core.memory.files import ABSENT, FileText, digest, parse, render
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger, shares
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin, Projection, Target

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryList:
    """One of the lists of one person. `limit` is in characters of its file."""

    person_id: PersonId
    target: Target
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSync:
    """What a transaction came to for one list. `text` is the file to be written, None if it
    stands; `hand_edits` is how many changes by hand were taken in.
    """

    memory_list: MemoryList
    hand_edits: int
    entries: tuple[str, ...]
    projection: Projection
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult(Generic[T]):
    """What a transaction came to: what its work gave, and each list."""

    outcome: T
    lists: tuple[ListSync, ...]


Work = Callable[[Connection, Mapping[MemoryList, tuple[str, ...]]], T]
"""Adds rows to the ledgers of lists, which are given as they stand."""


def find_rows(connection: Connection, memory_list: MemoryList) -> list[LedgerEntry]:
    """Every change of a list, oldest first. Raises `StoreDamaged`."""
    return ledger.find_entries(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )


def replay_rows(rows: Iterable[LedgerEntry]) -> tuple[str, ...]:
    """The list that rows lead to. Raises `StoreDamaged` where one is missing."""
    try:
        return replay(row.change for row in rows)
    except ValueError as error:
        raise StoreDamaged(f"rows are missing from the ledger: {error}") from error


def record(
    connection: Connection, memory_list: MemoryList, change: Change, origin: Origin
) -> LedgerEntry:
    """Add a row to the ledger of a list."""
    return ledger.record(
        connection,
        person_id=memory_list.person_id,
        target=memory_list.target,
        change=change,
        origin=origin,
    )


def find_list(connection: Connection, memory_list: MemoryList) -> tuple[str, ...]:
    """The list as the ledger has it. Raises `StoreDamaged`."""
    return replay_rows(find_rows(connection, memory_list))


def find_if_in_sync(
    connection: Connection, memory_list: MemoryList, seen: FileText
) -> tuple[str, ...] | None:
    """The list, if the file is just what the ledger says; else None. Raises `StoreDamaged`."""
    projection = ledger.find_projection(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )
    if projection is None:
        is_untouched = seen == ABSENT and not find_rows(connection, memory_list)
        return () if is_untouched else None
    if projection.previous is not None or projection.current != seen.hash:
        return None
    return find_list(connection, memory_list)


def sync_lists(
    connection: Connection,
    seen: Sequence[tuple[MemoryList, FileText]],
    work: Work[T],
    now: int,
) -> SyncResult[T]:
    """Take in what was edited by hand, then do the work, and say what files must become.

    A file as it was written last, or before a write that a crash cut off, or no file at all,
    is behind the ledger; any other is somebody's work, and becomes rows of the ledger. An entry
    that is no longer there as it was is shared with nobody any more. Raises `StoreDamaged`.
    """
    taken = [_adopt_hand_edits(connection, memory_list, file, now) for memory_list, file in seen]
    lists = {memory_list: each.entries for (memory_list, _), each in zip(seen, taken, strict=True)}
    outcome = work(connection, lists)
    list_syncs = [
        _finish_list(connection, memory_list, file, each)
        for (memory_list, file), each in zip(seen, taken, strict=True)
    ]
    return SyncResult(outcome=outcome, lists=tuple(list_syncs))


def no_change(_: Connection, __: Mapping[MemoryList, tuple[str, ...]]) -> None:
    """The work of who only looks."""


@dataclass(frozen=True, slots=True)
class _Adopted:
    """A list with what was done by hand, in how many changes, and the row up to which the file
    knows it.
    """

    entries: tuple[str, ...]
    base: int
    hand_edits: int = 0


def _finish_list(
    connection: Connection, memory_list: MemoryList, seen: FileText, taken: _Adopted
) -> ListSync:
    base, entries = taken.base, find_list(connection, memory_list)
    _unshare_changed(connection, memory_list, entries)
    if parse(seen.text) == entries and not seen.is_torn:
        text = None
        projection = Projection(current=seen.hash, previous=None, base=base)
    else:
        text = render(entries)
        projection = Projection(current=digest(text), previous=seen.hash, base=base)
    _save(connection, memory_list, projection)
    return ListSync(
        memory_list=memory_list,
        hand_edits=taken.hand_edits,
        entries=entries,
        projection=projection,
        text=text,
    )


def confirm_written(
    connection: Connection, memory_list: MemoryList, projection: Projection
) -> None:
    """Note that the file has reached the disk, unless another is on its way already."""
    stored = ledger.find_projection(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )
    if stored == projection:
        _save(connection, memory_list, replace(projection, previous=None))


def _adopt_hand_edits(
    connection: Connection, memory_list: MemoryList, seen: FileText, now: int
) -> _Adopted:
    rows = find_rows(connection, memory_list)
    ours = replay_rows(rows)
    projection = ledger.find_projection(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )
    last = rows[-1].id if rows else 0
    if seen == ABSENT or seen.is_torn:
        return _Adopted(ours, 0)
    if projection and seen.hash == projection.current:
        return _Adopted(ours, last)
    if projection and seen.hash == projection.previous:
        return _Adopted(ours, projection.base)
    theirs = parse(seen.text)
    if projection and projection.previous is not None:
        base = replay_rows(row for row in rows if row.id <= projection.base)
        theirs = merge(base, ours, theirs)
    changes = compare(ours, theirs)
    for change in changes:
        last = record(connection, memory_list, change, Origin(actor="hand", now=now)).id
    return _Adopted(theirs, last, len(changes))


def _unshare_changed(
    connection: Connection, memory_list: MemoryList, entries: tuple[str, ...]
) -> None:
    """Make private what was shared in other words than those that stand now."""
    for share in shares.list_of(connection, person_id=memory_list.person_id):
        if share.target == memory_list.target and share.entry not in entries:
            shares.delete(
                connection,
                person_id=memory_list.person_id,
                target=memory_list.target,
                entry=share.entry,
            )


def _save(connection: Connection, memory_list: MemoryList, projection: Projection) -> None:
    ledger.save_projection(
        connection,
        person_id=memory_list.person_id,
        target=memory_list.target,
        projection=projection,
    )
