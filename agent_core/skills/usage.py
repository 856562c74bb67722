"""The file `.usage.json` in the skills folder: usage statistics for people and programs."""

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent_core.errors import StoreError
from agent_core.memory import hash_text, read_file, write_file
from agent_core.state.engine.database import Database
from agent_core.state.memory import skills
from agent_core.state.memory.skills import SkillRow

FILE = ".usage.json"
_PAUSE = 60.0
"""Seconds between refreshes of the file."""
_TRIES = 3
_log = logging.getLogger(__name__)


class UsageFile:
    """A projection of the skills table; other content of the file is overwritten."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._folder = folder
        self._order = asyncio.Lock()

    async def keep(self, pause: float = _PAUSE) -> None:
        """Refresh the file until cancelled; `pause` is in seconds."""
        fault = ""
        while True:
            try:
                await self.write()
                fault = ""
            except (StoreError, OSError) as error:
                if str(error) != fault:
                    fault = str(error)
                    _log.warning("can't write %s: %s", self._folder / FILE, error)
            await asyncio.sleep(pause)

    async def write(self) -> None:
        """Write the file; does nothing without a skills folder.

        Raises `StoreError`, and `OSError` if it is unwritable.
        """
        async with self._order:
            rows = await self._database.read(skills.list_present)
            await asyncio.to_thread(_write, self._folder, dump(rows))


def dump(rows: Sequence[SkillRow]) -> str:
    """Format the file. Pure."""
    reported = {
        row.name: {
            "uses": row.uses,
            "last_used": _show(row.last_used_at),
            "since": _show(row.seen_at),
            "state": row.state,
            "pinned": row.is_pinned,
        }
        for row in rows
    }
    return json.dumps(reported, indent=2, ensure_ascii=False) + "\n"


def _show(at: int | None) -> str | None:
    if at is None:
        return None
    try:
        return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None  # a wrong clock wrote it; no calendar has that moment


def _write(folder: Path, text: str) -> None:
    if not folder.is_dir():
        return
    path = folder / FILE
    for _ in range(_TRIES):
        seen = read_file(path).hash
        if seen == hash_text(text) or write_file(path, text, seen):
            return
    raise OSError(f"{path} keeps being changed by someone else")
