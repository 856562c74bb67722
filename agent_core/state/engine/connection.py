"""One SQLite connection and the thread that it lives on."""

import asyncio
import sqlite3
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import aiosqlite

from agent_core.errors import StoreError

Observer = Callable[[Literal["begin", "committed"], tuple[str, ...]], None]
"""Called on the writer's thread just before and just after a commit, with the names of the
works in it."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Job:
    """A work that waits for its commit. The writer's thread fills `value` or `error`.

    It has no telling repr: aiosqlite's debug log would print what people said.
    """

    name: str
    work: Callable[[sqlite3.Connection], Any]
    done: asyncio.Future[None]
    value: Any = None
    error: BaseException | None = None


def commit_together(
    connection: sqlite3.Connection, jobs: Sequence[Job], observe: Observer | None
) -> None:
    """Run every job and commit those that succeeded; one that fails is rolled back alone.

    Raises `sqlite3.Error` when the transaction as a whole could not begin or commit, and
    `StoreError` when a job ended it: nothing of any job may then be taken as written.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        is_alone = len(jobs) == 1
        for job in jobs:
            _attempt(connection, job, is_alone=is_alone)
        names = tuple(job.name for job in jobs if job.error is None)
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


def _attempt(connection: sqlite3.Connection, job: Job, *, is_alone: bool) -> None:
    """Run one job under a savepoint; alone, it has the whole transaction for that."""
    if not is_alone:
        connection.execute("SAVEPOINT job")
    try:
        job.value = job.work(connection)
    except BaseException as error:  # not eaten: it is raised in the caller that sent the job
        if not connection.in_transaction:
            # A full or failing disk makes SQLite roll back the whole transaction by itself.
            raise
        # The frames of the error may hold a cursor in the middle of an UPDATE ... RETURNING,
        # and SQLite refuses to commit while a writing statement is open.
        traceback.clear_frames(error.__traceback__)
        job.error = error
    if not connection.in_transaction:
        raise StoreError(f"the work {job.name!r} ended the transaction that it was given")
    if not is_alone:
        if job.error:
            connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")


T = TypeVar("T")

BUSY_TIMEOUT_SECONDS = 5.0
"""How long a statement waits for a foreign lock; only a foreign program can hold one."""
_CACHED_STATEMENTS = 256
_STEPS_BETWEEN_LOOKS = 100_000
"""Instructions of SQLite's machine, some milliseconds of them, after which a statement looks
whether the connection is closing."""


class ThreadedConnection:
    """A connection whose work is done on a thread of its own, one function after another."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection
        self.load = 0
        """How many functions wait for the thread or run on it."""
        self._is_closing = False

    @classmethod
    async def open(
        cls, path: Path, *, mode: Literal["write", "peek"] = "write"
    ) -> "ThreadedConnection":
        """Connect; `peek` reads an existing file and changes nothing in it.

        Raises `sqlite3.Error`. `path` must be absolute.
        """
        # A read-only connection never checkpoints, not even when it is the last to close.
        address = f"{path.as_uri()}?mode={'ro' if mode == 'peek' else 'rwc'}"
        opening = asyncio.create_task(cls._open(address))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            # Its thread would keep the process alive for ever.
            await asyncio.wait({opening})
            if opening.exception() is None:
                await opening.result().close()
            raise

    @classmethod
    async def _open(cls, address: str) -> "ThreadedConnection":
        connection = await aiosqlite.connect(
            address,
            uri=True,
            isolation_level=None,
            timeout=BUSY_TIMEOUT_SECONDS,
            cached_statements=_CACHED_STATEMENTS,
        )
        opened = cls(connection)
        # Unlike an interrupt from outside, this can't come too early for a statement that is
        # about to begin.
        await connection.set_progress_handler(lambda: opened._is_closing, _STEPS_BETWEEN_LOOKS)
        return opened

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a whole function on the thread: one hop, however many statements it has.

        Raises what `work` raises. Cancelling the wait does not stop the function.
        """
        self.load += 1
        try:
            # aiosqlite has no public way to run a function of ours on its thread. Its own
            # methods all are `_execute` with a bound method; a hop a statement is 8 times
            # slower. This is the one place that leans on it.
            execute: Callable[..., Awaitable[T]] = self._connection._execute
            return await execute(work, self._connection._conn)
        finally:
            self.load -= 1

    async def close(self) -> None:
        """Break off what still runs, with an "interrupted", and end the thread."""
        self._is_closing = True
        await self._connection.close()
