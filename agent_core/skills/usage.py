"""The file `.usage.json` in the skills folder: usage statistics for people and programs."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_core.errors import StoreError
from agent_core.execution.subprocesses.spawning import finish
from agent_core.memory.files import hash_text, read_file, write_file
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, skill_changes, skill_uses, skills
from agent_core.state.memory.skill_uses import NO_USES, Tally
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
            rows = await self._database.read(list_records)
            await finish(asyncio.to_thread(_write, self._folder, dump(rows)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRecord:
    """The record of a skill's use. `version` counts its texts, 0 if the ledger has none."""

    row: SkillRow
    tally: Tally = NO_USES
    version: int = 0


def list_records(connection: Connection) -> list[SkillRecord]:
    """List the use of every skill that still exists, by name."""
    team = blocks.find_team(connection)
    versions = skill_changes.count_rows(connection, person_id=team) if team else {}
    tallies = skill_uses.count(connection)
    return [
        SkillRecord(row=row, tally=tallies.get(row.id, NO_USES), version=versions.get(row.id, 0))
        for row in skills.list_present(connection)
    ]


def dump(records: Sequence[SkillRecord]) -> str:
    """Format the file. Pure."""
    reported = {
        one.row.name: {
            "uses": one.row.uses,
            "successes": one.tally.successes,
            "failures": one.tally.failures,
            "last_used": _show(one.row.last_used_at),
            "since": _show(one.row.seen_at),
            "version": one.version,
            "state": one.row.state,
            "pinned": one.row.is_pinned,
        }
        for one in records
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
