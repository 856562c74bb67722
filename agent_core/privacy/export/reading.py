"""Read an export that a home has signed, and refuse one that was changed. Blocks."""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_core.privacy.export.export import FORMAT, VERSION
from agent_core.privacy.export.signer import MANIFEST, SIGNATURE, name_key
from agent_core.privacy.export.signing import SignatureBroken, check
from agent_core.transcript import flatten

_MOST_FILES = 500_000
_MOST_MANIFEST = 128 * 1024 * 1024
_MOST_LOADED = 512 * 1024 * 1024
"""The most bytes of all files that are loaded; the others are only compared with the manifest."""
_PIECE = 1 << 20
_CHANGED = "the file was changed after it was written"

Row = Mapping[str, Any]


class ExportRefused(Exception):
    """An export can't be read; the text is a clause that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedExport:
    """Holds what a home wrote about a person. Times are in milliseconds, UTC.

    `key` is the short form of the key that signed it. `tables` are the rows of its JSON files by
    name, and `conversations` the messages of its sessions by the session's number. `texts` are its
    lists of memory and `skills` the files of its skills, both by their names in the archive.
    """

    name: str
    made_at: int
    key: str
    is_moved: bool
    tables: Mapping[str, Sequence[Row]]
    conversations: Mapping[int, Sequence[Row]]
    texts: Mapping[str, str]
    skills: Mapping[str, bytes]


def read_export(path: Path) -> SignedExport:
    """Read an export, and compare each file with its signed manifest. Raises `ExportRefused`."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except OSError as error:
        raise ExportRefused(f"the file can't be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise ExportRefused("the file is no export, or is damaged") from error


def _read(archive: zipfile.ZipFile) -> SignedExport:
    names = archive.namelist()
    if len(names) > _MOST_FILES:
        raise ExportRefused(f"the file has more than {_MOST_FILES:,} files in it")
    if len(set(names)) < len(names):
        raise ExportRefused(f"{_CHANGED}: it has two files of one name")
    if MANIFEST not in names or SIGNATURE not in names:
        raise ExportRefused("the file is not signed, so it is no export that can be imported")
    manifest = _read_manifest(archive)
    hashes = manifest["files"]
    others = set(names) - {MANIFEST, SIGNATURE}
    if odd := sorted(others ^ hashes.keys()):
        what = "is not in its manifest" if odd[0] in others else "is missing"
        raise ExportRefused(f"{_CHANGED}: {flatten(odd[0], 80)} {what}")
    tables: dict[str, Sequence[Row]] = {}
    conversations: dict[int, Sequence[Row]] = {}
    texts: dict[str, str] = {}
    skills: dict[str, bytes] = {}
    left = _MOST_LOADED
    for name, digest in hashes.items():
        is_table = name.endswith(".json") and ("/" not in name or name.startswith("talks/"))
        is_text, is_skill = name.startswith("memory/"), name.startswith("skills/")
        is_kept = is_table or is_text or is_skill
        data = _load(archive, name, digest, keep=left if is_kept else 0)
        left -= len(data)
        if is_table:
            rows = _read_rows(name, data)
            if name.startswith("talks/"):
                conversations[_read_number(name)] = rows
            else:
                tables[name.removesuffix(".json")] = rows
        elif is_text:
            texts[name] = data.decode("utf-8", "replace")
        elif is_skill:
            skills[name] = data
    return SignedExport(
        name=manifest["name"],
        made_at=manifest["made_at"],
        key=name_key(manifest["key"]),
        is_moved=manifest["is_moved"],
        tables=tables,
        conversations=conversations,
        texts=texts,
        skills=skills,
    )


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    for name in (MANIFEST, SIGNATURE):
        if archive.getinfo(name).file_size > _MOST_MANIFEST:
            raise ExportRefused("the manifest of the file is too large")
    data = archive.read(MANIFEST)
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ExportRefused(f"{_CHANGED}: its manifest is no JSON") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ExportRefused("the file is no export of Talaria")
    if manifest.get("version") != VERSION:
        version = flatten(str(manifest.get("version")), 20)
        raise ExportRefused(
            f"the file has version {version} of the format, and this Talaria reads version"
            f" {VERSION}; upgrade the older one"
        )
    kinds = {"name": str, "made_at": int, "is_whole": bool, "is_moved": bool, "key": str}
    files = manifest.get("files")
    is_right = all(type(manifest.get(key)) is kind for key, kind in kinds.items())
    if not is_right or not isinstance(files, dict):
        raise ExportRefused("the manifest of the file is incomplete")
    try:
        check(manifest["key"], archive.read(SIGNATURE), data)
    except SignatureBroken as error:
        raise ExportRefused(f"{_CHANGED}: its signature does not fit") from error
    if not manifest["is_whole"]:
        raise ExportRefused(
            "the file is one of several parts; write the whole with `talaria people export`"
        )
    return manifest


def _load(archive: zipfile.ZipFile, name: str, digest: object, *, keep: int) -> bytes:
    """Compare a file with its hash, and return it; b"" if it need not be kept."""
    found, kept = hashlib.sha256(), bytearray()
    with archive.open(name) as file:
        while piece := file.read(_PIECE):
            found.update(piece)
            if keep:
                kept += piece
                if len(kept) > keep:
                    most = _MOST_LOADED // 1024**2
                    raise ExportRefused(f"the file holds more than {most} MB to import")
    if found.hexdigest() != digest:
        raise ExportRefused(f"{_CHANGED}: {flatten(name, 80)} is not as it was signed")
    return bytes(kept)


def _read_rows(name: str, data: bytes) -> Sequence[Row]:
    try:
        rows = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ExportRefused(f"{flatten(name, 80)} in the file is no JSON") from error
    if not isinstance(rows, list) or not all(isinstance(one, dict) for one in rows):
        raise ExportRefused(f"{flatten(name, 80)} in the file is no list of rows")
    return rows


def _read_number(name: str) -> int:
    digits = name.removesuffix(".json").rpartition("-")[2]
    if not digits.isdecimal() or len(digits) > 18:
        raise ExportRefused(f"{flatten(name, 80)} in the file has no number")
    return int(digits)
