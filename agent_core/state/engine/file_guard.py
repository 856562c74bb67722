"""Notice that the files of an open database were deleted, replaced or changed by somebody else."""

import os
import shutil
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


class FileGuard:
    """The files of a database as its only writer left them.

    Call every method on the writer's thread: it alone changes the main file, so any other change
    is somebody else's. The files are only looked at: opening one would drop SQLite's locks.
    """

    def __init__(self, path: Path) -> None:
        """Remember the files, which must exist. Raises `OSError`."""
        self._path = path
        self._main = _look(path)
        self._sides = {
            side: _look(side)
            for side in (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
        }

    def remember(self) -> None:
        """Remember the main file after own work; a file that is not the same is left to be found.

        Own work never empties the file.
        """
        with suppress(FileNotFoundError):
            found = _look(self._path)
            if _is_same(found, self._main) and found.size:
                self._main = found

    def check(self) -> None:
        """Raise `StoreVanished` if somebody else touched the files, and `OSError`.

        Takes some microseconds.
        """
        if deed := self._compare_files():
            raise StoreVanished(_tell(deed), is_readable=True)
        found = _look(self._path)
        if found != self._main:
            deed = "was emptied" if not found.size else "was changed by somebody else"
            raise StoreVanished(_tell(f"{self._path} {deed}"), is_readable=False)

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
            if not is_same:
                return f"{path} was replaced by another file"
        return ""


def _look(path: Path) -> _Mark:
    found = os.stat(path)  # noqa: PTH116 - as for `Path.stat`, without its cost on each commit
    return _Mark(
        device=found.st_dev, inode=found.st_ino, size=found.st_size, changed=found.st_mtime_ns
    )


def _tell(deed: str) -> str:
    return f"{deed} while Talaria runs, so nothing more is stored until a restart"


def _is_same(one: _Mark, other: _Mark) -> bool:
    return (one.device, one.inode) == (other.device, other.inode)
