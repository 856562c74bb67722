"""Earlier versions of people's files, so that `/undo` takes back what calls have changed."""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from agent_core.errors import CoreError
from agent_core.execution.contract import Backend
from agent_core.execution.file_changes import FileChange, FileChanges, Moment, find_undone
from agent_core.execution.file_states import TooManyFiles, Watched
from agent_core.execution.files import remove_workspace
from agent_core.execution.folders import shorten
from agent_core.execution.subprocesses.spawning import finish
from agent_core.ids import PersonId, TurnId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, ledger
from agent_core.tools.contract import MemoryOwner
from agent_core.tools.workspace.background import LOGS
from agent_core.tools.workspace.shell import STATES
from agent_core.tools.workspace.workspaces import OUTPUTS

OWN = frozenset({OUTPUTS, STATES, LOGS, ".skills", ".tmp"})
"""Folders of a workspace that Talaria itself fills."""
_PEOPLE = "people"
_SHARE = 0.05
"""The part of the disk that all versions together may take."""
_FREE = 200_000_000
"""Bytes of the disk that stay free."""
_FULL, _ENOUGH = 0.9, 0.7
"""The oldest changes are forgotten from the first part of the room on, down to the second."""

Gap = Literal["elsewhere", "many"]
"""Reasons why changes of files can't be taken back: they are on another machine, or too many."""
_Result = TypeVar("_Result")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Store:
    """The store of one workspace; one thread at a time works on it."""

    changes: FileChanges
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Room:
    """Counts the bytes of all copies; threads use it."""

    def __init__(self, folder: Path, share: float) -> None:
        self._folder = folder
        self._share = share
        self._lock = threading.Lock()
        self._used: int | None = None

    def take(self, size: int) -> bool:
        """Return whether a copy of so many bytes may be added, and count it."""
        with self._lock:
            most, free = self._measure_disk()
            if free - size < _FREE or self._count(most - size) + size > most:
                return False
            self._used = self._count(most) + size
            return True

    def find_excess(self) -> int:
        """Return how many bytes must leave; 0 while there is enough room."""
        with self._lock:
            most, _ = self._measure_disk()
            used = self._count(int(_FULL * most))
            return used - int(_ENOUGH * most) if used > _FULL * most else 0

    def forget(self) -> None:
        """Count again, because copies have left."""
        with self._lock:
            self._used = None

    def _count(self, most: int) -> int:
        """Return the used bytes; count again above `most`: some copies came twice."""
        if self._used is None or self._used > most:
            self._used = sum(place.stat().st_size for place in self._folder.glob("*/copies/*"))
        return self._used

    def _measure_disk(self) -> tuple[int, int]:
        disk = os.statvfs(self._folder)
        return int(self._share * disk.f_blocks * disk.f_frsize), disk.f_bavail * disk.f_frsize


