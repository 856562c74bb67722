"""Files that may have lost the last thing that referred to them: noted, and emptied if so."""

from collections.abc import Iterable
from functools import partial

from agent_core.state import meta, redacting, traces
from agent_core.state.database import Connection, Database

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
        held = await database.browse(lambda c: traces.list_held(c, keys=keys))
        await database.write("forget.files", partial(_empty, keys=keys, held=held))


def _empty(connection: Connection, keys: list[str], held: set[str]) -> None:
    redacting.empty_files(connection, keys=[key for key in keys if key not in held])
    for key in keys:
        meta.drop(connection, key=f"{_MARK}{key}")
