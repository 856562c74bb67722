"""Files of a workspace, opened so that no link and no `..` leads out of it (Linux 5.6).

The person's commands may change the workspace at any moment. So the kernel resolves every path,
below a descriptor of the workspace. Everything here blocks.
"""

import ctypes
import errno
import os
import secrets
import stat
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_core.errors import BackendUnavailable, DiskFull, WorkspaceError
from agent_core.execution.contract import FileContent

_OPENAT2 = 437
"""The system call's number, the same on every architecture; glibc 2.36 has no wrapper."""
_BENEATH, _NO_MAGIC_LINKS, _NO_LINKS = 0x08, 0x02, 0x04
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_SET_ID = stat.S_ISUID | stat.S_ISGID
_LONGEST_NAME = 255
_LONGEST_PATH = 4096
_PIECE = 1 << 20
_REASONS = {
    errno.EXDEV: "leads out of the workspace",
    errno.ELOOP: "is a circle of links",
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "has a file where a folder must be",
    errno.EISDIR: "is a folder",
    errno.ENAMETOOLONG: "is too long a path",
    errno.EACCES: "is not open to Talaria: its mode forbids it",
    errno.ENXIO: "is no plain file",
    errno.ENOSPC: "can't be written: the disk is full",
    errno.EDQUOT: "can't be written: the disk quota is used up",
}

_libc = ctypes.CDLL(None, use_errno=True)


def read(root: Path, path: str, most: int) -> FileContent:
    """Read the beginning of a file. Raises `WorkspaceError`."""
    with errors_of(path), open_root(root) as top:
        # A pipe without a writer would block forever; a terminal would become this process's own.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
        with closing(open_below(top, path, flags)) as file:
            state = os.fstat(file)
            if stat.S_ISDIR(state.st_mode):
                raise IsADirectoryError(errno.EISDIR, "")
            if not stat.S_ISREG(state.st_mode):
                raise OSError(errno.ENXIO, "")
            return FileContent(data=_read_up_to(file, most), size=state.st_size)


def write(root: Path, path: str, data: bytes) -> None:
    """Replace a file atomically, and make missing folders. Raises `WorkspaceError`."""
    folder, _, name = path.rstrip("/").rpartition("/")
    if name in ("", ".", "..") or path.endswith("/"):
        raise WorkspaceError(f"`{path}` names no file")
    with errors_of(path), open_root(root) as top, _make_folders(top, folder) as place:
        mode = _find_mode(place, name)
        draft = f".{secrets.token_hex(8)}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with closing(os.open(draft, flags, _FILE_MODE, dir_fd=place)) as file:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(file, view) :]
                os.fchmod(file, mode)
                give(file, top)
                os.rename(draft, name, src_dir_fd=place, dst_dir_fd=place)
            except OSError:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=place)
                raise


def find_folder(root: Path, path: str) -> None:
    """Raise `WorkspaceError` unless a folder of this path exists."""
    with errors_of(path), open_root(root) as top:
        os.close(open_below(top, path or ".", os.O_PATH | os.O_DIRECTORY))


