"""Queries over active jobs, by the time or event that they wait for."""

from agent_core.ids import PersonId, RoomId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import COLUMNS, Job, read_row

_IS_DUE = "state = 'active' AND next_at IS NOT NULL"
"""The condition of a partial index; SQLite uses the index only if a query repeats it verbatim."""
_IS_ON_EVENT = "state = 'active' AND timing GLOB 'on *'"
"""The condition of another partial index: jobs that an event starts."""


def list_due(connection: Connection, *, now: int, limit: int) -> list[Job]:
    """List the jobs whose slot is due, longest due first."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE {_IS_DUE} AND next_at <= :now ORDER BY next_at"
        " LIMIT :limit",
        {"now": now, "limit": limit},
    ).fetchall()
    return [read_row(row) for row in rows]


def list_waiting(connection: Connection, *, after: int) -> list[Job]:
    """List the jobs that wait for a slot later than a moment."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE {_IS_DUE} AND next_at > :after ORDER BY next_at",
        {"after": after},
    ).fetchall()
    return [read_row(row) for row in rows]


def list_on_event(
    connection: Connection, *, person_id: PersonId | None = None, room_id: RoomId | None = None
) -> list[Job]:
    """List the active jobs that events start: of a room, of a person outside rooms, or all."""
    owner = "room_id = :room_id" if room_id else "person_id = :person_id AND room_id IS NULL"
    owner = owner if room_id or person_id else "TRUE"
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE {_IS_ON_EVENT} AND {owner} ORDER BY id",
        {"person_id": person_id, "room_id": room_id},
    ).fetchall()
    return [job for job in map(read_row, rows) if job.is_whole]


def find_next_at(connection: Connection) -> int | None:
    """Return the time of the next due job in milliseconds; None if none waits."""
    row = connection.execute(
        f"SELECT next_at FROM jobs WHERE {_IS_DUE} ORDER BY next_at LIMIT 1"
    ).fetchone()
    return row[0] if row and isinstance(row[0], int) else None  # damaged rows come last


def find_next_personal_at(connection: Connection) -> int | None:
    """Return when the next job is due, without system jobs, in milliseconds; None if none waits."""
    row = connection.execute(
        f"SELECT next_at FROM jobs WHERE {_IS_DUE} AND kind != 'system' ORDER BY next_at LIMIT 1"
    ).fetchone()
    return row[0] if row and isinstance(row[0], int) else None  # damaged rows come last
