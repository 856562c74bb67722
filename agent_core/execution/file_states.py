"""The states of a workspace's files: look at them, and put earlier ones back. Everything blocks.

Commands may change the workspace at any moment. So every path is opened below a descriptor of the
workspace, and no link is followed.
"""

import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from agent_core.execution import files

Kind = Literal["file", "link", "folder"]
Identity = tuple[int, int, int, int, int]
"""Mode, size, times of change in nanoseconds (content, and anything), and inode of an entry."""
MOST_ENTRIES = 50_000
"""Files and folders of a workspace that are looked at; more would delay every command."""
_TICK = 20_000_000
"""Nanoseconds; a file that changed so shortly before a look may change again unnoticed."""
_TYPE = 0o170000
"""The bits of a mode that tell files from folders."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

Keep = Callable[[int, int], str]
"""Copies an open file with a number of bytes; returns the name of the copy, "" for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file, link or folder. `content` names the copy of a file; "" if there is none.

    It is the target of a link.
    """

    kind: Kind
    mode: int = 0
    content: str = ""

    def has_copy(self) -> bool:
        """Return whether the entry can be made again."""
        return self.kind == "folder" or bool(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The state of an entry, and how to recognize it; `identity` is None if it must be read.

    A file that `lacks_copy` is read again: there may be time and room for it by then.
    """

    state: FileState
    identity: Identity | None
    lacks_copy: bool = False

    def is_same(self, other: "Seen | None") -> bool:
        """Return whether two looks saw the same entry, perhaps one of them without a copy."""
        if other is None:
            return False
        is_known = self.identity is not None and self.identity == other.identity
        return self.state == other.state or (is_known and (self.lacks_copy or other.lacks_copy))


class TooManyFiles(Exception):
    """A workspace has more than `MOST_ENTRIES` entries."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A workspace; entries of its top folder that are named in `left_out` don't count.

    With more than `most` entries, it is left alone.
    """

    place: Path
    left_out: frozenset[str]
    most: int = MOST_ENTRIES

    def look_at_all(self, known: Mapping[str, Seen], keep: Keep) -> dict[str, Seen]:
        """Return every entry by path. Those that are `known` and unchanged are not read.

        What can't be opened counts as unchanged. Raises `TooManyFiles`.
        """
        if not self.place.is_dir():
            return {}
        found: dict[str, Seen] = {}
        with files.open_root(self.place) as top:
            folders = [""]
            while folders:
                folder = folders.pop()
                try:
                    place = files.open_below(top, folder or ".", _FOLDER, follows_links=False)
                except OSError as error:
                    if not isinstance(error, FileNotFoundError | NotADirectoryError):
                        below = f"{folder}/"
                        found |= {
                            path: one for path, one in known.items() if path[: len(below)] == below
                        }
                    continue
                with files.closing(place):
                    folders += self._look_in(place, folder, known, keep, found)
        return found

    def _look_in(
        self,
        place: int,
        folder: str,
        known: Mapping[str, Seen],
        keep: Keep,
        found: dict[str, Seen],
    ) -> list[str]:
        """Add the entries of one folder; return the folders in it."""
        before = f"{folder}/" if folder else ""
        inner: list[str] = []
        with os.scandir(place) as entries:
            for entry in entries:
                name = entry.name
                if not folder and name in self.left_out:
                    continue
                path = before + name
                try:
                    state = entry.stat(follow_symlinks=False)
                    seen = known.get(path)
                    if seen is None or seen.identity != _identify(state) or seen.lacks_copy:
                        seen = _read(place, name, state, seen, keep)
                except OSError:
                    continue  # it was moved or deleted meanwhile
                if seen is None:
                    continue
                found[path] = seen
                if seen.state.kind == "folder":
                    inner.append(path)
        if len(found) > self.most:
            raise TooManyFiles
        return inner

    def look_at(
        self, paths: Collection[str], known: Mapping[str, Seen], keep: Keep
    ) -> dict[str, Seen | None]:
        """Return the entries at some paths, None for those that don't exist.

        A path that leads through a link or a file does not exist.
        """
        found: dict[str, Seen | None] = dict.fromkeys(paths)
        if not self.place.is_dir():
            return found
        with files.open_root(self.place) as top:
            for path in paths:
                folder, _, name = path.rpartition("/")
                with suppress(OSError), _open_folder(top, folder) as place:
                    state = os.stat(name, dir_fd=place, follow_symlinks=False)
                    seen = known.get(path)
                    if seen is None or seen.identity != _identify(state) or seen.lacks_copy:
                        seen = _read(place, name, state, seen, keep)
                    found[path] = seen
        return found

    def list_steps(self, path: str) -> list[str]:
        """Return where a path leads, link by link, with the folders above it; [] for left-out ones.

        The last part may be missing, and is not followed.
        """
        folder, _, name = path.rstrip("/").rpartition("/")
        if name in ("", ".", ".."):
            return []
        parts = [part for part in folder.split("/") if part not in ("", ".")]
        missing: list[str] = []
        root = os.path.realpath(self.place)
        real = ""
        if self.place.is_dir():
            with files.open_root(self.place) as top:
                while True:
                    try:
                        flags = os.O_PATH | os.O_DIRECTORY
                        with files.closing(
                            files.open_below(top, "/".join(parts) or ".", flags)
                        ) as it:
                            real = os.path.relpath(os.readlink(f"/proc/self/fd/{it}"), root)  # noqa: PTH115
                        break
                    except FileNotFoundError:
                        missing.insert(0, parts.pop())
                    except OSError:
                        return []
        else:
            missing = parts
        whole = [*(part for part in real.split("/") if part not in ("", ".")), *missing, name]
        if ".." in whole or whole[0] in self.left_out:
            return []
        return ["/".join(whole[: count + 1]) for count in range(len(whole))]

    def put(
        self, path: str, state: FileState | None, read: Callable[[str], Iterator[bytes]]
    ) -> None:
        """Give an entry an earlier state; None removes it. A folder is removed only if it is empty.

        `read` yields the bytes of a copy. Missing folders above are made. Raises `OSError`.
        """
        *above, name = path.split("/")
        with files.open_root(self.place) as top:
            for count in range(1, len(above) + 1) if state else ():
                with _open_folder(top, "/".join(above[: count - 1])) as place:
                    if not _exists(place, above[count - 1]):
                        _make_folder(top, place, above[count - 1], 0o700)
            with _open_folder(top, "/".join(above)) as place:
                if state is None:
                    _remove(place, name)
                elif state.kind == "folder":
                    _make_folder(top, place, name, state.mode)
                else:
                    _replace(top, place, name, state, read)