def walk_files(root: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the plain files of a workspace, sorted: each path, and its content in pieces.

    Files that can't be opened are left out: a command may have made them so. Raises no
    `WorkspaceError`.
    """
    if not root.is_dir():
        return
    with open_root(root) as top:
        folders = [""]
        while folders:
            folder = folders.pop()
            with suppress(OSError):
                flags = os.O_RDONLY | os.O_DIRECTORY
                with closing(open_below(top, folder or ".", flags)) as place:
                    found = sorted(os.scandir(place), key=lambda entry: entry.name)
                paths = [(f"{folder}/{entry.name}".lstrip("/"), entry) for entry in found]
                folders += [path for path, entry in paths if entry.is_dir(follow_symlinks=False)]
                for path, entry in paths:
                    if entry.is_file(follow_symlinks=False):
                        yield path, _read_pieces(top, path)


def walk_states(root: Path) -> Iterator[os.stat_result]:
    """Yield the state of everything in a workspace, without following links.

    Files lose the bits for another user and group, which sandboxes of earlier versions let stay.

    Raises `OSError` for a folder that is too deep to be opened, or whose mode a command takes back
    as often as it is opened: what it holds would not count.
    """
    with open_root(root) as top:
        folders = ["."]
        while folders:
            folder = folders.pop()
            try:
                place = _open_closed(top, folder)
            except OSError as error:
                if error.errno in (errno.ENAMETOOLONG, errno.EACCES):
                    raise
                continue  # it was moved or deleted meanwhile
            with closing(place), os.scandir(place) as entries:
                for entry in entries:
                    with suppress(OSError):
                        state = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(state.st_mode) and state.st_mode & _SET_ID:
                            _drop_set_id(place, entry.name)
                        yield state
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(f"{folder}/{entry.name}")


def _drop_set_id(place: int, name: str) -> None:
    with closing(os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)) as file:
        mode = os.fstat(file).st_mode
        if stat.S_ISREG(mode):
            os.chmod(f"/proc/self/fd/{file}", mode & 0o777)  # noqa: PTH101 - of a descriptor


def _open_closed(top: int, folder: str) -> int:
    """Open a folder to list it, also one that a command has closed to its own account."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        return open_below(top, folder, flags)
    except PermissionError:
        with closing(open_below(top, folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)) as place:
            os.chmod(f"/proc/self/fd/{place}", _FOLDER_MODE)  # noqa: PTH101 - of a descriptor
        return open_below(top, folder, flags)


def remove_workspace(root: Path) -> None:
    """Remove a workspace, at any depth of folders and with any file modes.

    Raises `OSError` if that fails.
    """
    if root.is_symlink():
        root.unlink()
    if not root.exists():
        return
    for words in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
        argv = [*words, "--", str(root)]
        subprocess.run(argv, check=False, capture_output=True)  # noqa: S603 - no shell
    if root.exists():
        raise OSError(errno.EBUSY, "the workspace can't be removed", str(root))


def _read_pieces(top: int, path: str) -> Iterator[bytes]:
    with suppress(OSError), closing(open_below(top, path, os.O_RDONLY | os.O_NONBLOCK)) as file:
        if stat.S_ISREG(os.fstat(file).st_mode):
            while piece := os.read(file, _PIECE):
                yield piece


def give(file: int, top: int) -> None:
    """Change the owner of root's files to the workspace's owner; commands run as that user."""
    owner = os.fstat(top).st_uid
    if os.geteuid() == 0 and owner:
        os.fchown(file, owner, owner)


def _find_mode(place: int, name: str) -> int:
    """Return the mode that a file keeps when its content is replaced."""
    try:
        state = os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return _FILE_MODE
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, "")
    return stat.S_IMODE(state.st_mode) & 0o777 if stat.S_ISREG(state.st_mode) else _FILE_MODE


def _read_up_to(file: int, most: int) -> bytes:
    pieces, left = [], most
    while left and (piece := os.read(file, min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


@contextmanager
def open_root(root: Path) -> Iterator[int]:
    """Open a workspace, to open what lies below it."""
    with closing(os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) as top:
        yield top


@contextmanager
def _make_folders(top: int, folder: str) -> Iterator[int]:
    """Open a folder below another one; make the missing folders of its path."""
    made = ""
    for part in folder.split("/"):
        made = f"{made}/{part}".lstrip("/")
        try:
            os.close(open_below(top, made or ".", os.O_PATH | os.O_DIRECTORY))
        except FileNotFoundError:
            parent, _, name = made.rpartition("/")
            with closing(open_below(top, parent or ".", os.O_PATH | os.O_DIRECTORY)) as above:
                os.mkdir(name, _FOLDER_MODE, dir_fd=above)
            with closing(open_below(top, made, os.O_RDONLY | os.O_DIRECTORY)) as fresh:
                give(fresh, top)
    with closing(open_below(top, folder or ".", os.O_RDONLY | os.O_DIRECTORY)) as place:
        yield place


def open_below(top: int, path: str, flags: int, *, follows_links: bool = True) -> int:
    """Open a path below a folder; the kernel refuses paths that leave it. Raises `OSError`."""
    resolve = _BENEATH | _NO_MAGIC_LINKS | (0 if follows_links else _NO_LINKS)
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, resolve)
    result = int(
        _libc.syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_long(top),
            os.fsencode(path),
            how,
            ctypes.c_long(len(how)),
        )
    )
    if result < 0:
        code = ctypes.get_errno()
        if code == errno.ENOSYS:
            raise BackendUnavailable("this kernel is older than Linux 5.6")
        raise OSError(code, os.strerror(code))
    return result


@contextmanager
def closing(file: int) -> Iterator[int]:
    """Close a descriptor after the block."""
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def errors_of(path: str) -> Iterator[None]:
    """Turn the system's errors about a path into sentences."""
    if "\0" in path:
        raise WorkspaceError("a path can't hold a NUL character")
    parts = os.fsencode(path).split(b"/")
    if len(os.fsencode(path)) >= _LONGEST_PATH or max(map(len, parts)) > _LONGEST_NAME:
        raise WorkspaceError(f"`{path[:60]}…` is too long a path")
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"can't be used: {error.strerror}")
        kind = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else WorkspaceError
        raise kind(f"`{path}` {reason}") from error
