"""Unpack a backup, and compare it with its manifest."""

import gzip
import hashlib
import json
import os
import tarfile
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from agent_core.errors import StoreDamaged, StoreError, StoreTooNew
from agent_core.state.backups.contents import (
    BLOCK,
    FORMAT,
    HEADER,
    MANIFEST,
    ROOT,
    BackupEntry,
    Header,
    Manifest,
)

_LONGEST_HEADER = 1 << 16
_LONGEST_MANIFEST = 1 << 30
"""The limit in bytes: more than the names of a million files take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """A backup that was read to its end and matches its manifest."""

    header: Header
    manifest: Manifest


def read_archive(source: BinaryIO, name: str, newest_schema: int, folder: Path | None) -> Contents:
    """Read a whole backup; unpack it into an empty folder if one is given.

    `name` names the backup in messages. Blocks. Raises `StoreTooNew` before anything is unpacked,
    `StoreDamaged` if the backup is truncated or altered, `StoreError` if it is not a backup of
    Talaria, and `OSError` if the folder can't be written.
    """
    try:
        with gzip.GzipFile(fileobj=source) as packed:
            contents = _read(packed, name, newest_schema, folder)
            while packed.read(BLOCK):
                pass  # the checksum is at the end
            return contents
    except EOFError as error:
        raise StoreDamaged(_cut_off(name)) from error
    except (gzip.BadGzipFile, tarfile.TarError, zlib.error) as error:
        raise StoreDamaged(_changed(name)) from error


def _read(packed: gzip.GzipFile, name: str, newest_schema: int, folder: Path | None) -> Contents:
    try:
        tar = tarfile.open(fileobj=packed, mode="r|")  # noqa: SIM115 - closed by `with` below
    except tarfile.ReadError as error:
        raise StoreError(describe_foreign(name)) from error
    with tar:
        header = _read_header(tar, name, newest_schema)
        unpacked = _Unpacked(folder)
        while member := tar.next():
            if member.name == MANIFEST:
                manifest = _read_manifest(_take(tar, member, name, _LONGEST_MANIFEST), name)
                if manifest.entries != tuple(unpacked.entries):
                    raise StoreDamaged(_changed(name))
                unpacked.finish()
                return Contents(header=header, manifest=manifest)
            unpacked.add(tar, member, name)
    raise StoreDamaged(_cut_off(name))


class _Unpacked:
    """The members read so far; files are written at once, links at the end."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.entries: list[BackupEntry] = []
        self._seen: set[str] = set()
        self._links: list[tuple[Path, str]] = []
        self._folders: list[tuple[Path, int]] = []

    def add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> None:
        """Add one member. Raises `StoreDamaged` for a member that no backup contains."""
        path = member.name.removeprefix(f"{ROOT}/")
        parts = PurePosixPath(path).parts
        is_inside = parts and ".." not in parts and not path.startswith("/")
        if path == member.name or not is_inside or path in self._seen or "\0" in path:
            raise StoreDamaged(_changed(name))
        self._seen.add(path)
        target = self._folder.joinpath(*parts) if self._folder else None
        if target:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if member.isdir():
            self.entries.append(BackupEntry(path=path, kind="folder"))
            if target:
                target.mkdir(mode=0o700, exist_ok=True)
                self._folders.append((target, member.mode & 0o777))
        elif member.issym():
            sha256 = hashlib.sha256(os.fsencode(member.linkname)).hexdigest()
            self.entries.append(BackupEntry(path=path, kind="link", sha256=sha256))
            if target:
                self._links.append((target, member.linkname))
        elif member.isreg():
            self.entries.append(self._add_file(tar, member, path, target))
        else:
            raise StoreDamaged(_changed(name))

    def finish(self) -> None:
        """Create the links after all files, so that no file is written through a link.

        Then set the modes of folders, the deepest first.
        """
        for place, to in self._links:
            place.symlink_to(to)
        for place, mode in reversed(self._folders):
            place.chmod(mode)

    def _add_file(
        self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str, target: Path | None
    ) -> BackupEntry:
        source = tar.extractfile(member)
        if source is None:
            raise StoreDamaged(f"{path} has no bytes")
        digest = hashlib.sha256()
        descriptor = (
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            if target
            else -1
        )
        try:
            while block := source.read(BLOCK):
                digest.update(block)
                if target:
                    _write_all(descriptor, block)
            if target:
                os.fchmod(descriptor, member.mode & 0o777)
                os.utime(descriptor, (member.mtime, member.mtime))
                os.fsync(descriptor)
        finally:
            if target:
                os.close(descriptor)
        return BackupEntry(path=path, kind="file", size=member.size, sha256=digest.hexdigest())


def _write_all(descriptor: int, block: bytes) -> None:
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read_header(tar: tarfile.TarFile, name: str, newest_schema: int) -> Header:
    first = tar.next()
    if first is None or first.name != HEADER:
        raise StoreError(describe_foreign(name))
    try:
        value = json.loads(_take(tar, first, name, _LONGEST_HEADER))
        if value["format"] > FORMAT or value["schema"] > newest_schema:
            raise StoreTooNew(f"{name} was made by a newer Talaria; upgrade Talaria first")
        header = Header(**value | {"left_out": tuple(map(str, value["left_out"]))})
        datetime.fromtimestamp(header.made_at / 1000, UTC)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise StoreDamaged(_changed(name)) from error
    return header


def _read_manifest(text: bytes, name: str) -> Manifest:
    try:
        value = json.loads(text)
        entries = tuple(BackupEntry(**row) for row in value["entries"])
        return Manifest(entries=entries, unreadable=tuple(map(str, value["unreadable"])))
    except (ValueError, TypeError, KeyError) as error:
        raise StoreDamaged(_changed(name)) from error


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, name: str, longest: int) -> bytes:
    file = tar.extractfile(member) if member.isreg() and member.size <= longest else None
    if file is None:
        raise StoreDamaged(_changed(name))
    return file.read()


def describe_foreign(name: str) -> str:
    """Return the message that a file is not a backup."""
    return f"{name} is not a backup of Talaria; name a file that `talaria backup` wrote"


def _cut_off(name: str) -> str:
    return f"{name} is cut off: its end is missing; use another backup"


def _changed(name: str) -> str:
    return f"{name} is damaged: it doesn't hold what was written; use another backup"
