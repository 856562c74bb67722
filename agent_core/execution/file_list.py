"""Lists and reads files of a workspace for its person, without following a link. Blocks.

Commands may change the workspace at any moment. So the kernel resolves every path below a
descriptor of the workspace, as in `files`.
"""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from agent_core.execution import files

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
MOST_LISTED = 2_000
"""Entries of one folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file or a folder; `changed_at` is in milliseconds UTC. Links and devices are not listed."""

    name: str
    is_folder: bool
    size: int
    changed_at: int


def list_folder(root: Path, folder: str) -> list[ListedFile]:
    """List a folder of a workspace: folders first, by name. Raises `WorkspaceError`.

    A workspace that was never used is empty.
    """
    if not root.is_dir() and not folder:
        return []
    with files.errors_of(folder or "."), files.open_root(root) as top:
        place = files.open_below(top, folder or ".", _FOLDER, follows_links=False)
        with files.closing(place), os.scandir(place) as entries:
            found = [one for entry in entries if (one := _describe(entry))]
    found.sort(key=lambda one: (not one.is_folder, one.name.casefold()))
    return found[:MOST_LISTED]


def read_file(root: Path, path: str, most: int) -> bytes:
    """Read a whole file. Raises `WorkspaceError` if it is a link, or larger than `most` bytes."""
    with files.errors_of(path), files.open_root(root) as top:
        opened = files.open_below(top, path, _FILE, follows_links=False)
        with files.closing(opened) as file:
            state = os.fstat(file)
            if not stat.S_ISREG(state.st_mode):
                raise OSError(errno.ENXIO, "")
            if state.st_size > most:
                raise OSError(errno.EFBIG, "it is too large")
            with os.fdopen(os.dup(file), "rb") as stream:
                return stream.read(most)


def exists(root: Path, path: str) -> bool:
    """Return whether anything is at a path, a link included. Raises `WorkspaceError`."""
    folder, _, name = path.rpartition("/")
    if not root.is_dir():
        return False
    with files.errors_of(path), files.open_root(root) as top:
        try:
            place = files.open_below(top, folder or ".", _FOLDER, follows_links=False)
        except FileNotFoundError:
            return False
        with files.closing(place):
            try:
                os.stat(name, dir_fd=place, follow_symlinks=False)
            except FileNotFoundError:
                return False
    return True


def _describe(entry: "os.DirEntry[str]") -> ListedFile | None:
    """Describe an entry; None for links and for what vanished meanwhile."""
    try:
        state = entry.stat(follow_symlinks=False)
        is_folder = stat.S_ISDIR(state.st_mode)
        if not is_folder and not stat.S_ISREG(state.st_mode):
            return None
        entry.name.encode()  # a name that is no text can't stand in an address
    except (OSError, UnicodeEncodeError):
        return None
    size = 0 if is_folder else state.st_size
    at = state.st_mtime_ns // 1_000_000
    return ListedFile(name=entry.name, is_folder=is_folder, size=size, changed_at=at)
