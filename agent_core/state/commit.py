"""Group commit: what has gathered is run in one transaction and made durable by one fsync."""

import asyncio
import sqlite3
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
