"""Make a backup of a home: a file that appears only when it is complete and verified."""

import os
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

from agent_core.errors import StoreDamaged, StoreError
from agent_core.state.backups.contents import (
    FORMAT,
    Header,
    HomeContent,
    Manifest,
    write_archive,
)
from agent_core.state.backups.encryption import AGE, KEY, Keys, Lock, decrypting, encrypting
from agent_core.state.backups.reading import Contents, describe_foreign, read_archive
from agent_core.state.engine.backup import sync_folder
from agent_core.state.engine.recovery import translate_os_error
from agent_core.state.engine.upgrade import FOLDER, load_migrations
from agent_core.state.lifecycle.inspect import peek

PART = ".part"
"""The suffix of a backup that is not complete yet."""
_GZIP = b"\x1f\x8b"
_LONGEST_SIGN = max(len(sign) for sign in (AGE, KEY, _GZIP))


def make_backup(content: HomeContent, target: Path, lock: Lock, now: int) -> Manifest:
    """Write a backup to a new file, read it again to verify it, and give it its name. Blocks.

    `now` is in milliseconds since the epoch, UTC. Raises `StoreFull`, `StoreDamaged` if the file
    does not hold the bytes that were written, and `StoreError` if the target can't be written.
    """
    found = peek(content.copy)
    if found is None:
        raise StoreError(f"{content.copy} has vanished")
    header = Header(
        format=FORMAT,
        schema=found.schema,
        made_at=now,
        left_out=tuple(sorted(content.left_out)),
    )
    part = target.with_name(target.name + PART)
    try:
        try:
            part.unlink(missing_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as sink:
                written, keys = _write(sink, content, header, lock, part)
                sink.flush()
                os.fsync(descriptor)
            if read_backup(part, keys).manifest != written:
                raise StoreDamaged(f"{part} doesn't hold what was written; is the disk failing?")
            _publish(part, target)
        finally:
            part.unlink(missing_ok=True)
        sync_folder(target.parent)
    except OSError as error:
        raise translate_os_error(error, target) from error
    return written


def read_backup(path: Path, keys: Keys, folder: Path | None = None) -> Contents:
    """Read a whole backup; unpack it into an empty folder if one is given. Blocks.

    Raises `StoreError` as `read_archive` and `decrypting` do.
    """
    try:
        with path.open("rb") as source:
            return read_stream(source, str(path), keys, folder)
    except OSError as error:
        raise translate_os_error(error, folder or path) from error


def read_stream(source: BinaryIO, name: str, keys: Keys, folder: Path | None) -> Contents:
    """Read a backup from a buffered stream, like `read_backup`; `name` names it in messages.

    Raises `OSError`, too.
    """
    sign = find_sign(source)
    newest = len(load_migrations(FOLDER))
    if sign.startswith(_GZIP):
        return read_archive(source, name, newest, folder)
    if sign not in (AGE, KEY):
        raise StoreError(describe_foreign(name))
    with decrypting(source, keys, name) as opened:
        return read_archive(opened, name, newest, folder)


def find_sign(source: BinaryIO) -> bytes:
    """Return the first bytes that mark a kind of backup, or the first bytes of any other file."""
    start: bytes = source.peek(_LONGEST_SIGN)[:_LONGEST_SIGN]  # type: ignore[attr-defined]
    return next((sign for sign in (AGE, KEY, _GZIP) if start.startswith(sign)), start)


def _write(
    sink: BinaryIO, content: HomeContent, header: Header, lock: Lock, own: Path
) -> tuple[Manifest, Keys]:
    opening = encrypting(sink, lock) if lock else nullcontext((sink, Keys()))
    with opening as (stream, keys):
        return write_archive(stream, content, header, own), keys


def _publish(part: Path, target: Path) -> None:
    """Give the backup its name, without replacing a file that has appeared in the meantime."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:
        # FAT and some network file systems have no hard links.
        if target.exists():
            raise
        part.rename(target)
