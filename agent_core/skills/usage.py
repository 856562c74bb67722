"""The file `.usage.json` in the skills folder: the use of skills, for people and programs.

It is a projection of the tables; other content of the file is overwritten.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_core.errors import StoreError
from agent_core.memory.files import hash_text, read_file, write_file
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, skill_changes, skill_uses, skills
from agent_core.state.memory.skill_uses import NO_USES, Tally
from agent_core.state.memory.skills import SkillRow

FILE = ".usage.json"
USAGE_TABLES = frozenset(("skills", "skill_uses", "ledger"))
"""The tables that the file is made from."""
_TRIES = 3
_log = logging.getLogger(__name__)


def write_usage(connection: Connection, folder: Path) -> None:
    """Write the file from the tables; does nothing without a skills folder.

    `Database.project` calls it after each commit; if it fails, the next commit tries again.
    """
    try:
        _write(folder, dump(list_records(connection)))
    except (StoreError, OSError) as error:
        _log.warning("can't write %s: %s", folder / FILE, error)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRecord:
    """The record of a skill's use. `version` counts its versions, 0 if the ledger has none."""

    row: SkillRow
    tally: Tally = NO_USES
    version: int = 0


def list_records(connection: Connection) -> list[SkillRecord]:
    """List the use of every skill that still exists, by name."""
    team = blocks.find_team(connection)
    versions = skill_changes.count_versions(connection, person_id=team) if team else {}
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
