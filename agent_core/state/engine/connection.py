"""An SQLite connection on its own thread, group commits, and checksums of rows.

It also reads rows as records: the columns of a statement have the names of the record's fields,
with `AS` if they differ.
"""

import asyncio
import os
import shutil
import sqlite3
import traceback
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import aiosqlite

from agent_core.errors import StoreError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Observer = Callable[[Literal["begin", "committed"], tuple[str, ...]], None]
"""Called on the writer's thread just before and just after a commit. It receives the phase and the
names of the writes.
"""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class PendingWrite:
    """A write that waits for its commit. The writer's thread sets `value` or `error`.

    Its repr shows no fields, because aiosqlite's debug log would print what people wrote.
    """

    name: str
    work: Callable[[sqlite3.Connection], Any]
    done: asyncio.Future[None]
    value: Any = None
    error: BaseException | None = None


def commit_group(
    connection: sqlite3.Connection, writes: Sequence[PendingWrite], observe: Observer | None
) -> None:
    """Run every write and commit those that succeeded; a failed write alone is rolled back.

    Raises `sqlite3.Error` if the whole transaction can't begin or commit, and `StoreError` if a
    write ended the transaction. In both cases, none of the writes counts as stored.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        is_alone = len(writes) == 1
        for write in writes:
            _attempt(connection, write, is_alone=is_alone)
        names = tuple(write.name for write in writes if write.error is None)
        if not names:
            connection.execute("ROLLBACK")
            return
        if observe:
            observe("begin", names)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if observe:
        observe("committed", names)


def _attempt(connection: sqlite3.Connection, write: PendingWrite, *, is_alone: bool) -> None:
    """Run one write under a savepoint; a write that is alone in its transaction needs none."""
    if not is_alone:
        connection.execute("SAVEPOINT write")
    try:
        write.value = write.work(connection)
    except BaseException as error:  # raised again in the caller that sent the write
        if not connection.in_transaction:
            # On a full or failing disk, SQLite rolls back the whole transaction itself.
            raise
        # The frames of the error may hold a cursor of an unfinished UPDATE ... RETURNING, and
        # SQLite refuses to commit while a writing statement is open.
        traceback.clear_frames(error.__traceback__)
        write.error = error
    if not connection.in_transaction:
        raise StoreError(f"the write {write.name!r} ended its transaction")
    if not is_alone:
        if write.error:
            connection.execute("ROLLBACK TO write")
        connection.execute("RELEASE write")


_STEP = 2 << 20
"""Bytes by which the WAL grows at a time. This takes some milliseconds, for which a commit may have
to wait.
"""
_SPARE = 1 << 30
"""The WAL does not grow if the disk has fewer free bytes."""


def lengthen_wal(path: Path, most: int) -> None:
    """Append zeros to the WAL of a database, up to a length of `most` bytes.

    If a commit makes the file longer, the disk must also write the new length, which takes several
    times as long as the commit. SQLite ignores the bytes behind its last commit and overwrites
    them. Call this on the writer's thread between transactions. The file is opened for appending,
    so that this never overwrites anything. Raises `OSError`.
    """
    if shutil.disk_usage(path.parent).free < _SPARE:
        return
    end = os.open(path.with_name(f"{path.name}-wal"), os.O_WRONLY | os.O_APPEND)
    with os.fdopen(end, "ab") as wal:
        left = most - wal.seek(0, os.SEEK_END)
        if left > 0:
            wal.write(bytes(min(left, _STEP)))
            wal.flush()
            os.fsync(wal.fileno())


T = TypeVar("T")


async def fetch_value(connection: aiosqlite.Connection, sql: str) -> Any:
    """Run a statement and return the first column of its first row; None if there are no rows."""
    async with connection.execute(sql) as cursor:
        row = await cursor.fetchone()
    return row[0] if row else None


BUSY_TIMEOUT_SECONDS = 5.0
"""The longest wait of a statement for the lock of another program."""
_CACHED_STATEMENTS = 256
_STEPS_BETWEEN_CHECKS = 100_000
"""Instructions of SQLite's virtual machine between two checks whether the connection is closing;
they take a few milliseconds.
"""


class ThreadedConnection:
    """A connection that runs functions on its own thread, one after the other."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.sqlite = connection
        """The connection itself, for single statements where speed does not matter."""
        self.load = 0
        """The number of functions that wait for the thread or run on it."""
        self.gives_way: Callable[[], bool] | None = None
        """Interrupts the running statement once it returns True; called on the thread."""
        self._changed: set[str] = set()
        self._is_closing = False

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        mode: Literal["write", "peek"] = "write",
        busy_timeout: float = BUSY_TIMEOUT_SECONDS,
    ) -> "ThreadedConnection":
        """Connect; the mode `peek` reads an existing file and changes nothing in it.

        Raises `sqlite3.Error`. `path` must be absolute.
        """
        # A read-only connection never runs a checkpoint, not even if it is the last one to close.
        address = f"{path.as_uri()}?mode={'ro' if mode == 'peek' else 'rwc'}"
        opening = asyncio.create_task(cls._open(address, busy_timeout))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            # Its thread would keep the process alive forever.
            await asyncio.wait({opening})
            if opening.exception() is None:
                await opening.result().close()
            raise

    @classmethod
    async def _open(cls, address: str, busy_timeout: float) -> "ThreadedConnection":
        connection = await aiosqlite.connect(
            address,
            uri=True,
            isolation_level=None,
            timeout=busy_timeout,
            cached_statements=_CACHED_STATEMENTS,
        )
        opened = cls(connection)
        # Unlike an interrupt from another thread, this also stops a statement that is about to
        # begin.
        await connection.set_progress_handler(opened._should_stop, _STEPS_BETWEEN_CHECKS)
        return opened

    def _should_stop(self) -> bool:
        return self._is_closing or (self.gives_way is not None and self.gives_way())

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a whole function on the thread: one thread switch for all its statements.

        Raises what `work` raises. If the caller is cancelled, the function still runs to its end.
        """
        self.load += 1
        try:
            # aiosqlite has no public call that runs our own function on its thread, and a thread
            # switch per statement takes 8 times as long. No other code uses its private names.
            execute: Callable[..., Awaitable[T]] = self.sqlite._execute
            return await execute(work, self.sqlite._conn)
        finally:
            self.load -= 1

    async def watch(self, tables: Iterable[str]) -> None:
        """From now on, note which of these tables are written. Raises `sqlite3.Error`."""
        await self.sqlite.create_function("note_change", 1, self._changed.add)
        for table in tables:
            for event in ("INSERT", "UPDATE", "DELETE"):
                # A trigger notices every write, whichever statement makes it.
                await self.sqlite.execute(
                    f"CREATE TEMP TRIGGER {table}_{event} AFTER {event} ON main.{table}"
                    f" BEGIN SELECT note_change('{table}'); END"
                )

    def has_changed(self, tables: frozenset[str]) -> bool:
        """Return whether a watched table was written since the last `count_changed`."""
        return not self._changed.isdisjoint(tables)

    def count_changed(self, counts: Counter[str]) -> None:
        """Count the watched tables with a write since the last call, even if it was rolled back."""
        while self._changed:
            counts[self._changed.pop()] += 1

    async def close(self) -> None:
        """Interrupt the running statement and stop the thread."""
        self._is_closing = True
        await self.sqlite.close()


def checksum(*values: str | int | None) -> int:
    """Compute the CRC-32 over the values in their order, 0 to 2**32 - 1.

    Each value is encoded with its type and length, so that two different lists never have the same
    encoding. A bool counts as the integer that SQLite stores for it.
    """
    encoded = "".join(map(_encode, values)).encode("utf-8", "surrogatepass")
    return zlib.crc32(encoded)


def _encode(value: str | int | None) -> str:
    if value is None:
        return "n"
    if isinstance(value, str):
        return f"s{len(value)}:{value}"
    return f"i{int(value)};"


Decode = Callable[[Any], object]
"""Converts the value of a column to the value of a field."""
Decoders = Mapping[str, Decode]


def read_all(kind: Callable[..., T], rows: sqlite3.Cursor, /, **decode: Decode) -> list[T]:
    """Return a record for each row; `decode` converts the columns of some fields."""
    names = [column[0] for column in rows.description]
    records = []
    for row in rows.fetchall():  # the statement is closed even if a record can't be made
        fields = dict(zip(names, row, strict=True))
        fields.update((name, make(fields[name])) for name, make in decode.items())
        records.append(kind(**fields))
    return records


def read_one(kind: Callable[..., T], rows: sqlite3.Cursor, /, **decode: Decode) -> T | None:
    """Return the record of the first row; None if there are no rows."""
    return next(iter(read_all(kind, rows, **decode)), None)


def list_fields(record: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a record by name, as parameters of a statement.

    The values are not copied, so that it takes a tenth of the time of `dataclasses.asdict`.
    """
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
