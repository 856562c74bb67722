"""Queries over incidents: present faults, and which of them were reported to owners."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection

Details = Mapping[str, str | int]
"""Values for the message about an incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A fault that owners have to know.

    Its row stays until its end was reported to them. Times are in milliseconds UTC.
    """

    kind: str
    subject: str
    details: Details
    since: int
    told_at: int | None
    ended_at: int | None


def list_all(connection: Connection) -> list[Incident]:
    """List every incident, the oldest first."""
    rows = connection.execute(
        "SELECT kind, subject, details, since, told_at, ended_at FROM incidents"
        " ORDER BY since, kind, subject"
    )
    return read_all(Incident, rows, details=json.loads)


def begin(connection: Connection, *, kind: str, subject: str, details: Details, now: int) -> None:
    """Record a fault. If it returns before its end was reported, it counts as never ended."""
    connection.execute(
        "INSERT INTO incidents (kind, subject, details, since) VALUES (:kind, :subject, :details,"
        " :now) ON CONFLICT (kind, subject) DO UPDATE SET ended_at = NULL",
        {"kind": kind, "subject": subject, "details": json.dumps(dict(details)), "now": now},
    )


def end(connection: Connection, *, kind: str, subject: str, now: int) -> None:
    """Record the end of a fault; delete a fault that was never reported."""
    values = {"kind": kind, "subject": subject}
    connection.execute(
        "DELETE FROM incidents WHERE kind = :kind AND subject = :subject AND told_at IS NULL",
        values,
    )
    connection.execute(
        "UPDATE incidents SET ended_at = :now WHERE kind = :kind AND subject = :subject"
        " AND ended_at IS NULL",
        {**values, "now": now},
    )


def mark_told(connection: Connection, *, now: int) -> None:
    """Record that every incident was reported, and delete those that have ended."""
    connection.execute("DELETE FROM incidents WHERE ended_at IS NOT NULL")
    connection.execute("UPDATE incidents SET told_at = :now WHERE told_at IS NULL", {"now": now})