def _identify(state: os.stat_result) -> Identity:
    mode = state.st_mode
    if mode & _TYPE == stat.S_IFDIR:
        # Its times change with its entries, which are looked at one by one.
        return (mode, 0, 0, 0, state.st_ino)
    return (mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


def _read(
    place: int, name: str, state: os.stat_result, known: Seen | None, keep: Keep
) -> Seen | None:
    """Read one entry; None if it is no file, link or folder. Raises `OSError`."""
    mode, identity = stat.S_IMODE(state.st_mode) & 0o777, _identify(state)
    if stat.S_ISDIR(state.st_mode):
        return Seen(state=FileState(kind="folder", mode=mode), identity=identity)
    if stat.S_ISLNK(state.st_mode):
        target = os.readlink(name, dir_fd=place)
        return Seen(state=FileState(kind="link", content=target), identity=identity)
    if not stat.S_ISREG(state.st_mode):
        return None
    try:
        file = os.open(name, _FILE, dir_fd=place)
    except PermissionError:
        is_same = known and known.identity and known.identity[1:3] == identity[1:3]
        content = known.state.content if known and is_same else ""
        return Seen(state=FileState(kind="file", mode=mode, content=content), identity=identity)
    with files.closing(file):
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            return None
        now = time.time_ns()
        content = keep(file, before.st_size)
        after = _identify(os.fstat(file))
        is_still = after == _identify(before) and after[3] < now - _TICK
    kept = FileState(kind="file", mode=stat.S_IMODE(before.st_mode) & 0o777, content=content)
    seen = Seen(state=kept, identity=after if is_still else None, lacks_copy=not content)
    return known if seen == known else seen


def _open_folder(top: int, folder: str) -> AbstractContextManager[int]:
    return files.closing(files.open_below(top, folder or ".", _FOLDER, follows_links=False))


def _remove(place: int, name: str) -> None:
    try:
        state = os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(state.st_mode):
        os.rmdir(name, dir_fd=place)
    else:
        os.unlink(name, dir_fd=place)


def _exists(place: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _make_folder(top: int, place: int, name: str, mode: int) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=place)
    except FileExistsError:
        with suppress(IsADirectoryError, PermissionError):
            os.unlink(name, dir_fd=place)
            os.mkdir(name, 0o700, dir_fd=place)
    with files.closing(os.open(name, _FOLDER | os.O_CLOEXEC, dir_fd=place)) as made:
        files.give(made, top)
        os.fchmod(made, mode)


def _replace(
    top: int, place: int, name: str, state: FileState, read: Callable[[str], Iterator[bytes]]
) -> None:
    """Put a file or a link in the place of anything but a folder that is not empty."""
    # The same name as before a kill, so that no draft is left.
    draft = f".{blake2b(name.encode(errors='surrogateescape'), digest_size=8).hexdigest()}.part"
    with suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=place)
    try:
        _write_draft(top, place, draft, state, read)
        with suppress(FileNotFoundError, NotADirectoryError):
            os.rmdir(name, dir_fd=place)
        os.rename(draft, name, src_dir_fd=place, dst_dir_fd=place)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=place)
        raise


def _write_draft(
    top: int, place: int, draft: str, state: FileState, read: Callable[[str], Iterator[bytes]]
) -> None:
    if state.kind == "link":
        os.symlink(state.content, draft, dir_fd=place)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with files.closing(os.open(draft, flags, 0o600, dir_fd=place)) as file:
        for piece in read(state.content):
            view = memoryview(piece)
            while view:
                view = view[os.write(file, view) :]
        files.give(file, top)
        os.fchmod(file, state.mode & 0o777)
