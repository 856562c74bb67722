"""Keep commands from filling a workspace beyond its limit, or the disk with the database."""

import asyncio
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.errors import DiskFull, WorkspaceError
from agent_core.execution import files

RESERVE = 200_000_000
"""Bytes that stay free, because the database on the same disk must be able to write."""
_RESERVED_FILES = 10_000
_STEP = 32_000_000
"""A workspace is measured again after the disk's free space has shrunk by this many bytes."""
_STEP_FILES = 20_000
_PAUSE, _SHARE = 2.0, 20
"""The minimum pause between two measurements: seconds, and a multiple of the last one's time."""
_LEEWAY = 1_000_000
"""Bytes that a command may add in a full workspace, because it may write while it deletes."""
_UNKNOWN = sys.maxsize
"""The use of a workspace that can't be measured."""
_LEAST = 4096
"""The bytes counted for an empty file; this limits the number of files, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUse:
    """The size of a workspace in bytes, and the free space of its disk when it was measured."""

    used: int
    free: int
    free_files: int


class DiskGuard:
    """Measures workspaces when the disk's free space has shrunk, and also at intervals.

    If other programs delete files at the same time, it may miss what a command adds.
    """

    def __init__(self, most: int, reserve: int = RESERVE) -> None:
        """`most` is the largest size of a workspace, `reserve` what stays free, both in bytes."""
        self._most = most
        self._reserve = reserve
        self._known: dict[Path, DiskUse] = {}
        self._next: dict[Path, float] = {}
        """Monotonic time in seconds after which a workspace is measured again in any case."""

    async def look(self, place: Path) -> DiskUse:
        """Return the disk use of a workspace before a command or a write."""
        free, free_files = _find_free(place)
        known = self._known.get(place)
        if known and known.used <= self._most and not _is_step(known, free, free_files):
            return replace(known, free=free, free_files=free_files)
        return await self._measure(place, free, free_files)  # files may have been deleted

    async def check(self, place: Path) -> None:
        """Raise `WorkspaceError` if a workspace is full, and `DiskFull` if its disk is."""
        now = await self.look(place)
        if now.used > self._most:
            raise WorkspaceError("the workspace is full; delete files that are no longer needed")
        if now.free < self._reserve or now.free_files < _RESERVED_FILES:
            left = f"{self._reserve // 1_000_000:,} MB or {_RESERVED_FILES:,} files"
            raise DiskFull(f"the disk has less than {left} left")

    async def is_exceeded(self, place: Path, before: DiskUse) -> bool:
        """Return whether a command has filled a workspace or its disk.

        A command may run in a full workspace, to delete files, but may not add to it. If it can't
        be measured, the space of the disk counts.
        """
        free, free_files = _find_free(place)
        if free < min(self._reserve, before.free - _LEEWAY):
            return True
        if free_files < min(_RESERVED_FILES, before.free_files - _LEEWAY // _LEAST):
            return True
        known = self._known.get(place)
        is_due = time.monotonic() >= self._next.get(place, 0)
        if known is None or is_due or _is_step(known, free, free_files):
            known = await self._measure(place, free, free_files)
        if known.used == before.used == _UNKNOWN:
            return before.free - free > _LEEWAY
        return known.used > max(self._most, before.used + _LEEWAY)

    async def _measure(self, place: Path, free: int, free_files: int) -> DiskUse:
        started = time.monotonic()
        used = await asyncio.to_thread(_measure, place)
        ended = time.monotonic()
        self._next[place] = ended + max(_PAUSE, _SHARE * (ended - started))
        known = self._known[place] = DiskUse(used=used, free=free, free_files=free_files)
        return known


class HomeGuard:
    """Measures the home of one command at intervals; it has the limit of a workspace, too."""

    def __init__(self, place: Path, most: int) -> None:
        self._place = place
        self._most = most
        self._next = 0.0

    async def is_exceeded(self) -> bool:
        """Return whether the command has filled its home. A home that is gone is not full."""
        if time.monotonic() < self._next:
            return False
        started = time.monotonic()
        used = await asyncio.to_thread(_measure, self._place)
        ended = time.monotonic()
        self._next = ended + max(_PAUSE, _SHARE * (ended - started))
        return used > self._most and self._place.exists()


def _is_step(known: DiskUse, free: int, free_files: int) -> bool:
    """Return whether the disk has filled enough for another measurement."""
    return known.free - free > _STEP or known.free_files - free_files > _STEP_FILES


def _find_free(place: Path) -> tuple[int, int]:
    """Return the free bytes and files of a disk; some file systems do not count files."""
    state = os.statvfs(place)
    return state.f_bavail * state.f_frsize, state.f_favail if state.f_files else sys.maxsize


def _measure(place: Path) -> int:
    """Return the bytes that a folder takes on its disk, without following links. Blocks.

    A folder that can't be measured counts as full.
    """
    try:
        return sum(max(state.st_blocks * 512, _LEAST) for state in files.walk_states(place))
    except OSError:
        return _UNKNOWN
