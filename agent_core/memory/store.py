"""The memory store: one ledger and its mirror files for every memory owner."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import PersonId
from agent_core.memory import editing, files
from agent_core.memory import undo as undoing
from agent_core.memory.editing import AppliedEdit
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.files import FileText, size
from agent_core.memory.sync import (
    Difference,
    ListSync,
    MemoryList,
    SyncResult,
    SyncWork,
    confirm_written,
    find_bound,
    find_if_in_sync,
    find_list,
    no_change,
    sync_lists,
)
from agent_core.memory.undo import RestoredEntry, UndoneChange, UndoRefused
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.blocks import TEAM
from agent_core.state.memory.ledger import MemoryTarget, Origin, Projection
from agent_core.state.people.people import PersonKind

_log = logging.getLogger(__name__)

_FILES: dict[MemoryTarget, str] = {"memory": "MEMORY.md", "user": "USER.md"}
_FOLDERS: dict[PersonKind, str] = {
    "human": "people",
    "room": "rooms",
    "block": "blocks",
    "team": "",
}
"""The parent folder of each kind; the team has only one folder."""
_ATTEMPTS = 5
"""The most rewrites of a file that somebody else keeps changing at the same time."""

Write = Callable[[Path, str, str], bool]
Withdraw = Callable[[Connection, PersonId, int], None]
"""Deletes what rests on changed or removed entries, within the transaction of a change. It receives
the connection, the owner of the memory, and the time.
"""
Stamp = tuple[int, int, int, int] | None
"""The result of `MemoryStore.stamp`; None if the file can't be read."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLimits:
    """The size limit of each list, in characters of its file."""

    memory: int = 2200
    user: int = 1375

    def of(self, target: MemoryTarget) -> int:
        """Return the limit of one list."""
        return self.memory if target == "memory" else self.user


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A person's memory at one moment. Sizes are in characters.

    A prompt shows each list up to its bound, which is its limit except after some merges.
    """

    memory: tuple[str, ...]
    user: tuple[str, ...]
    memory_size: int
    user_size: int
    limits: MemoryLimits
    bounds: MemoryLimits = field(default_factory=MemoryLimits)


class MemoryStore:
    """The memories of all owners: people, rooms, blocks and the team.

    People have two lists in `folder`/people/<slug>/. Rooms, blocks and the team have one,
    `memory`,
    in `folder`/rooms/<slug>/, `folder`/blocks/<slug>/ and `folder`/team/. One per process and
    home.
    Changes of one memory are serialised. `write` replaces files; tests inject crashes there.
    """

    def __init__(
        self,
        database: Database,
        folder: Path,
        limits: MemoryLimits | None = None,
        *,
        write: Write = files.write_file,
        withdraw: Withdraw | None = None,
    ) -> None:
        """`withdraw` deletes notes that rest on changed or removed entries; see `conclusions`."""
        self._database = database
        self.folder = folder
        self._limits = limits or MemoryLimits()
        self._write = write
        self._withdraw = withdraw
        self._locks: WeakValueDictionary[PersonId, asyncio.Lock] = WeakValueDictionary()
        self._stamped: dict[tuple[PersonKind, str, MemoryTarget], Path] = {}
        """The paths of files that are checked in every turn."""
        self.unread: dict[Path, str] = {}
        """The files whose last read failed, and why, in English."""

    @property
    def limits(self) -> MemoryLimits:
        """The size limit of each list."""
        return self._limits

    def within(self, limits: MemoryLimits) -> "MemoryStore":
        """Return a view of the same memories, with other limits."""
        other = copy(self)
        other._limits = limits
        return other

    def stamp(self, kind: PersonKind, slug: str, target: MemoryTarget = "memory") -> Stamp:
        """Fingerprint a memory file by its inode, times and size; None without one.

        Blocks for some microseconds; a thread would take longer.
        """
        path = self._stamped.get((kind, slug, target))
        if path is None:
            path = self._stamped[kind, slug, target] = self.locate(kind, slug, target)
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size

    async def snapshot(
        self, person_id: PersonId, slug: str, now: int, *, kind: PersonKind = "human"
    ) -> Snapshot:
        """Load a memory. Adopts hand edits, and rewrites outdated files.

        An unreadable file causes a warning, and the ledger is used instead. Raises `StoreError`.
        """
        async with self._lock(person_id):
            memory = await self._look(person_id, self.locate(kind, slug, "memory"), "memory", now)
            user: tuple[str, ...] = ()
            if kind == "human":
                user = await self._look(person_id, self.locate(kind, slug, "user"), "user", now)
        return Snapshot(
            memory=memory,
            user=user,
            memory_size=size(memory),
            user_size=size(user),
            limits=self._limits,
            bounds=MemoryLimits(
                memory=await self._find_bound(person_id, "memory", memory),
                user=await self._find_bound(person_id, "user", user),
            ),
        )

    async def _find_bound(
        self, person_id: PersonId, target: MemoryTarget, entries: tuple[str, ...]
    ) -> int:
        memory_list = self._list(person_id, target)
        if size(entries) <= memory_list.limit:
            return memory_list.limit
        return await self._database.read(find_bound, memory_list)

    async def compare(
        self, person_id: PersonId, slug: str, now: int, *, kind: PersonKind = "human"
    ) -> list[Difference]:
        """Synchronise the files and the ledger of a memory; returns the differences.

        Raises `StoreError`, and `OSError` if a file is unreadable.
        """
        differences = []
        async with self._lock(person_id):
            for memory_list, path in self._places(person_id, slug, kind).items():
                seen = await self._read(path)
                agreed = await self._database.read(
                    partial(find_if_in_sync, memory_list=memory_list, seen=seen)
                )
                if agreed is None:
                    (found,) = (await self._sync({memory_list: path}, no_change, now)).lists
                    is_rewritten = found.text is not None
                    differences.append(
                        Difference(
                            path=path, hand_edits=found.hand_edits, is_rewritten=is_rewritten
                        )
                    )
        return differences

    async def change(
        self,
        person_id: PersonId,
        slug: str,
        edit: Edit,
        origin: Origin,
        *,
        kind: PersonKind = "human",
    ) -> AppliedEdit | Refusal:
        """Apply one edit; see `change_all`."""
        outcome = await self.change_all(person_id, slug, (edit,), origin, kind=kind)
        return outcome if isinstance(outcome, Refusal) else outcome[0]

    async def change_all(
        self,
        person_id: PersonId,
        slug: str,
        edits: Sequence[Edit],
        origin: Origin,
        *,
        kind: PersonKind = "human",
    ) -> tuple[AppliedEdit, ...] | Refusal:
        """Apply at least one edit, in order, all or none.

        Edits with the same `origin.call_key` are applied once; a repeat returns the first result.
        They are durable once the ledger has them. A failed file write is logged, and repaired at
        the next read. Raises `StoreError`, and `OSError` if a file is unreadable, because unread
        hand edits must not be overwritten.
        """
        places = {
            self._list(person_id, target): self.locate(kind, slug, target)
            for target in dict.fromkeys(edit.target for edit in edits)
        }
        work = partial(editing.apply_edits, edits=edits, origin=origin)
        async with self._lock(person_id):
            return (await self._sync(places, work, origin.now)).outcome

    async def undo(
        self,
        person_id: PersonId,
        slug: str,
        row_id: int | None,
        origin: Origin,
        *,
        kind: PersonKind = "human",
    ) -> tuple[UndoneChange, ...] | UndoRefused:
        """Undo one ledger row, or without `row_id` the newest change set; see `undo.undo`.

        Durable and idempotent like `change_all`; raises the same.
        """
        places = self._places(person_id, slug, kind)
        work = partial(undoing.undo, row_id=row_id, origin=origin)
        async with self._lock(person_id):
            return (await self._sync(places, work, origin.now)).outcome

    async def restore(
        self,
        person_id: PersonId,
        slug: str,
        moment: int,
        origin: Origin,
        *,
        kind: PersonKind = "human",
    ) -> Mapping[MemoryTarget, RestoredEntry]:
        """Restore all lists of a memory to a moment; see `undo.restore`.

        Durable like `change_all`; raises the same.
        """
        places = self._places(person_id, slug, kind)
        work = partial(undoing.restore, moment=moment, origin=origin)
        async with self._lock(person_id):
            outcome = (await self._sync(places, work, origin.now)).outcome
        return {memory_list.target: restored for memory_list, restored in outcome.items()}

    def is_at_work(self, person_id: PersonId) -> bool:
        """True while a memory's files are in use. May be called from any thread."""
        lock = self._locks.get(person_id)
        return lock is not None and lock.locked()

    def adopt_hand_edits(
        self, connection: Connection, person_id: PersonId, slug: str, now: int
    ) -> None:
        """Record hand edits in the ledger, within the caller's transaction.

        Use it for work on several memories, while none of them `is_at_work`. It blocks to read two
        small files and writes none; the files are outdated until the next read. Raises `OSError` if
        one is unreadable.
        """
        for target in _FILES:
            seen = files.read_file(self.locate("human", slug, target))
            memory_list = self._list(person_id, target)
            self._sync_lists(connection, [(memory_list, seen)], no_change, now)

    def _lock(self, person_id: PersonId) -> asyncio.Lock:
        """Return the lock of one memory; it exists only while someone holds or awaits it."""
        return self._locks.setdefault(person_id, asyncio.Lock())

    def _list(self, person_id: PersonId, target: MemoryTarget) -> MemoryList:
        return MemoryList(person_id=person_id, target=target, limit=self._limits.of(target))

    def _places(self, person_id: PersonId, slug: str, kind: PersonKind) -> dict[MemoryList, Path]:
        """Map all lists of a memory to their files."""
        targets: tuple[MemoryTarget, ...] = ("memory", "user") if kind == "human" else ("memory",)
        return {
            self._list(person_id, target): self.locate(kind, slug, target) for target in targets
        }

    def locate(self, kind: PersonKind, slug: str, target: MemoryTarget) -> Path:
        """Return the file of a list; `slug` names the folder of its owner."""
        if slug in ("", "..") or Path(slug).name != slug:
            raise ValueError(f"{slug!r} can't name a {kind}'s folder")
        if kind != "human" and target != "memory":
            raise ValueError(f"a {kind} has no `user` list")
        place = TEAM if kind == "team" else slug
        return self.folder / _FOLDERS[kind] / place / _FILES[target]

    async def _look(
        self, person_id: PersonId, path: Path, target: MemoryTarget, now: int
    ) -> tuple[str, ...]:
        """Load one list. Writes nothing if file and ledger agree."""
        memory_list = self._list(person_id, target)
        try:
            seen = await self._read(path)
            agreed = await self._database.read(find_if_in_sync, memory_list, seen)
            if agreed is not None:
                return agreed
            result = await self._sync({memory_list: path}, no_change, now)
            return result.lists[0].entries
        except OSError as error:
            _log.warning("can't read a memory file, using the ledger instead: %s", error)
            return await self._database.read(find_list, memory_list)

    async def _sync(
        self, places: Mapping[MemoryList, Path], work: SyncWork[T], now: int
    ) -> SyncResult[T]:
        """Synchronise files and ledger around some work. Raises `OSError`."""
        seen = [(memory_list, await self._read(path)) for memory_list, path in places.items()]
        result = await self._commit(seen, work, now)
        for (memory_list, file), list_sync in zip(seen, result.lists, strict=True):
            try:
                await self._project(places[memory_list], file, list_sync, now)
            except OSError as error:
                _log.warning("can't write a memory file, will retry at the next read: %s", error)
        return result

    async def _project(self, path: Path, seen: FileText, list_sync: ListSync, now: int) -> None:
        """Write a file, and adopt edits that someone makes at the same time."""
        memory_list = list_sync.memory_list
        for _ in range(_ATTEMPTS):
            text = list_sync.text
            if text is None:
                return
            if await finish(asyncio.to_thread(self._write, path, text, seen.hash)):
                await self._confirm(memory_list, list_sync.projection)
                return
            seen = await self._read(path)
            (list_sync,) = (await self._commit([(memory_list, seen)], no_change, now)).lists
        _log.warning("%s keeps changing, will write it at the next read", path)

    async def _confirm(self, memory_list: MemoryList, projection: Projection) -> None:
        await self._database.write(
            "memory.confirm",
            confirm_written,
            memory_list,
            projection,
        )

    async def _commit(
        self, seen: Sequence[tuple[MemoryList, FileText]], work: SyncWork[T], now: int
    ) -> SyncResult[T]:
        return await self._database.write("memory.settle", self._sync_lists, seen, work, now)

    def _sync_lists(
        self,
        connection: Connection,
        seen: Sequence[tuple[MemoryList, FileText]],
        work: SyncWork[T],
        now: int,
    ) -> SyncResult[T]:
        """Synchronise lists, and delete notes that rested on their former entries."""
        result = sync_lists(connection, seen, work, now)
        if self._withdraw:
            for person_id in {memory_list.person_id for memory_list, _ in seen}:
                self._withdraw(connection, person_id, now)
        return result

    async def _read(self, path: Path) -> FileText:
        try:
            seen = await finish(asyncio.to_thread(files.read_file, path))
        except OSError as error:
            self.unread[path] = error.strerror or str(error)
            raise
        self.unread.pop(path, None)
        return seen
