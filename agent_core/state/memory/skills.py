"""Queries over skills: their use, their state and their reported faults."""

import json
from dataclasses import dataclass
from typing import Literal

from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection

SkillState = Literal["draft", "trial", "active", "stale", "archived", "gone"]
"""A skill that the agent wrote is a draft until its tests pass, then on trial until its uses prove
it. Any other skill is active at once. A skill that has long been unused is stale.
"""

_COLUMNS = "id, name, seen_at, uses, last_used_at, state, is_pinned, told_fault, good_row"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRow:
    """The state of a skill. Times are in milliseconds; `id` is its id in the ledger.

    `seen_at` is when it was first seen, or restored. `told_fault` is the hash of the last fault
    reported to the owners, "" for none. A pinned skill is never archived. `good_row` is the ledger
    row of the last text that was proved, or that a person wrote.
    """

    id: int
    name: str
    seen_at: int
    uses: int
    last_used_at: int | None
    state: SkillState
    is_pinned: bool
    told_fault: str
    good_row: int | None = None


def note_use(connection: Connection, *, name: str, now: int) -> None:
    """Record a use of a skill, in the transaction that starts the turn."""
    connection.execute(
        "INSERT INTO skills (name, seen_at, uses, last_used_at) VALUES (:name, :now, 1, :now)"
        " ON CONFLICT (name) DO UPDATE SET uses = skills.uses + 1, last_used_at = :now,"
        " state = CASE WHEN skills.state IN ('draft', 'trial') THEN skills.state ELSE 'active' END",
        {"name": name, "now": now},
    )


def note_seen(connection: Connection, *, name: str, now: int) -> None:
    """Record that a skill exists, if it is new."""
    connection.execute(
        "INSERT INTO skills (name, seen_at) VALUES (:name, :now) ON CONFLICT (name) DO UPDATE"
        " SET seen_at = :now, state = 'active' WHERE skills.state = 'gone'",
        {"name": name, "now": now},
    )


def restore(connection: Connection, *, name: str, now: int) -> None:
    """Record that an archived skill was restored; the time without use counts from now on."""
    connection.execute(
        "INSERT INTO skills (name, seen_at) VALUES (:name, :now)"
        " ON CONFLICT (name) DO UPDATE SET seen_at = :now, state = 'active'",
        {"name": name, "now": now},
    )


def set_state(connection: Connection, *, name: str, state: SkillState) -> None:
    """Set the state of a skill."""
    connection.execute(
        "UPDATE skills SET state = :state WHERE name = :name", {"name": name, "state": state}
    )


def set_good_row(connection: Connection, *, name: str, row_id: int | None) -> None:
    """Record the ledger row of the last text of a skill that was proved."""
    connection.execute(
        "UPDATE skills SET good_row = :row_id WHERE name = :name", {"name": name, "row_id": row_id}
    )


def list_drafts(connection: Connection) -> frozenset[str]:
    """Return the names of the skills that are still drafts."""
    rows = connection.execute("SELECT name FROM skills WHERE state = 'draft'").fetchall()
    return frozenset(row[0] for row in rows)


def pin(connection: Connection, *, name: str, is_pinned: bool) -> None:
    """Pin or unpin a known skill."""
    connection.execute(
        "UPDATE skills SET is_pinned = :is_pinned WHERE name = :name",
        {"name": name, "is_pinned": int(is_pinned)},
    )


def note_fault_reported(connection: Connection, *, name: str, fault: str) -> None:
    """Record the hash of the fault that was reported to the owners; "" once it is repaired."""
    connection.execute(
        "UPDATE skills SET told_fault = :fault WHERE name = :name", {"name": name, "fault": fault}
    )


def forget(connection: Connection, *, name: str) -> None:
    """Mark a skill as gone, because its files were removed; its id stays."""
    connection.execute(
        "UPDATE skills SET uses = 0, last_used_at = NULL, state = 'gone', is_pinned = 0,"
        " told_fault = '', good_row = NULL WHERE name = :name",
        {"name": name},
    )


def find(connection: Connection, *, name: str) -> SkillRow | None:
    """Return the state of one skill, even if it is gone."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM skills WHERE name = :name", {"name": name})
    return read_one(SkillRow, found, is_pinned=bool)


def find_by_id(connection: Connection, *, skill_id: int) -> SkillRow | None:
    """Return the state of one skill by its number, even if it is gone."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM skills WHERE id = :skill_id", {"skill_id": skill_id}
    )
    return read_one(SkillRow, found, is_pinned=bool)


def list_all(connection: Connection) -> list[SkillRow]:
    """List the state of every skill by name, including those that are gone."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM skills ORDER BY name")
    return read_all(SkillRow, rows, is_pinned=bool)


def list_present(connection: Connection) -> list[SkillRow]:
    """List the state of every skill that is not gone, by name."""
    return [row for row in list_all(connection) if row.state != "gone"]


def list_needed(connection: Connection) -> frozenset[str]:
    """Return the skills that unfinished jobs use. Reads every job; runs weekly or on request."""
    rows = connection.execute(
        "SELECT DISTINCT options FROM jobs WHERE state IN ('active', 'paused')"
    ).fetchall()
    return frozenset(name for row in rows for name in _skills_in(row[0]))


def _skills_in(options: object) -> list[str]:
    """Return the skills in the options of a job; none if the options are damaged."""
    try:
        named = json.loads(options)["skills"]  # type: ignore[arg-type]
    except (ValueError, TypeError, KeyError):
        return []
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
