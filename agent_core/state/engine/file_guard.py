"""Notice that the files of an open database were deleted, replaced or changed by somebody else."""

import errno
import os
import shutil
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import StoreVanished


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """The state of a file; SQLite changes size and time of the main file only in a checkpoint."""

    device: int
    inode: int
    size: int
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checkpoint:
    """The progress of copying the log into the main file, as the index of the log says."""

    salt: int
    """Another one each time the log starts from its beginning."""
    copied: int
    begun: int
    """Frames that are copied, and those that the last checkpoint meant to copy."""


class FileGuard:
    """The files of a database as its only writer left them.

    Call every method on the writer's thread: it alone changes the main file, or a checkpoint of
    another program that uses SQLite. Any other change is somebody else's.
    """

    def __init__(self, path: Path) -> None:
        """Remember the files, which must exist. Raises `OSError`."""
        self._path = path
        self._log, index = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
        self._main = _look(path)
        self._sides = {side: _look(side) for side in (self._log, index)}
        self._index = os.open(index, os.O_RDONLY | os.O_CLOEXEC)
        """Stays open as long as the connections: closing it would drop SQLite's locks."""
        self._checkpoint = self._read_checkpoint()
        self._opened = self._checkpoint
        self._is_shared = False
        self._is_copying = False
        """A checkpoint had begun and not ended; one that failed is repeated."""

    def share(self, *, is_shared: bool) -> None:
        """While shared, a connection beside the writer copies the log into the main file.

        Somebody else's change of the content counts as ours then; a file that is deleted, replaced
        or emptied is still found.
        """
        self._is_shared = True
        self.remember()
        self._is_shared = is_shared

    def remember(self) -> None:
        """Remember the files after own work; files that are not the same are left to be found.

        Own work changes them by checkpoints only, and never empties the main file.
        """
        is_checkpoint = self._note_checkpoint() or self._is_shared
        with suppress(OSError):
            found, log = _look(self._path), _look(self._log)
            if _is_same(found, self._main) and found.size and is_checkpoint:
                self._main = found
            known = self._sides[self._log]
            if _is_same(log, known) and (is_checkpoint or log.size > known.size):
                self._sides[self._log] = log

    def check(self) -> None:
        """Raise `StoreVanished` if somebody else touched the files, and `OSError`.

        Takes some microseconds.
        """
        if deed := self._compare_files():
            raise StoreVanished(_tell(deed), is_readable=True)
        # The main file first: a checkpoint says in the index what it does before it does it.
        main, log = _look(self._path), _look(self._log)
        is_checkpoint = self._note_checkpoint() or self._is_shared
        if log.size < self._sides[self._log].size and not is_checkpoint:
            raise StoreVanished(_tell(f"{self._log} was cut"), is_readable=False)
        if main != self._main and not (is_checkpoint and main.size):
            deed = "was emptied" if not main.size else "was changed by somebody else"
            raise StoreVanished(_tell(f"{self._path} {deed}"), is_readable=False)
        self._main, self._sides[self._log] = main, log

    def close(self) -> None:
        """Close the index. Call it after the last connection is closed."""
        os.close(self._index)

    def drop_sides(self) -> None:
        """Delete the side files, which no later database at this path may read. Raises `OSError`.

        The open connections keep what is in them.
        """
        for side, mark in self._sides.items():
            with suppress(FileNotFoundError):
                if _is_same(_look(side), mark):
                    side.unlink()

    def part(self) -> None:
        """Give the path a file of its own, which closing the connections won't change.

        SQLite's last connection copies its log into the file that it has open, or leaves the log
        for the next one; neither may meet what somebody has put there. Blocks. Raises `OSError`.
        """
        with suppress(FileNotFoundError):
            if not _is_same(_look(self._path), self._main):
                return
            copy = self._path.with_name(f"{self._path.name}.part")
            shutil.copy2(self._path, copy)
            copy.replace(self._path)
            self.drop_sides()

    def _compare_files(self) -> str:
        for path, mark in ((self._path, self._main), *self._sides.items()):
            try:
                is_same = _is_same(_look(path), mark)
            except (FileNotFoundError, NotADirectoryError):
                return f"{path} was deleted"
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENAMETOOLONG):
                    raise
                return f"{path} was replaced by a link to nothing"
            if not is_same:
                return f"{path} was replaced by another file"
        return ""

    def _note_checkpoint(self) -> bool:
        """Return whether a checkpoint may have changed the files since the last call."""
        found, known, was_copying = self._read_checkpoint(), self._checkpoint, self._is_copying
        self._checkpoint = found
        # A log that was recovered looks like a checkpoint that has not ended.
        self._is_copying = found.copied < found.begun and found != self._opened
        return found != known or was_copying or self._is_copying

    def _read_checkpoint(self) -> _Checkpoint:
        index = os.pread(self._index, 132, 0).ljust(132, b"\0")
        salt, copied, begun = struct.unpack_from("=32xQ56xI28xI", index)
        return _Checkpoint(salt=salt, copied=copied, begun=begun)


def _look(path: Path) -> _Mark:
    found = os.stat(path)  # noqa: PTH116 - as for `Path.stat`, without its cost on each commit
    return _Mark(
        device=found.st_dev, inode=found.st_ino, size=found.st_size, changed=found.st_mtime_ns
    )


def _tell(deed: str) -> str:
    return f"{deed} while Talaria runs, so nothing more is stored until a restart"


def _is_same(one: _Mark, other: _Mark) -> bool:
    return (one.device, one.inode) == (other.device, other.inode)