class FileVersions:
    """Keeps what the files of workspaces were before each call that may change them.

    Without room, on another machine or after an error, calls run all the same.
    """

    def __init__(
        self,
        folder: Path,
        database: Database,
        backend: Backend,
        now: Callable[[], int],
        *,
        share: float = _SHARE,
    ) -> None:
        """No command can read `folder`. `share` is the part of its disk that may be taken."""
        self._folder = folder / _PEOPLE
        self._database = database
        self._backend = backend
        self._now = now
        self._room = _Room(self._folder, share)
        self._stores: dict[str, _Store] = {}
        self._gaps: dict[str, tuple[Gap, int]] = {}

    @asynccontextmanager
    async def watch(
        self,
        owner: MemoryOwner,
        turn_id: TurnId,
        backend: Backend | None = None,
        path: str | None = None,
    ) -> AsyncIterator[None]:
        """Record what a call of a turn changes during the block, or what it does to one path."""
        usual = self._backend.find_place(owner.slug)
        is_watched = False
        if usual is None:
            self._gaps[owner.slug] = ("elsewhere", await self._find_row(owner.person_id))
        elif usual == (backend or self._backend).find_place(owner.slug):  # jobs may work elsewhere
            is_watched = await self._step(owner, usual, turn_id, path, "begin")
        try:
            yield
        finally:
            if is_watched and usual:
                await finish(self._step(owner, usual, turn_id, path, "end"))

    async def _step(
        self,
        owner: MemoryOwner,
        place: Path,
        turn_id: TurnId,
        path: str | None,
        step: Literal["begin", "end"],
    ) -> bool:
        """Look at the files before or after a call; return whether that worked."""
        named = shorten(path) if path is not None else None
        try:
            await self._make_room()
            row = await self._find_row(owner.person_id)
            moment = Moment(turn=turn_id, at=self._now(), row=row)
            store = self._find(owner.slug, place)
            work = store.changes.begin if step == "begin" else store.changes.end
            await self._run(store, partial(work, moment, named))
        except TooManyFiles:
            self._gaps[owner.slug] = ("many", await self._find_row(owner.person_id))
            return False
        except (OSError, CoreError) as error:
            _log.warning("no versions of the files of %s are kept: %s", owner.slug, error)
            return False
        return True

    async def find_newest(self, slug: str) -> FileChange | None:
        """Return the newest change of a person's files that can be taken back. Raises `OSError`."""
        store = await self._open(slug)
        return await self._run(store, store.changes.find_newest) if store else None

    async def find(self, slug: str, number: int) -> FileChange | None:
        """Return a change by its number, unless it is taken back. Raises `OSError`."""
        store = await self._open(slug)
        if store is None:
            return None
        changes = await self._run(store, store.changes.list_changes)
        undone = find_undone(changes)
        return next((one for one in changes if one.number == number not in undone), None)

    async def find_call(self, slug: str, call_key: str) -> FileChange | None:
        """Return what a call has taken back. Raises `OSError`."""
        store = await self._open(slug)
        return await self._run(store, partial(store.changes.find_call, call_key)) if store else None

    def find_gap(self, slug: str, row: int) -> Gap | None:
        """Return why newer changes than a row of the ledger can't be taken back, if there are any.

        Only this process knows.
        """
        gap = self._gaps.get(slug)
        return gap[0] if gap and gap[1] >= row else None

    async def undo(self, owner: MemoryOwner, number: int, call_key: str) -> FileChange | None:
        """Take a change back; see `FileChanges.undo`. Raises `OSError` and `StoreError`."""
        store = await self._open(owner.slug)
        if store is None:
            return None
        moment = Moment(turn=0, at=self._now(), row=await self._find_row(owner.person_id))
        return await self._run(store, partial(store.changes.undo, number, moment, call_key))

    async def forget(self, slug: str) -> None:
        """Forget all versions of a person's files."""
        store = self._stores.pop(slug, None)
        folder = self._folder / slug
        if store is None:
            await asyncio.to_thread(remove_workspace, folder)
        else:
            await self._run(store, partial(remove_workspace, folder))
        self._room.forget()

    async def _open(self, slug: str) -> _Store | None:
        """Return a store after its recovery; None if there is nothing to undo."""
        place = self._backend.find_place(slug)
        if place is None or not (self._folder / slug).is_dir():
            return None
        store = self._find(slug, place)
        await self._run(store, store.changes.recover)
        return store

    def _find(self, slug: str, place: Path) -> _Store:
        store = self._stores.get(slug)
        if store is None or store.changes.was_removed():
            changes = FileChanges(self._folder / slug, Watched(place, OWN), self._room.take)
            store = self._stores[slug] = _Store(changes)
        return store

    async def _run(self, store: _Store, work: Callable[[], _Result]) -> _Result:
        """Work on a store in a thread, after earlier work is done."""

        async def run() -> _Result:
            async with store.lock:
                return await asyncio.to_thread(work)

        return await finish(run())

    async def _find_row(self, person_id: PersonId) -> int:
        """Return the newest row of the ledger that the person's `/undo` may be about."""

        def look(connection: Connection) -> int:
            owners = [person_id, *([team] if (team := blocks.find_team(connection)) else ())]
            return max(ledger.find_newest_id(connection, person_id=one) for one in owners)

        return await self._database.read(look)

    async def _make_room(self) -> None:
        """Forget the oldest changes of all people while the copies take too much room."""
        await asyncio.to_thread(self._folder.mkdir, mode=0o700, parents=True, exist_ok=True)
        while (excess := await asyncio.to_thread(self._room.find_excess)) > 0:
            oldest = await asyncio.to_thread(self._list_oldest)
            for slug, number in oldest[: max(1, len(oldest) // 4)]:
                place = self._backend.find_place(slug)
                store = self._find(slug, place or self._folder / slug)
                await self._run(store, partial(store.changes.drop, number))
            freed = 0
            for slug in {slug for slug, _ in oldest}:
                freed += await self._run(self._stores[slug], self._stores[slug].changes.sweep)
            self._room.forget()
            _log.info("forgot old versions of files: %d of %d bytes too many", freed, excess)
            if not oldest:
                return

    def _list_oldest(self) -> list[tuple[str, int]]:
        """List all changes of all people, oldest first: the slug, and the number."""
        found = []
        for folder in self._folder.iterdir():
            changes = FileChanges(folder, Watched(folder, OWN), self._room.take).list_changes()
            found += [(one.at, folder.name, one.number) for one in changes]
        return [(slug, number) for _, slug, number in sorted(found)]
