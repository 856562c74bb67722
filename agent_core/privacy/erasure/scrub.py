"""Removal of deleted text from the database's files, including free pages and the log."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from functools import partial

from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import person_data, redact, scrubbing

_MARK = "loose:"
"""The key prefix in `meta` for files that may have no reference left."""


def note_loose_files(connection: Connection, keys: Iterable[str]) -> None:
    """Note files, in the transaction that removes a reference to them."""
    for key in keys:
        meta.put(connection, key=f"{_MARK}{key}", value="1")


async def delete_loose_files(database: Database) -> None:
    """Delete the content of noted files without references. Raises `StoreError`."""
    marks = await database.read(meta.list_under, prefix=_MARK)
    keys = sorted(mark.removeprefix(_MARK) for mark in marks)
    if keys:
        held = await database.browse(lambda c: person_data.list_referenced(c, keys=keys))
        await database.write("forget.files", partial(_empty, keys=keys, held=held))


def _empty(connection: Connection, keys: list[str], held: set[str]) -> None:
    redact.empty_files(connection, keys=[key for key in keys if key not in held])
    for key in keys:
        meta.drop(connection, key=f"{_MARK}{key}")


REQUEST_KEY = "scrub"
"""The key in `meta` that marks a pending scrub; its value counts the requests."""
_PAGES = 250
"""Index pages per transaction, which takes some milliseconds."""
_LONGEST_WAIT = 24 * 3600.0
"""Seconds in which a rewrite waits for a quiet moment; then it runs anyway."""
_LONGEST_PAUSE = 60.0
"""Seconds between two attempts of a rewrite that had to give way; the first pauses are shorter."""
_ATTEMPTS = 100
"""Attempts to truncate the log while a reader holds an older snapshot."""
_PAUSE = 0.1
"""Seconds between two checks."""

_log = logging.getLogger(__name__)


def enqueue_scrub(connection: Connection) -> None:
    """Request a scrub, in the transaction that removes text."""
    times = int(meta.get(connection, key=REQUEST_KEY) or 0)
    meta.put(connection, key=REQUEST_KEY, value=str(times + 1))


async def merge_indexes(database: Database) -> None:
    """Merge the segments of each search index in steps; others can write between the steps.

    Merging drops deleted words and speeds up searches. Raises `StoreError`.
    """
    for index in scrubbing.INDEXES:
        await database.write(
            "index.merge", partial(scrubbing.begin_merge, index=index, pages=_PAGES)
        )
        step = partial(scrubbing.continue_merge, index=index, pages=_PAGES)
        while await database.write("index.merge", step):
            continue


async def scrub_database(database: Database, *, is_quiet: Callable[[], bool] | None = None) -> bool:
    """Run a pending scrub; return False if it must run again.

    First merges the indexes in steps; others can write between the steps. Then rewrites the whole
    file, because SQLite leaves copies of moved rows. With `is_quiet`, the rewrite waits for a quiet
    moment, and gives way to every write until a day has passed. Raises `StoreError`.
    """
    requested = await database.read(meta.get, key=REQUEST_KEY)
    if not requested:
        return True
    await merge_indexes(database)
    if not (is_quiet and await _rewrite_quietly(database, is_quiet)):
        await database.tidy(scrubbing.vacuum)
    for _ in range(_ATTEMPTS):
        if await database.empty_log():
            return await database.write("scrub.done", partial(_clear, requested=requested))
        await asyncio.sleep(_PAUSE)
    _log.warning("the database's log is in use; removed text will leave it later")
    return False


async def _rewrite_quietly(database: Database, is_quiet: Callable[[], bool]) -> bool:
    """Rewrite the file while nobody writes; return False if a day had no such moment."""
    pause, end = _PAUSE, time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < end:
        if not is_quiet():
            await asyncio.sleep(_PAUSE)
        elif await database.rewrite_if_idle():
            return True
        else:
            _log.info("rewriting the database gave way to a write")
            pause = min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
    return False


def _clear(connection: Connection, requested: str) -> bool:
    """Clear the request, unless another request came meanwhile."""
    if meta.get(connection, key=REQUEST_KEY) != requested:
        return False
    meta.drop(connection, key=REQUEST_KEY)
    return True
