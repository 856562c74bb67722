"""The database of a home: one writer that commits in groups, and concurrent readers."""

import asyncio
import logging
import sqlite3
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

from agent_core.errors import StoreDamaged, StoreError, StoreFull, StoreVanished
from agent_core.state.engine.backup import choose_target, copy_database, rescue_database
from agent_core.state.engine.connection import (
    Observer,
    PendingWrite,
    ThreadedConnection,
    commit_group,
    lengthen_wal,
)
from agent_core.state.engine.file_guard import FileGuard
from agent_core.state.engine.lock import HomeLock
from agent_core.state.engine.opening import (
    CHECKPOINT_PAGES,
    LONGEST_KEPT_WAL,
    EngineLimits,
    connect,
    explain_error,
    prepare_folder,
)
from agent_core.state.engine.quick_turns import QuickTurns
from agent_core.state.engine.recovery import (
    is_fatal,
    translate_error,
    translate_os_error,
)
from agent_core.state.engine.remedies import describe_remedy, name_backups
from agent_core.state.engine.rewriting import (
    copy_log,
    count_changes,
    drop_copy,
    let_commits_copy_log,
    make_copy,
    place_copy,
    take_back,
    truncate_log,
)

__all__ = ["Connection", "Database", "Observer", "browse_file"]

Connection = sqlite3.Connection
T = TypeVar("T")
P = ParamSpec("P")

WAKEUPS_PER_ROUND = 16
"""Callers that continue in one round of the event loop; so few that they don't delay it."""

_BETWEEN_LOOKS = 16
"""Commits between two checks of the WAL's length. Sixteen commits mostly write 1 MB, half of what
the WAL grows at a time (`connection._STEP`).
"""

_log = logging.getLogger(__name__)


