"""Synchronisation of the ledger with its files: within one transaction, and for all memories."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from agent_core.errors import StoreDamaged, StoreError
from agent_core.ids import PersonId
from agent_core.memory.entry_history import EntryHistory
from agent_core.memory.files import ABSENT, FileText, hash_text, parse, render, size
from agent_core.memory.list_changes import compare, merge, replay
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, ledger, memory_owners, shares
from agent_core.state.memory.ledger import Change, LedgerEntry, MemoryTarget, Origin, Projection
from agent_core.state.memory.memory_owners import StoredOwner
from agent_core.state.queues import tasks
from agent_core.state.queues.tasks import Task

if TYPE_CHECKING:
    from agent_core.memory.store import MemoryStore

_log = logging.getLogger(__name__)
_OWNERS_PER_READ = 100

GROWTH_TASK = "growth"
"""The kind of the task that checks a list's size after a hand edit; see `find_oversize`."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryList:
    """A list of a memory owner. `limit` is in characters of its file."""

    person_id: PersonId
    target: MemoryTarget
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSync:
    """The result of a transaction for one list.

    `text` is the new content of the file, None if the file is current. `hand_edits` counts the
    adopted changes.
    """

    memory_list: MemoryList
    hand_edits: int
    entries: tuple[str, ...]
    projection: Projection
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult(Generic[T]):
    """The result of a transaction: the outcome of its work, and each list."""

    outcome: T
    lists: tuple[ListSync, ...]


LimitOf = Callable[[MemoryTarget], int]
SyncWork = Callable[[Connection, Mapping[MemoryList, tuple[str, ...]]], T]
"""A function that adds rows to the ledgers of the given lists."""


def find_rows(connection: Connection, memory_list: MemoryList) -> list[LedgerEntry]:
    """List every change of a list, oldest first. Raises `StoreDamaged`."""
    return ledger.find_entries(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )


def replay_rows(rows: Iterable[LedgerEntry]) -> tuple[str, ...]:
    """Rebuild a list from its rows. Raises `StoreDamaged` if one is missing."""
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
    """Rebuild a list from its ledger. Raises `StoreDamaged`."""
    return replay_rows(find_rows(connection, memory_list))


def find_bound(connection: Connection, memory_list: MemoryList) -> int:
    """Return the most characters of a list that a prompt shows. Raises `StoreDamaged`.

    That is the list's limit, or the size of the entries that nobody wrote by hand, if it is larger:
    a person may keep all notes of two linked accounts.
    """
    accepted = (
        tracked.words
        for tracked in EntryHistory(find_rows(connection, memory_list)).current
        if tracked.words is not None and tracked.made_by and tracked.made_by.origin.actor != "hand"
    )
    return max(memory_list.limit, size(tuple(accepted)))


