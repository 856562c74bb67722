"""Zip archives that are filled piece by piece: begun anew before one grows too large."""

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path

_ROOM = 0.75
"""Part of its limit at which the next file goes into another archive."""
_LEVEL = 6
_LISTED = 46
"""Bytes of an archive's list for each file, besides its name."""


class Bundle:
    """Archives in a folder: `NAME.zip`, or `NAME-1.zip` and on. Blocks; belongs on a thread.

    `most_bytes` is what one should not pass, 0 for no limit; a file larger than that makes an
    archive that does.
    """

    def __init__(self, folder: Path, name: str, most_bytes: int) -> None:
        self._folder = folder
        self._name = name
        self._most = most_bytes
        self._paths: list[Path] = []
        self._zip: zipfile.ZipFile | None = None

    def add(self, name: str, pieces: Iterable[str | bytes]) -> None:
        """Write a file; what is given piece by piece is never held as a whole."""
        target = self._open()
        with target.open(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), "w") as file:
            for piece in pieces:
                file.write(piece.encode("utf-8", "replace") if isinstance(piece, str) else piece)

    def close(self) -> list[Path]:
        """The archives, all whole."""
        if self._zip:
            self._zip.close()
            self._zip = None
        if len(self._paths) == 1:
            return [self._paths[0].rename(self._folder / f"{self._name}.zip")]
        return self._paths

    def _open(self) -> zipfile.ZipFile:
        if self._zip and self._most and _size(self._zip) > self._most * _ROOM:
            self._zip.close()
            self._zip = None
        if self._zip is None:
            path = self._folder / f"{self._name}-{len(self._paths) + 1}.zip"
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            self._paths.append(path)
            self._zip = zipfile.ZipFile(
                path, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=_LEVEL
            )
        return self._zip


def _size(archive: zipfile.ZipFile) -> int:
    """About how many bytes an archive will have, with the list of its files at the end."""
    written = archive.fp.tell() if archive.fp else 0
    return written + sum(_LISTED + len(file.filename) for file in archive.filelist)
