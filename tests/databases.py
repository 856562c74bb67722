"""Fresh databases as copies of a template: most tests need one, and few test how it is made."""

import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from agent_core.state.engine.database import Database
from agent_core.state.engine.upgrade import SCHEMA

_RETRY_PAUSE = 0.05
"""Seconds between two attempts of work that the store refused."""


async def open_database(path: Path) -> Database:
    """Open the database of a test. A new one is copied, which halves the CPU time of a first start.

    Tests of the engine and of upgrades call `Database.open`, as the gateway does.
    """
    place_database(path)
    return await Database.open(path, retry_pause=_RETRY_PAUSE)


def place_database(path: Path) -> None:
    """Put an empty database that was closed in order where none is yet."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file, content in ((path, _make_template()), (path.with_suffix(".lock"), b"1 clean\n")):
        file.touch(mode=0o600)
        file.write_bytes(content)


@cache
def _make_template() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template.db"
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        connection.close()
        return path.read_bytes()