def now() -> int:
    """Return the wall clock's time as the database stores it: milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000


class Database:
    """The data of a deployment in one SQLite file. Use it from only one event loop."""

    def __init__(
        self,
        path: Path,
        lock: HomeLock,
        connections: list[ThreadedConnection],
        files: FileGuard,
        *,
        observe: Observer | None,
        retry_pause: float,
        limits: EngineLimits,
    ) -> None:
        self.path = path
        """The file, as an absolute path."""
        self._lock = lock
        self._writer, *self._readers = connections
        self._files = files
        self._observe = observe
        self._limits = limits
        self.retry_pause = retry_pause
        """Seconds between two attempts of an operation that failed with a `StoreError`."""
        self._changes: Counter[str] = Counter()
        self._projections: list[tuple[frozenset[str], Callable[[Connection], None]]] = []
        self._pending: deque[PendingWrite] = deque()
        self._has_pending = asyncio.Event()
        self._groups = 0
        """The groups of writes so far, the present one included."""
        self._commits = 0
        """The commits since the last check of the WAL's length."""
        self._is_closed = False
        self._is_damaged = False
        self._failure = ""
        self._stop_reason = ""
        self._loss: StoreVanished | None = None
        self._vanished, self._rescued = asyncio.Event(), asyncio.Event()
        self._sharing_python = QuickTurns()
        self._writing = asyncio.create_task(self._write_groups(), name="state-writer")
        self._watching = asyncio.create_task(self._watch_files(), name="state-watch")

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        observe: Observer | None = None,
        retry_pause: float = 5.0,
        limits: EngineLimits | None = None,
    ) -> "Database":
        """Open or create the file and its folder, and upgrade the schema.

        After an unclean shutdown, the whole file is checked first. Raises `StoreBusy` if
        another process has it open, `StoreDamaged`, `StoreTooNew`, `StoreFull`, and
        `StoreError` if the place can't be used; the file is then unchanged.
        """
        path = prepare_folder(path)
        limits = limits or EngineLimits()
        lock = HomeLock.acquire(path.with_suffix(".lock"), guarded=path)
        try:
            await asyncio.to_thread(drop_copy, place_copy(path))
            async with AsyncExitStack() as stack:
                connections = await connect(path, stack, limits, is_trusted=lock.was_clean)
                files = await connections[0].run(lambda _: FileGuard(path))
                database = cls(
                    path,
                    lock,
                    connections,
                    files,
                    observe=observe,
                    retry_pause=retry_pause,
                    limits=limits,
                )
                stack.pop_all()
        except sqlite3.Error as error:
            lock.release(is_clean=lock.was_clean and not is_fatal(error))
            raise explain_error(error, path) from error
        except OSError as error:
            lock.release(is_clean=lock.was_clean)
            raise translate_os_error(error, path) from error
        except BaseException:
            lock.release(is_clean=lock.was_clean)
            raise
        return database

    async def write(
        self,
        name: str,
        work: Callable[Concatenate[Connection, P], T],
        /,
        *given: P.args,
        **arguments: P.kwargs,
    ) -> T:
        """Run `work` in a transaction; return its result when the commit is on the disk.

        `name` is for the observer. `work` gets the connection and the other arguments, and runs on
        the writer's thread. It shares the transaction with other writes, but is rolled back alone.
        It must not end the transaction. Its errors are raised here, those of sqlite3 as
        `StoreError`. Raises `StoreError` after `close`, and until a restart after a failure of the
        disk (`StoreVanished` if the files vanished). If the caller is cancelled, the write may
        still be committed.
        """
        return await self._write(name, _in_context(work, *given, **arguments), wait=0.0)

    async def write_later(
        self,
        wait: float,
        name: str,
        work: Callable[Concatenate[Connection, P], T],
        /,
        *given: P.args,
        **arguments: P.kwargs,
    ) -> T:
        """Do as `write`, but wait up to `wait` seconds to share a commit with other writes.

        Use it if nobody waits for the result.
        """
        return await self._write(name, _in_context(work, *given, **arguments), wait=wait)

    async def _write(self, name: str, work: Callable[[Connection], T], *, wait: float) -> T:
        self._refuse_if_closed()
        self._refuse_if_stopped()
        loop = asyncio.get_running_loop()
        write = PendingWrite(name=name, work=work, done=loop.create_future())
        self._pending.append(write)
        if wait:
            loop.call_later(wait, self._has_pending.set)
        else:
            self._has_pending.set()
        await write.done
        if isinstance(write.error, sqlite3.Error):
            raise translate_error(write.error, self.path) from write.error
        if write.error is not None:
            raise write.error
        return cast("T", write.value)

    async def read(
        self,
        work: Callable[Concatenate[Connection, P], T],
        /,
        *given: P.args,
        **arguments: P.kwargs,
    ) -> T:
        """Run `work` on one snapshot, which includes every write that has returned.

        It gets the connection and the other arguments.

        Raises what `work` raises, sqlite3's errors as `StoreError`; a `work` that writes is
        refused.
        """
        self._refuse_if_closed()
        reader = min(self._readers, key=lambda reader: reader.load)
        try:
            return await reader.run(
                partial(_read_snapshot, work=_in_context(work, *given, **arguments))
            )
        except sqlite3.Error as error:
            self._is_damaged = self._is_damaged or is_fatal(error)
            raise translate_error(error, self.path) from error

    def count_changes(self, table: str) -> int:
        """Return how many commits may have changed a table in `WATCHED`. Never blocks.

        While the number stays the same, values that were read after the call are current.
        """
        return self._changes[table]

    def project(self, tables: frozenset[str], work: Callable[[Connection], None]) -> None:
        """After each commit that may have changed one of these tables in `WATCHED`, run `work`.

        It runs on the writer's thread before the writes return, so that what it writes is never
        behind for their callers. It must not write, nor raise anything but sqlite3's errors.
        """
        self._projections.append((tables, work))

    async def retry_while_unavailable(self, work: Callable[[], Awaitable[T]], subject: str) -> T:
        """Call `work` until it raises no `StoreError`; pause `retry_pause` seconds after each.

        `subject` names the waiting operation in the log. Raises `StoreDamaged`, because waiting
        does not repair a file, and everything else that `work` raises.
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
        """Run a long read on its own connection and thread, so that other reads don't wait for it.

        It sees the database at one moment. Cancelling interrupts its next statement. Raises the
        same errors as `read`.
        """
        self._refuse_if_closed()
        with self._sharing_python:
            return await browse_file(self.path, work)

    async def rewrite_if_idle(self) -> bool:
        """Rewrite the file without what deleted rows left; False as soon as somebody writes.

        Nobody waits for it longer than for a few pages. It needs as much room on the disk as two
        copies of the file. Call `empty_log` afterwards. Raises `StoreError`.
        """
        self._refuse_if_closed()
        self._refuse_if_stopped()
        if self._pending:
            return False
        copy, seen = place_copy(self.path), self._groups
        changes = await self._writer.run(count_changes)

        def must_stop() -> bool:
            return bool(self._pending) or self._groups != seen or self._is_closed

        try:
            await self._copy_while_idle(copy, must_stop)
            await self.tidy(
                partial(take_back, path=self.path, copy=copy, changes=changes, must_stop=must_stop)
            )
        except InterruptedError:
            return False
        except OSError as error:
            raise translate_os_error(error, copy) from error
        finally:
            await asyncio.to_thread(drop_copy, copy)
        return True

    async def _copy_while_idle(self, copy: Path, must_stop: Callable[[], bool]) -> None:
        """Make a copy beside the writer. Raises `InterruptedError` once somebody writes."""
        try:
            async with AsyncExitStack() as stack:
                source = await ThreadedConnection.open(self.path, mode="peek")
                stack.push_async_callback(source.close)
                source.gives_way = must_stop
                await source.run(partial(make_copy, target=copy))
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_INTERRUPT:
                raise InterruptedError from error
            raise translate_error(error, copy) from error

    async def empty_log(self) -> bool:
        """Copy the WAL into the file and truncate it; False while a reader needs it.

        All of it but the last pages is copied beside the writer. Raises `StoreError`.
        """
        self._refuse_if_closed()
        self._refuse_if_stopped()
        await self.tidy(lambda _: self._files.share(is_shared=True))
        try:
            async with AsyncExitStack() as stack:
                beside = await ThreadedConnection.open(self.path)
                stack.push_async_callback(beside.close)
                is_copied = await beside.run(copy_log)
        except sqlite3.Error as error:
            raise translate_error(error, self.path) from error
        finally:
            await self._writer.run(lambda _: self._files.share(is_shared=False))
        if not is_copied:
            return False
        await self.tidy(partial(let_commits_copy_log, pages=CHECKPOINT_PAGES))
        return await self.tidy(truncate_log)

    async def tidy(self, work: Callable[[Connection], T]) -> T:
        """Run on the writer's thread what a transaction can't contain, such as a checkpoint.

        Writes wait for it. Raises `StoreError`; call it again to continue unfinished work.
        """
        self._refuse_if_closed()
        self._refuse_if_stopped()
        try:
            return await self._writer.run(self._guard(work))
        except StoreVanished as error:
            self._record_failure(error)
            raise
        except sqlite3.Error as error:
            self._record_failure(error)
            raise translate_error(error, self.path) from error
        finally:
            self._writer.count_changed(self._changes)

    async def back_up(self, target: Path) -> None:
        """Copy the database as it is now; the name `target` appears when the copy is complete.

        Reads and writes continue meanwhile. Raises `StoreFull`, `StoreDamaged`, and `StoreError` if
        the target can't be written or is the database itself.
        """
        self._refuse_if_closed()
        target = choose_target(target, self.path)
        try:
            async with AsyncExitStack() as stack:
                source = await ThreadedConnection.open(self.path, mode="peek")
                stack.push_async_callback(source.close)
                await copy_database(source.sqlite, target)
        except sqlite3.Error as error:
            raise translate_error(error, self.path) from error

    def failure(self) -> str:
        """Return the reason why writes fail at the moment; "" while they succeed."""
        return self._stop_reason or self._failure

    def has_stopped(self) -> bool:
        """Return whether a failure of the disk stopped all writes until a restart.

        A restart does not help if the files have vanished: see `wait_until_vanished`.
        """
        return bool(self._stop_reason) and self._loss is None

    async def wait_until_vanished(self, patience: float = 3.0) -> StoreVanished:
        """Wait until the files are gone, replaced or changed; return what happened and what to do.

        What the open files still hold is saved as a backup, for which this waits `patience`
        seconds at most. Until a restart, nothing more is stored.
        """
        while self._loss is None:
            await self._vanished.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._rescued.wait()
        return StoreVanished(self._stop_reason, is_readable=self._loss.is_readable)

    async def close(self) -> None:
        """Finish the pending writes, run a checkpoint, and record a clean shutdown.

        A second call does nothing. Raises `StoreError` if the checkpoint fails; even then, all
        connections are closed and the lock is released.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._has_pending.set()
        if self._loss is None:
            self._watching.cancel()  # otherwise, what the files hold is being saved
        is_clean = False
        try:
            async with AsyncExitStack() as writer:
                writer.push_async_callback(self._writer.close)
                async with AsyncExitStack() as readers:
                    for reader in self._readers:
                        readers.push_async_callback(reader.close)
                    await self._writing
                    await asyncio.wait({self._watching})
                await self._writer.run(_checkpoint if self._loss is None else self._part)
            is_clean = not (self._stop_reason or self._is_damaged)
        except sqlite3.Error as error:
            raise translate_error(error, self.path) from error
        except OSError as error:
            raise translate_os_error(error, self.path) from error
        finally:
            self._files.close()
            self._lock.release(is_clean=is_clean)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self.path} is closed")

    def _refuse_if_stopped(self) -> None:
        if self._loss:
            raise StoreVanished(self._stop_reason, is_readable=self._loss.is_readable)
        if self._stop_reason:
            raise StoreError(self._stop_reason)

    def _guard(self, work: Callable[[Connection], T]) -> Callable[[Connection], T]:
        """Make work for the writer's thread refuse files that are not as the last work left them.

        What is committed into a file without a name is lost when the process ends.
        """

        def run(connection: Connection) -> T:
            self._look_at_files()
            try:
                return work(connection)
            finally:
                self._files.remember()

        return run

    def _look_at_files(self) -> None:
        """Raise `StoreVanished` if the files are gone or changed; on the writer's thread."""
        try:
            self._files.check()
        except OSError as error:
            raise translate_os_error(error, self.path) from error

    def _part(self, _: Connection) -> None:
        """Let no later database at this path meet what the open connections hold."""
        if self._loss and not self._loss.is_readable:
            self._files.part()

    async def _watch_files(self) -> None:
        """Look at the files also while nothing is written; save what they hold once they vanish."""
        while not self._loss:
            await asyncio.sleep(self._limits.look)
            try:
                await self._writer.run(lambda _: self._look_at_files())
            except StoreVanished as error:
                self._record_failure(error)
            except StoreError as error:
                _log.error("the files of the store can't be looked at: %s", error)
        self._stop_reason += f". {await self._rescue(self._loss)}"
        self._rescued.set()

    async def _rescue(self, loss: StoreVanished) -> str:
        """Save everything that the open connections still read; return what to do now."""
        backups = name_backups(self.path)
        remedy = describe_remedy(backups)
        try:
            async with AsyncExitStack() as stack:
                source = self._writer
                if not loss.is_readable:  # what the writer has read before may be outdated
                    source = await ThreadedConnection.open(self.path, mode="peek")
                    stack.push_async_callback(source.close)
                copy = await rescue_database(source.sqlite, backups)
            if not loss.is_readable:
                return f"{remedy}. What could still be read is in {copy}"
            await self._writer.run(lambda _: self._files.drop_sides())
        except (StoreError, OSError) as error:
            _log.critical("what was stored can't be saved: %s", error)
            return remedy
        return f"Everything until then is saved. {describe_remedy(backups, copy)}"

    async def _write_groups(self) -> None:
        """Commit pending writes in groups, until the database is closed and no write is left."""
        group: list[PendingWrite] = []
        try:
            while True:
                group = self._take_group()
                if group:
                    await self._commit(group)
                    self._commits += 1
                elif self._is_closed:
                    return
                elif self._commits >= _BETWEEN_LOOKS and not self._stop_reason:
                    await self._lengthen_wal()
                else:
                    await self._has_pending.wait()
        finally:
            # Callers still wait here only if the writer was cancelled or broke. The writer's thread
            # may still run their writes.
            for write in (*group, *self._pending):
                if not write.done.done():
                    write.done.set_exception(
                        StoreError("the writer was stopped before its commit was known")
                    )
            if not self._is_closed:
                self._stop_reason = f"the writer of {self.path} was stopped"

    async def _lengthen_wal(self) -> None:
        """Make the WAL longer by one step between commits, so that commits need not do it."""
        self._commits = 0
        try:
            await self._writer.run(lambda _: lengthen_wal(self.path, LONGEST_KEPT_WAL))
        except OSError as error:
            _log.info("the WAL of %s stays short: %s", self.path, error)

    def _take_group(self) -> list[PendingWrite]:
        group: list[PendingWrite] = []
        while self._pending and len(group) < self._limits.largest_group:
            write = self._pending.popleft()
            if not write.done.done():  # else its caller was cancelled before the write began
                group.append(write)
        if not self._pending:
            self._has_pending.clear()
        return group

    async def _commit(self, group: list[PendingWrite]) -> None:
        self._groups += 1
        error: sqlite3.Error | StoreError | None
        try:
            self._refuse_if_stopped()
        except StoreError as refusal:
            error = refusal
        else:
            error = await self._run(group)
            self._writer.count_changed(self._changes)
        self._failure = str(self._translate(error)) if error else ""
        for number, write in enumerate(group, 1):
            if write.error is None:
                write.error = error
            if write.error is not None:
                self._record_failure(write.error)
            if not write.done.done():
                write.done.set_result(None)
            if number % WAKEUPS_PER_ROUND == 0:
                await asyncio.sleep(0)

    async def _run(self, group: list[PendingWrite]) -> sqlite3.Error | StoreError | None:
        """Run a group of writes; return the error that prevented its commit, if any."""
        try:
            await self._writer.run(self._guard(partial(self._commit_and_project, group)))
        except (sqlite3.Error, StoreError) as error:
            return error
        return None

    def _commit_and_project(self, group: list[PendingWrite], connection: Connection) -> None:
        """Commit a group, then run the projections of what changed; on the writer's thread."""
        commit_group(connection, group, self._observe)
        for tables, work in self._projections:
            if self._writer.has_changed(tables):
                try:
                    work(connection)
                except sqlite3.Error as error:  # the writes are stored anyway
                    _log.error("a projection of %s can't read: %s", sorted(tables), error)

    def _record_failure(self, error: BaseException) -> None:
        """Stop all writes after a failure of the disk or a loss of files; note a full disk."""
        if isinstance(error, StoreVanished) and not self._stop_reason:
            self._loss, self._stop_reason = error, str(error)
            self._vanished.set()
            _log.critical("%s", self._stop_reason)
        elif is_fatal(error) and not self._stop_reason:
            self._stop_reason = (
                f"{self._translate(error)}; nothing more is written until Talaria is restarted"
            )
            _log.critical("%s", self._stop_reason)
        elif isinstance(self._translate(error), StoreFull):
            self._failure = str(self._translate(error))

    def _translate(self, error: BaseException) -> BaseException:
        """Translate an error for one caller; each caller gets an error object of its own."""
        if isinstance(error, sqlite3.Error):
            return translate_error(error, self.path)
        return error


async def browse_file(path: Path, work: Callable[[Connection], T]) -> T:
    """Run a long read on a database that is open already, maybe in another process.

    It changes nothing in the file. Raises the same errors as `Database.read`.
    """
    try:
        async with AsyncExitStack() as stack:
            source = await ThreadedConnection.open(path, mode="peek")
            stack.push_async_callback(source.close)
            return await source.run(partial(_read_snapshot, work=work))
    except sqlite3.Error as error:
        raise translate_error(error, path) from error


def _in_context(
    work: Callable[Concatenate[Connection, P], T], *given: P.args, **arguments: P.kwargs
) -> Callable[[Connection], T]:
    """Make work run in the caller's context on a thread; the context has the reader's language."""
    context = copy_context()
    return lambda connection: context.run(work, connection, *given, **arguments)


def _read_snapshot(connection: Connection, work: Callable[[Connection], T]) -> T:
    connection.execute("BEGIN")
    try:
        return work(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _checkpoint(connection: Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
