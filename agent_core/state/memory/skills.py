"""Queries over skills: how often they were used, how they stand, and what was told of them."""

import json
from dataclasses import dataclass
from typing import Literal

from agent_core.state.engine.database import Connection

SkillState = Literal["active", "stale", "archived", "gone"]

_COLUMNS = "id, name, seen_at, uses, last_used_at, state, is_pinned, told_fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRow:
    """What is known of a skill; times in milliseconds, `id` is its number in the ledger.

    `seen_at` is when it was first seen, or taken back; `told_fault` the hash of the fault that
    the owners were told of, "" for none. One that is pinned is never put away.
    """

    id: int
    name: str
    seen_at: int
    uses: int
    last_used_at: int | None
    state: SkillState
    is_pinned: bool
    told_fault: str


def note_use(connection: Connection, *, name: str, now: int) -> None:
    """A skill is used; in the transaction that begins the turn."""
    connection.execute(
        "INSERT INTO skills (name, seen_at, uses, last_used_at) VALUES (:name, :now, 1, :now)"
        " ON CONFLICT (name) DO UPDATE SET uses = skills.uses + 1, last_used_at = :now,"
        " state = 'active'",
        {"name": name, "now": now},
    )


def note_seen(connection: Connection, *, name: str, now: int) -> None:
    """A skill is there from now on, at the latest."""
    connection.execute(
        "INSERT INTO skills (name, seen_at) VALUES (:name, :now) ON CONFLICT (name) DO UPDATE"
        " SET seen_at = :now, state = 'active' WHERE skills.state = 'gone'",
        {"name": name, "now": now},
    )


def restore(connection: Connection, *, name: str, now: int) -> None:
    """A skill is there again; its disuse is counted from now on."""
    connection.execute(
        "INSERT INTO skills (name, seen_at) VALUES (:name, :now)"
        " ON CONFLICT (name) DO UPDATE SET seen_at = :now, state = 'active'",
        {"name": name, "now": now},
    )


def set_state(connection: Connection, *, name: str, state: SkillState) -> None:
    """How a skill stands."""
    connection.execute(
        "UPDATE skills SET state = :state WHERE name = :name", {"name": name, "state": state}
    )


def pin(connection: Connection, *, name: str, is_pinned: bool) -> None:
    """A skill that was seen is never put away, or may be again."""
    connection.execute(
        "UPDATE skills SET is_pinned = :is_pinned WHERE name = :name",
        {"name": name, "is_pinned": int(is_pinned)},
    )


def note_fault_reported(connection: Connection, *, name: str, fault: str) -> None:
    """The owners were told of a fault, by its hash; "" once it is mended."""
    connection.execute(
        "UPDATE skills SET told_fault = :fault WHERE name = :name", {"name": name, "fault": fault}
    )


def forget(connection: Connection, *, name: str) -> None:
    """A skill is nowhere any more; its number stays."""
    connection.execute(
        "UPDATE skills SET uses = 0, last_used_at = NULL, state = 'gone', is_pinned = 0,"
        " told_fault = '' WHERE name = :name",
        {"name": name},
    )


def find(connection: Connection, *, name: str) -> SkillRow | None:
    """What is known of one skill, also of one that is gone."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM skills WHERE name = :name", {"name": name}
    ).fetchone()
    return _row(row) if row else None


def list_all(connection: Connection) -> list[SkillRow]:
    """What is known of every skill, by name, also of those that are gone."""
    rows = connection.execute(f"SELECT {_COLUMNS} FROM skills ORDER BY name").fetchall()
    return [_row(row) for row in rows]


def list_present(connection: Connection) -> list[SkillRow]:
    """What is known of every skill that is not gone, by name."""
    return [row for row in list_all(connection) if row.state != "gone"]


def list_needed(connection: Connection) -> frozenset[str]:
    """The skills that jobs use which are not done with; once a week, and when somebody asks."""
    rows = connection.execute(
        "SELECT DISTINCT options FROM jobs WHERE state IN ('active', 'paused')"
    ).fetchall()
    return frozenset(name for row in rows for name in _skills_in(row[0]))


def _skills_in(options: object) -> list[str]:
    """The skills that the options of a job name; none where they are damaged on disk."""
    try:
        named = json.loads(options)["skills"]  # type: ignore[arg-type]
    except (ValueError, TypeError, KeyError):
        return []
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def _row(row: tuple[object, ...]) -> SkillRow:
    names = _COLUMNS.split(", ")
    fields = dict(zip(names, row, strict=True))
    fields["is_pinned"] = bool(fields["is_pinned"])
    return SkillRow(**fields)  # type: ignore[arg-type]
