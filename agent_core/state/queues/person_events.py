"""Queries over the events of a person: their turns, changes of their memory, questions to them.

Ids of turns are reserved before the rows are written, so a row may appear after one with a higher
id.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection

RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEventState:
    """A turn with its state; times are milliseconds UTC."""

    id: int
    state: str
    started_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """A change of one of a person's lists; the time is in milliseconds UTC."""

    id: int
    target: str
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question to a person; the time is in milliseconds UTC."""

    id: int
    asked_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """The highest ids of a person's turns, changes and questions; 0 for none."""

    turn: int
    change: int
    question: int


_STATE = "id, state, started_at, ended_at"


def list_turns(
    connection: Connection, *, person_id: PersonId, after: int, limit: int
) -> list[TurnEventState]:
    """List the turns with ids above `after` that a person asked for, oldest first."""
    rows = connection.execute(
        f"SELECT {_STATE} FROM turns WHERE person_id = :person_id AND id > :after"
        " ORDER BY id LIMIT :limit",
        {"person_id": person_id, "after": after, "limit": limit},
    )
    return read_all(TurnEventState, rows)


def find_turns(
    connection: Connection, *, person_id: PersonId, turn_ids: Collection[int]
) -> list[TurnEventState]:
    """Find turns of a person by their ids, oldest first."""
    rows = connection.execute(
        f"SELECT {_STATE} FROM turns WHERE id IN (SELECT value FROM json_each(:turn_ids))"
        " AND person_id = :person_id ORDER BY id",
        {"person_id": person_id, "turn_ids": json.dumps(sorted(turn_ids))},
    )
    return read_all(TurnEventState, rows)


def list_running(connection: Connection, *, person_id: PersonId) -> list[int]:
    """List the ids of a person's running turns, oldest first."""
    rows = connection.execute(
        "SELECT id FROM turns INDEXED BY turns_running WHERE state = 'running'"
        " AND person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    ).fetchall()
    return [int(row[0]) for row in rows]


def list_changes(
    connection: Connection, *, person_id: PersonId, after: int, limit: int
) -> list[MemoryChange]:
    """List the changes of a person's memory with ids above `after`, oldest first; no skills."""
    rows = connection.execute(
        "SELECT id, target, created_at FROM ledger INDEXED BY ledger_by_number"
        " WHERE person_id = :person_id AND id > :after AND target <> 'skill'"
        " ORDER BY id LIMIT :limit",
        {"person_id": person_id, "after": after, "limit": limit},
    )
    return read_all(MemoryChange, rows)


def list_questions(
    connection: Connection, *, person_id: PersonId, after: int, limit: int
) -> list[AskedQuestion]:
    """List the questions to a person with ids above `after`, answered or not, oldest first."""
    rows = connection.execute(
        "SELECT id, asked_at FROM questions INDEXED BY questions_by_person"
        " WHERE person_id = :person_id AND id > :after ORDER BY id LIMIT :limit",
        {"person_id": person_id, "after": after, "limit": limit},
    )
    return read_all(AskedQuestion, rows)


def find_newest(connection: Connection, *, person_id: PersonId) -> Newest:
    """Return the highest ids of a person's turns, changes and questions."""
    rows = connection.execute(
        "SELECT COALESCE((SELECT MAX(id) FROM turns WHERE person_id = :person_id), 0) AS turn,"
        " COALESCE((SELECT MAX(id) FROM ledger WHERE person_id = :person_id), 0) AS change,"
        " COALESCE((SELECT MAX(id) FROM questions WHERE person_id = :person_id), 0) AS question",
        {"person_id": person_id},
    )
    return read_all(Newest, rows)[0]
