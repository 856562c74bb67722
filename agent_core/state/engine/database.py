"""The one database of a home: one writer that commits in groups, and readers beside it."""

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from agent_core.errors import StoreDamaged, StoreError, StoreFull
from agent_core.state.engine.backup import choose_target, copy_database
from agent_core.state.engine.connection import Job, Observer, ThreadedConnection, commit_together
from agent_core.state.engine.lock import HomeLock
from agent_core.state.engine.opening import connect, explain_error, prepare_folder
from agent_core.state.engine.recovery import is_fatal, translate_error

__all__ = ["Connection", "Database", "Observer"]

Connection = sqlite3.Connection
T = TypeVar("T")

LARGEST_GROUP = 256
"""Jobs in one commit, so that the first of a crowd does not wait for all of it."""
LARGEST_STROKE = 16
"""Callers that go on in one round of the event loop, few enough not to hold it up."""

_log = logging.getLogger(__name__)


class Database:
    """All that Talaria knows, in one SQLite file. Use it from one event loop."""

    def __init__(
        self,
        path: Path,
        lock: HomeLock,
        connections: list[ThreadedConnection],
        observe: Observer | None,
        retry_pause: float,
    ) -> None:
        self._path = path
        self._lock = lock
        self._writer, *self._readers = connections
        self._observe = observe
        self.retry_pause = retry_pause
        """Seconds between two attempts of work that the store refused."""
        self._jobs: deque[Job] = deque()
        self._has_jobs = asyncio.Event()
        self._is_closed = False
        self._is_damaged = False
        self._failure = ""
        self._last_word = ""
        self._writing = asyncio.create_task(self._write_groups(), name="state-writer")

    @classmethod
    async def open(
        cls, path: Path, *, observe: Observer | None = None, retry_pause: float = 5.0
    ) -> "Database":
        """Open or create the file and the folder it lies in, and bring its schema up to date.

        After a stop that was not clean the whole file is checked first. Raises `StoreBusy` if
        another process has it open, `StoreDamaged`, `StoreTooNew`, `StoreFull`, and
        `StoreError` if the place can't be used; the file is then as it was.
        """
        path = prepare_folder(path)
        lock = HomeLock.acquire(path.with_suffix(".lock"), guarded=path)
        try:
            async with AsyncExitStack() as stack:
                connections = await connect(path, stack, is_trusted=lock.was_clean)
                database = cls(path, lock, connections, observe, retry_pause)
                stack.pop_all()
        except sqlite3.Error as error:
            lock.release(is_clean=lock.was_clean and not is_fatal(error))
            raise explain_error(error, path) from error
        except BaseException:
            lock.release(is_clean=lock.was_clean)
            raise
        return database

    async def write(
        self, name: str, work: Callable[[Connection], T], *, patience: float = 0.0
    ) -> T:
        """Run `work` in a transaction; return its result when the commit is on the disk.

        `patience` is how many seconds it may wait for others to share their commit with: for
        what nobody waits for. `name` is for the observer. `work` runs on the writer's thread,
        together with others in one transaction but rolled back alone; it must not end the
        transaction, and what it raises is raised here, sqlite3's errors as `StoreError`.
        Raises `StoreError` after `close` and, until a restart, after the disk failed once. A
        cancelled call may still commit.
        """
        self._refuse_if_closed()
        if self._last_word:
            raise StoreError(self._last_word)
        loop = asyncio.get_running_loop()
        job = Job(name=name, work=_in_context(work), done=loop.create_future())
        self._jobs.append(job)
        if patience:
            loop.call_later(patience, self._has_jobs.set)
        else:
            self._has_jobs.set()
        await job.done
        if isinstance(job.error, sqlite3.Error):
            raise translate_error(job.error, self._path) from job.error
        if job.error is not None:
            raise job.error
        return cast("T", job.value)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on one snapshot, which holds every write that has returned.

        Raises what `work` raises, sqlite3's errors as `StoreError`; a `work` that writes is
        refused.
        """
        self._refuse_if_closed()
        reader = min(self._readers, key=lambda reader: reader.load)
        try:
            return await reader.run(partial(_read_snapshot, work=_in_context(work)))
        except sqlite3.Error as error:
            self._is_damaged = self._is_damaged or is_fatal(error)
            raise translate_error(error, self._path) from error

    async def retry_while_unavailable(self, work: Callable[[], Awaitable[T]], subject: str) -> T:
        """Call `work` until it raises no `StoreError`; pause `retry_pause` seconds in between.

        `subject` names the waiting work in the log. Raises `StoreDamaged`, because waiting repairs
        no file, and everything else that `work` raises.
        """
        while True:
            try:
                return await work()
            except StoreDamaged:
                raise
            except StoreError as error:
                _log.error("%s waits for the store: %s", subject, error)
            await asyncio.sleep(self.retry_pause)

    async def browse(self, work: Callable[[Connection], T]) -> T:
        """Run a long reading on a connection and a thread of its own: nobody waits behind it.

        It sees one moment of the database. Cancelling breaks it off at its next statement.
        Raises as `read` does.
        """
        self._refuse_if_closed()
        try:
            async with AsyncExitStack() as stack:
                source = await ThreadedConnection.open(self._path, mode="peek")
                stack.push_async_callback(source.close)
                return await source.run(partial(_read_snapshot, work=work))
        except sqlite3.Error as error:
            raise translate_error(error, self._path) from error

    async def tidy(self, work: Callable[[Connection], T]) -> T:
        """Run what no transaction may hold (a checkpoint) on the writer's thread.

        Writes wait for it. Raises `StoreError`; what `work` has not done can be done later.
        """
        self._refuse_if_closed()
        if self._last_word:
            raise StoreError(self._last_word)
        try:
            return await self._writer.run(work)
        except sqlite3.Error as error:
            self._take_note(error)
            raise translate_error(error, self._path) from error

    async def back_up(self, target: Path) -> None:
        """Copy the database as it is now; the name `target` appears when the copy is whole.

        Takes as long as the file needs; reads and writes go on. Raises `StoreError` if the
        place can't be written or is the database itself, `StoreFull`, `StoreDamaged`.
        """
        self._refuse_if_closed()
        target = choose_target(target, self._path)
        try:
            async with AsyncExitStack() as stack:
                source = await ThreadedConnection.open(self._path, mode="peek")
                stack.push_async_callback(source.close)
                await source.run(partial(copy_database, target=target))
        except sqlite3.Error as error:
            raise translate_error(error, self._path) from error

    def failure(self) -> str:
        """Why nothing can be written at the moment; "" while writes succeed."""
        return self._last_word or self._failure

    def has_stopped(self) -> bool:
        """True once nothing will be written any more until a restart: the disk failed."""
        return bool(self._last_word)

    async def close(self) -> None:
        """Write what was asked for before, checkpoint, and leave the mark of a clean stop.

        A second call does nothing. Raises `StoreError` if the checkpoint failed, with all
        connections closed and the lock released.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._has_jobs.set()
        is_clean = False
        try:
            async with AsyncExitStack() as writer:
                writer.push_async_callback(self._writer.close)
                async with AsyncExitStack() as readers:
                    for reader in self._readers:
                        readers.push_async_callback(reader.close)
                    await self._writing
                await self._writer.run(_checkpoint)
            is_clean = not (self._last_word or self._is_damaged)
        except sqlite3.Error as error:
            raise translate_error(error, self._path) from error
        finally:
            self._lock.release(is_clean=is_clean)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self._path} is closed")

    async def _write_groups(self) -> None:
        """Commit whatever has gathered, until the database is closed and nothing is left."""
        group: list[Job] = []
        try:
            while True:
                group = self._take_group()
                if group:
                    await self._commit(group)
                elif self._is_closed:
                    return
                else:
                    await self._has_jobs.wait()
        finally:
            # Only a writer that was cancelled or broke leaves someone waiting here. The jobs
            # themselves may still be in the hands of the writer's thread.
            for job in (*group, *self._jobs):
                if not job.done.done():
                    job.done.set_exception(
                        StoreError("the writer was stopped before its commit was known")
                    )
            if not self._is_closed:
                self._last_word = f"the writer of {self._path} was stopped"

    def _take_group(self) -> list[Job]:
        group: list[Job] = []
        while self._jobs and len(group) < LARGEST_GROUP:
            job = self._jobs.popleft()
            if not job.done.done():  # else its caller was cancelled before anything began
                group.append(job)
        if not self._jobs:
            self._has_jobs.clear()
        return group

    async def _commit(self, group: list[Job]) -> None:
        if self._last_word:
            error: sqlite3.Error | StoreError | None = StoreError(self._last_word)
        else:
            error = await self._run(group)
        self._failure = str(self._translate(error)) if error else ""
        for number, job in enumerate(group, 1):
            if job.error is None:
                job.error = error
            if job.error is not None:
                self._take_note(job.error)
            if not job.done.done():
                job.done.set_result(None)
            if number % LARGEST_STROKE == 0:
                await asyncio.sleep(0)

    async def _run(self, group: list[Job]) -> sqlite3.Error | StoreError | None:
        """Return what kept the whole group from being committed."""
        try:
            await self._writer.run(partial(commit_together, jobs=group, observe=self._observe))
        except (sqlite3.Error, StoreError) as error:
            return error
        return None

    def _take_note(self, error: BaseException) -> None:
        """Stop for good after a failure of the disk; remember a full one."""
        if is_fatal(error) and not self._last_word:
            self._last_word = (
                f"{self._translate(error)}; nothing more is written until Talaria is restarted"
            )
            _log.critical("%s", self._last_word)
        elif isinstance(self._translate(error), StoreFull):
            self._failure = str(self._translate(error))

    def _translate(self, error: BaseException) -> BaseException:
        """What the caller of a write is given: never the same object as another caller."""
        if isinstance(error, sqlite3.Error):
            return translate_error(error, self._path)
        return error


def _in_context(work: Callable[[Connection], T]) -> Callable[[Connection], T]:
    """Run work on a database thread in the caller's context, which holds the reader's language."""
    context = copy_context()
    return lambda connection: context.run(work, connection)


def _read_snapshot(connection: Connection, work: Callable[[Connection], T]) -> T:
    connection.execute("BEGIN")
    try:
        return work(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _checkpoint(connection: Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
