"""Queries over incidents: what is wrong now, and what owners were told of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection

Details = Mapping[str, str | int]
"""Values for the sentence about an incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A fault that owners have to know, until they were told that it is over. Times are in
    milliseconds UTC.
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
    """Note that something is wrong. What is wrong again before its end was told never ended."""
    connection.execute(
        "INSERT INTO incidents (kind, subject, details, since) VALUES (:kind, :subject, :details,"
        " :now) ON CONFLICT (kind, subject) DO UPDATE SET ended_at = NULL",
        {"kind": kind, "subject": subject, "details": json.dumps(dict(details)), "now": now},
    )


def end(connection: Connection, *, kind: str, subject: str, now: int) -> None:
    """Note that something is over; nobody hears of one that nobody was told of."""
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
    """Note that every incident was told, and forget those that are over."""
    connection.execute("DELETE FROM incidents WHERE ended_at IS NOT NULL")
    connection.execute("UPDATE incidents SET told_at = :now WHERE told_at IS NULL", {"now": now})
