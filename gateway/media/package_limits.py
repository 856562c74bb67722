"""Reads zip and tar files within limits: lists their members, and unpacks them in memory only."""

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from xml.etree import ElementTree as ET

MOST_BYTES = 60_000_000
"""Most unpacked bytes read from one file. A file that claims or holds more is refused."""
MOST_MEMBERS = 5000
_ESCAPING = re.compile(r"(?:^|[\\/])\.\.(?:[\\/]|$)|^[\\/]|^[A-Za-z]:|[\x00-\x1f\x7f]")
"""Names that lead out of a folder, absolute ones, and those with control characters."""
_UNPACKERS: Mapping[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
}
_TAR_MARK = slice(257, 262)

PackageFlaw = Literal["encrypted", "archive", "large_archive", "unsafe_archive", "broken_document"]


class PackageFault(Exception):
    """A file can't be read; `fault` says why."""

    def __init__(self, fault: PackageFlaw) -> None:
        super().__init__(fault)
        self.fault: PackageFlaw = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file in an archive. `data` is None for a link, a device or a locked file."""

    name: str
    size: int
    data: bytes | None


class Package:
    """A zip file whose members are read up to `MOST_BYTES` in all."""

    def __init__(self, data: bytes) -> None:
        """Raises `PackageFault`."""
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise PackageFault("broken_document") from error
        self._left = MOST_BYTES
        self.infos = self._file.infolist()
        check([info.filename for info in self.infos], sum(info.file_size for info in self.infos))
        self.names = frozenset(info.filename for info in self.infos)

    def read(self, name: str | zipfile.ZipInfo) -> bytes:
        """Return the bytes of a member, whatever size its header claims. Raises `PackageFault`."""
        try:
            with self._file.open(name) as member:
                data = member.read(self._left + 1)
        except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise PackageFault("broken_document") from error
        except RuntimeError as error:  # zipfile's way to say that a password is missing
            raise PackageFault("encrypted") from error
        self._left -= len(data)
        if self._left < 0:
            raise PackageFault("large_archive")
        return data

    def parse(self, name: str) -> ET.Element:
        """Parse a member as XML. Raises `PackageFault`."""
        try:
            return ET.fromstring(self.read(name))  # noqa: S314 - this process is confined
        except ET.ParseError as error:
            raise PackageFault("broken_document") from error


def check(names: Sequence[str], size: int) -> None:
    """Check the table of an archive before anything is unpacked. Raises `PackageFault`."""
    if len(names) > MOST_MEMBERS or size > MOST_BYTES:
        raise PackageFault("large_archive")
    if any(_ESCAPING.search(name) for name in names):
        raise PackageFault("unsafe_archive")


def list_zip(package: Package) -> list[Member]:
    """Return the files of a zip file. Raises `PackageFault`."""
    files = [info for info in package.infos if not info.is_dir()]
    if files and all(info.flag_bits & 1 for info in files):
        raise PackageFault("encrypted")
    return [
        Member(
            name=info.filename,
            size=info.file_size,
            data=None if info.flag_bits & 1 else package.read(info),
        )
        for info in files
    ]


def list_tar(data: bytes) -> list[Member]:
    """Return the files of a tar file, or of a packed file. Raises `PackageFault`."""
    unpacked = _unpack(data)
    if unpacked[_TAR_MARK] != b"ustar":
        if unpacked is data:
            raise PackageFault("archive")
        return [Member(name="", size=len(unpacked), data=unpacked)]
    try:
        with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
            infos = [info for info in archive.getmembers() if not info.isdir()]
            check([info.name for info in infos], sum(info.size for info in infos if info.isreg()))
            return [
                Member(
                    name=info.name,
                    size=info.size,
                    data=file.read() if (file := _open(archive, info)) else None,
                )
                for info in infos
            ]
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise PackageFault("broken_document") from error


def _open(archive: tarfile.TarFile, info: tarfile.TarInfo) -> io.BufferedIOBase | None:
    """Open a regular file. Links are not followed, because they may lead anywhere."""
    file = archive.extractfile(info) if info.isreg() else None
    return file if isinstance(file, io.BufferedIOBase) else None


def _unpack(data: bytes) -> bytes:
    for mark, unpack in _UNPACKERS.items():
        if data.startswith(mark):
            try:
                with unpack(io.BytesIO(data)) as packed:
                    found: bytes = packed.read(MOST_BYTES + 1)
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise PackageFault("broken_document") from error
            if len(found) > MOST_BYTES:
                raise PackageFault("large_archive")
            return found
    return data
