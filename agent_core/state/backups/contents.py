"""Read and write the tar archive of a backup: header, files and manifest.

A backup is a `.tar.gz` that ordinary programs can read. It holds `talaria-backup.json` first, the
files below `home/`, and `manifest.json` last. So it can be written in one pass, and a truncated one
has no manifest.
"""

import errno
import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

HEADER, MANIFEST, ROOT = "talaria-backup.json", "manifest.json", "home"
FORMAT = 1
BLOCK = 1 << 20
"""Bytes that are read, hashed and written per step."""
_LONGEST_PATH = 3900
"""The limit in bytes of a path below the home: Linux allows 4,096 for the home with its path."""
_SKIPPED = frozenset({errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG})
"""The errors of single files that a backup does without."""
_LEVEL = 1
"""The gzip level: higher levels take up to five times as long and save a tenth of the size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first member of a backup; it is read before anything is unpacked."""

    format: int
    schema: int
    """The version of the database's schema."""
    made_at: int
    """The time of the backup, in milliseconds since the epoch, UTC."""
    left_out: tuple[str, ...]
    """Names in the home that are not in the backup; a restore leaves them as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupEntry:
    """A file, folder or symbolic link of a home."""

    path: str
    kind: str
    """`file`, `folder` or `link`."""
    size: int = 0
    sha256: str = ""
    """The hash of a file's bytes, or of the target of a link; empty for a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything in a backup, in the order of the archive."""

    entries: tuple[BackupEntry, ...]
    unreadable: tuple[str, ...] = ()
    """Files and folders that Talaria's user is not allowed to read. Files, and the content of
    folders, are not in the backup.
    """

    @property
    def files(self) -> int:
        """The number of files."""
        return sum(entry.kind == "file" for entry in self.entries)

    @property
    def size(self) -> int:
        """The bytes of all files, before compression."""
        return sum(entry.size for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeContent:
    """The parts of a home that a backup holds."""

    home: Path
    database: str
    """The name of the database in the home."""
    copy: Path
    """The path of a copy of the database; `Database.back_up` made and checked it."""
    left_out: Collection[str]
    """Names in the home that stay out of the backup."""


def write_archive(sink: BinaryIO, content: HomeContent, header: Header, own: Path) -> Manifest:
    """Write the files of a home, with a copy of its database instead of the database itself.

    `own` is the file that is being written; it may be in the home. Files that vanish while this
    runs are not in the archive. Blocks. Raises `OSError`.
    """
    home, name = content.home, content.database
    entries: list[BackupEntry] = []
    unreadable: list[str] = []
    with (
        gzip.GzipFile(fileobj=sink, mode="wb", compresslevel=_LEVEL, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        _add_text(tar, HEADER, asdict(header))
        entries.append(_add_file(tar, name, content.copy))

        def skip(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                unreadable.append(Path(error.filename).relative_to(home).as_posix())

        for path in _walk(home, name, frozenset(content.left_out), skip):
            if path == own:
                continue
            try:
                entry = _add(tar, path.relative_to(home).as_posix(), path)
            except OSError as error:
                if error.errno not in _SKIPPED:
                    raise
                skip(error)
                continue
            if entry:
                entries.append(entry)
        manifest = Manifest(entries=tuple(entries), unreadable=tuple(unreadable))
        _add_text(tar, MANIFEST, asdict(manifest))
    return manifest


def _walk(
    home: Path, database: str, left_out: frozenset[str], skip: Callable[[OSError], None]
) -> Iterator[Path]:
    """Yield everything below a home in a fixed order, each folder before its content.

    The database and its side files are left out. `skip` receives the error of each folder that
    can't be listed.
    """
    for folder, folders, files in os.walk(home, onerror=skip):
        place = Path(folder)
        if place == home:
            folders[:] = [name for name in folders if name not in left_out]
            files[:] = [name for name in files if name not in left_out]
            files[:] = [name for name in files if not f"{name}-".startswith(f"{database}-")]
        folders.sort()
        yield from (place / name for name in sorted([*folders, *files]))


def _add(tar: tarfile.TarFile, name: str, path: Path) -> BackupEntry | None:
    """Add one path; return None for a socket, a pipe or a device, which a backup can't hold.

    Raises `OSError`, also for a path that no restore could create.
    """
    if len(os.fsencode(name)) > _LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        target = str(path.readlink())
        member = _describe(name, path)
        member.type, member.linkname = tarfile.SYMTYPE, target
        tar.addfile(member)
        return BackupEntry(path=name, kind="link", sha256=_hash_text(target))
    if stat.S_ISDIR(mode):
        member = _describe(name, path)
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
        return BackupEntry(path=name, kind="folder")
    return _add_file(tar, name, path) if stat.S_ISREG(mode) else None


def _add_file(tar: tarfile.TarFile, name: str, path: Path) -> BackupEntry:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb") as file:
        member = _describe(name, path)
        member.size = os.fstat(descriptor).st_size
        source = _Measured(file, member.size)
        tar.addfile(member, source)
    return BackupEntry(path=name, kind="file", size=member.size, sha256=source.hash.hexdigest())


class _Measured(io.RawIOBase):
    """Hashes the bytes read from a file, and returns exactly as many as the file had at first.

    A file that grows is cut at that size. A file that shrinks is filled up with zeros, as after a
    crash.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        wanted = self._left if size < 0 else min(size, self._left)
        block = self._file.read(wanted).ljust(wanted, b"\0")
        self._left -= wanted
        self.hash.update(block)
        return block


def _describe(name: str, path: Path) -> tarfile.TarInfo:
    found = path.lstat()
    member = tarfile.TarInfo(f"{ROOT}/{name}")
    member.mode, member.mtime = stat.S_IMODE(found.st_mode) & 0o777, found.st_mtime
    return member


def _add_text(tar: tarfile.TarFile, name: str, value: object) -> None:
    text = json.dumps(value, indent=1).encode()
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(text), 0o600
    tar.addfile(member, io.BytesIO(text))


def _hash_text(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()