def find_if_in_sync(
    connection: Connection, memory_list: MemoryList, seen: FileText
) -> tuple[str, ...] | None:
    """Return the list if its file matches the ledger, else None. Raises `StoreDamaged`."""
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
    work: SyncWork[T],
    now: int,
) -> SyncResult[T]:
    """Adopt hand edits, run the work, and compute the new content of the files.

    A file is outdated if it holds the last written text, the text before an interrupted write,
    or nothing. Any other content is a hand edit and becomes ledger rows. Shares of entries that
    no longer exist are removed. Raises `StoreDamaged`.
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
    """Do nothing; the work of a pure read."""


@dataclass(frozen=True, slots=True)
class _Adopted:
    """A list after its hand edits, and their number; `base` and `on_disk` as in `Projection`."""

    entries: tuple[str, ...]
    base: int
    on_disk: str | None = None
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
        projection = Projection(
            current=hash_text(text), previous=seen.hash, base=base, on_disk=taken.on_disk
        )
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
    """Record that the file is on the disk, unless a newer write has begun."""
    stored = ledger.find_projection(
        connection, person_id=memory_list.person_id, target=memory_list.target
    )
    if stored == projection:
        _save(connection, memory_list, replace(projection, previous=None, on_disk=None))


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
        return _Adopted(ours, projection.base, projection.on_disk)
    theirs, on_disk = parse(seen.text), None
    if projection and projection.previous is not None:
        if projection.on_disk is None:
            base = _hash_all(replay_rows(row for row in rows if row.id <= projection.base))
        else:
            base = tuple(projection.on_disk.split())
        hashes = _hash_all(theirs)
        texts = dict(zip(_hash_all(ours) + hashes, ours + theirs, strict=True))
        on_disk = " ".join(hashes)
        theirs = tuple(texts[one] for one in merge(base, _hash_all(ours), hashes))
    changes = compare(ours, theirs)
    for change in changes:
        last = record(connection, memory_list, change, Origin(actor="hand", now=now)).id
    if size(theirs) > size(ours):
        payload = json.dumps([last, size(ours)])
        tasks.enqueue(
            connection,
            kind=GROWTH_TASK,
            key=str(last),
            person_id=memory_list.person_id,
            payload=payload,
            now=now,
        )
    return _Adopted(theirs, last, on_disk, len(changes))


def _hash_all(entries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(hash_text, entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class Oversize:
    """A list that a hand edit made larger than its limit. Sizes are in characters."""

    owner: StoredOwner
    target: MemoryTarget
    size: int
    limit: int


def find_oversize(connection: Connection, task: Task, limit_of: LimitOf) -> Oversize | None:
    """Find the list of a `GROWTH_TASK`, if its hand edit exceeded the limit and it still does.

    Raises `StoreDamaged`.
    """
    row_id, before = json.loads(task.payload)
    found = ledger.find_row(connection, entry_id=row_id)
    owner = found and memory_owners.find(connection, person_id=found[0])
    if not found or not owner:
        return None
    target = found[1].target
    block_limits = {one.person_id: one.limit for one in blocks.list_all(connection)}
    limit = block_limits.get(owner.person_id, limit_of(target))
    memory_list = MemoryList(person_id=owner.person_id, target=target, limit=limit)
    used = size(find_list(connection, memory_list))
    if not before <= limit < used:
        return None
    return Oversize(owner=owner, target=target, size=used, limit=limit)


def _unshare_changed(
    connection: Connection, memory_list: MemoryList, entries: tuple[str, ...]
) -> None:
    """Remove the shares of entries that no longer exist."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A file that differed from its ledger.

    It tells how many hand edits were adopted, and whether the file was rewritten.
    """

    path: Path
    hand_edits: int
    is_rewritten: bool


async def scan_all(store: "MemoryStore", database: Database, now: Callable[[], int]) -> None:
    """Synchronise the files of every memory owner with the ledger, and log the differences.

    An unreadable file or a damaged ledger is logged and does not stop the scan.
    """
    compared, last = 0, PersonId(0)
    try:
        while found := await database.read(
            partial(memory_owners.list_all, after=last, limit=_OWNERS_PER_READ)
        ):
            for memory_owner in found:
                await _scan(store, memory_owner, now())
            compared, last = compared + len(found), found[-1].person_id
    except StoreError as error:
        _log.warning("can't compare memory files with the ledger: %s", error)
    else:
        _log.info("memory owners compared with the ledger: %d", compared)


async def _scan(store: "MemoryStore", memory_owner: StoredOwner, now: int) -> None:
    try:
        differences = await store.compare(
            memory_owner.person_id, memory_owner.folder, now, kind=memory_owner.kind
        )
    except StoreDamaged as error:
        _log.error("memory of %s: %s", memory_owner.slug, error)
        return
    except OSError as error:
        _log.warning("can't read a memory file, using the ledger instead: %s", error)
        return
    for one in differences:
        if one.hand_edits:
            rows = "1 new row" if one.hand_edits == 1 else f"{one.hand_edits} new rows"
            _log.info("%s was edited by hand: added %s to the ledger", one.path, rows)
        elif one.is_rewritten:
            _log.warning("%s was missing or torn; rewrote it from the ledger", one.path)
