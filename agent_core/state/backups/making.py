"""Make a backup of a home: a file that appears only when it is complete and verified."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from agent_core.errors import StoreBusy, StoreDamaged, StoreError
from agent_core.state.backups.claims import LOCKLESS
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
    does not hold the bytes that were written, `StoreBusy` if another process writes it, and
    `StoreError` if the target exists or can't be written.
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
        with _claim(part) as sink:
            written, keys = _write(sink, content, header, lock, part)
            sink.flush()
            os.fsync(sink.fileno())
            if read_backup(part, keys).manifest != written:
                raise StoreDamaged(f"{part} doesn't hold what was written; is the disk failing?")
            _publish(part, target)
        sync_folder(target.parent)
    except OSError as error:
        raise translate_os_error(error, target) from error
    return written


@contextmanager
def _claim(part: Path) -> Iterator[BinaryIO]:
    """Yield a new file, and delete it at the end; one that a killed backup left is used again.

    Raises `StoreBusy` if another process writes it, and `OSError`.
    """
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as sink:
        try:
            fcntl.flock(sink, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_free = True
        except OSError as error:
            is_free = error.errno in LOCKLESS
        # Another process may have published the file before this one had the lock.
        if (
            not is_free
            or not part.exists()
            or not os.path.samestat(part.stat(), os.fstat(descriptor))
        ):
            raise StoreBusy(f"another backup is being written to {part}; wait until it is done")
        try:
            sink.truncate(0)
            yield sink
        finally:
            part.unlink(missing_ok=True)


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
    """Give the backup its name. Raises `StoreError` if a file with that name has appeared."""
    try:
        os.link(part, target)
    except OSError as error:
        if os.path.lexists(target):
            raise StoreError(f"{target} exists already; name another file") from error
        # FAT and some network file systems have no hard links.
        part.rename(target)
