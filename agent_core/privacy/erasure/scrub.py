"""After words were taken out: nothing of them stays in the database's files."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial

from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import person_data, redact, scrubbing

_MARK = "loose:"
"""Begins the keys in `meta` that name such files."""


def note(connection: Connection, keys: Iterable[str]) -> None:
    """Note files, in the transaction that takes away what referred to them."""
    for key in keys:
        meta.put(connection, key=f"{_MARK}{key}", value="1")


async def empty(database: Database) -> None:
    """Let the bytes of those go that nobody refers to any more. Raises `StoreError`."""
    marks = await database.read(lambda c: meta.list_under(c, prefix=_MARK))
    keys = sorted(mark.removeprefix(_MARK) for mark in marks)
    if keys:
        held = await database.browse(lambda c: person_data.list_held(c, keys=keys))
        await database.write("forget.files", partial(_empty, keys=keys, held=held))


def _empty(connection: Connection, keys: list[str], held: set[str]) -> None:
    redact.empty_files(connection, keys=[key for key in keys if key not in held])
    for key in keys:
        meta.drop(connection, key=f"{_MARK}{key}")


OWED = "scrub"
"""The key in `meta` that stands while this has not been done yet: how often it was owed."""
_PAGES = 250
"""Pages of an index that one transaction writes: some milliseconds."""
_LOOKS = 6000
"""Looks for a quiet moment, then it is done in a rush too: ten minutes."""
_ATTEMPTS = 100
"""Attempts to empty the log, while somebody reads an older moment of it."""
_PAUSE = 0.1
"""Seconds between two looks."""

_log = logging.getLogger(__name__)


def enqueue(connection: Connection) -> None:
    """Note that it has to be done; in the transaction that takes words out."""
    times = int(meta.get(connection, key=OWED) or 0)
    meta.put(connection, key=OWED, value=str(times + 1))


async def merge_indexes(database: Database) -> None:
    """Make one of all that each index has gathered, in steps between which others write: words
    that no message holds any more go, and a search has less to read. Raises `StoreError`.
    """
    for index in scrubbing.INDEXES:
        await database.write(
            "index.merge", partial(scrubbing.begin_merge, index=index, pages=_PAGES)
        )
        step = partial(scrubbing.go_on_merging, index=index, pages=_PAGES)
        while await database.write("index.merge", step):
            continue


async def scrub(database: Database, *, is_quiet: Callable[[], bool] | None = None) -> bool:
    """Do it, if it is owed; False if it has to be done again.

    The indexes are merged in steps between which others write. Then the whole file is written
    anew, for SQLite leaves copies of rows that it has moved; all writes wait for that, so it
    is done when it `is_quiet`. Raises `StoreError`.
    """
    owed = await database.read(lambda c: meta.get(c, key=OWED))
    if not owed:
        return True
    await merge_indexes(database)
    for _ in range(_LOOKS if is_quiet else 0):
        if is_quiet and is_quiet():
            break
        await asyncio.sleep(_PAUSE)
    await database.tidy(scrubbing.rewrite)
    for _ in range(_ATTEMPTS):
        if await database.tidy(scrubbing.cut_log):
            return await database.write("scrub.done", partial(_pay, owed=owed))
        await asyncio.sleep(_PAUSE)
    _log.warning("the database's log is still read; what was forgotten leaves it later")
    return False


def _pay(connection: Connection, owed: str) -> bool:
    """It is done, unless more words were taken out meanwhile."""
    if meta.get(connection, key=OWED) != owed:
        return False
    meta.drop(connection, key=OWED)
    return True
