"""Queries over approvals: the calls that people have allowed, one call or all of one shape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import ApprovalId, PersonId, SessionId
from agent_core.state.engine.connection import list_fields, read_all
from agent_core.state.engine.database import Connection

Scope = Literal["once", "session", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApproval:
    """An approval to store. `subject` is the hash of the one call, or a shape as JSON.

    `holds_tainted` means that it also counts after untrusted words. Times are in milliseconds; if
    the expiry is None, the approval never expires.
    """

    person_id: PersonId
    decided_by: PersonId
    scope: Scope
    subject: str
    session_id: SessionId | None = None
    holds_tainted: bool = False
    expires_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredApproval:
    """An approval of a shape that still counts."""

    id: ApprovalId
    scope: Scope
    shape: str
    decided_by: PersonId | None
    created_at: int


def insert(connection: Connection, approval: NewApproval, *, now: int) -> None:
    """Store an approval, unless it is stored already; delete those that have expired."""
    connection.execute("DELETE FROM approvals WHERE expires_at <= :now", {"now": now})
    connection.execute(
        "INSERT INTO approvals (person_id, decided_by, scope, subject, session_id, holds_tainted,"
        " created_at, expires_at) VALUES (:person_id, :decided_by, :scope, :subject, :session_id,"
        " :holds_tainted, :now, :expires_at) ON CONFLICT DO NOTHING",
        {**list_fields(approval), "now": now},
    )


def use(connection: Connection, *, person_id: PersonId, digest: str, now: int) -> bool:
    """Use up the approval of one call; False if there is none, or if it was used or has expired."""
    row = connection.execute(
        "UPDATE approvals SET used_at = :now WHERE subject = :digest AND scope = 'once'"
        " AND person_id = :person_id AND used_at IS NULL AND expires_at > :now RETURNING id",
        {"person_id": person_id, "digest": digest, "now": now},
    ).fetchone()
    return row is not None


def find_shapes(
    connection: Connection, *, person_id: PersonId, session_id: SessionId | None
) -> dict[str, bool]:
    """Map the shapes that a person allowed to whether each also counts after untrusted words."""
    rows = connection.execute(
        "SELECT subject, MAX(holds_tainted) FROM approvals WHERE person_id = :person_id AND"
        " (scope = 'always' OR (scope = 'session' AND session_id = :session_id)) GROUP BY subject",
        {"person_id": person_id, "session_id": session_id},
    ).fetchall()
    return {row[0]: bool(row[1]) for row in rows}


def list_of(connection: Connection, *, person_id: PersonId) -> list[StoredApproval]:
    """List the shapes that a person's calls may have, oldest first.

    Shapes allowed for sessions that have ended are left out.
    """
    rows = connection.execute(
        "SELECT approvals.id, approvals.scope, subject AS shape, decided_by, approvals.created_at"
        " FROM approvals LEFT JOIN sessions ON sessions.id = approvals.session_id"
        " WHERE approvals.person_id = :person_id AND (approvals.scope = 'always'"
        " OR (approvals.scope = 'session' AND sessions.ended_at IS NULL)) ORDER BY approvals.id",
        {"person_id": person_id},
    )
    return read_all(StoredApproval, rows)


def revoke(connection: Connection, *, person_id: PersonId, approval_id: ApprovalId) -> str:
    """Delete an approval of a person; return its shape, or "" if there is no such approval."""
    row = connection.execute(
        "DELETE FROM approvals WHERE id = :id AND person_id = :person_id AND scope <> 'once'"
        " RETURNING subject",
        {"id": approval_id, "person_id": person_id},
    ).fetchone()
    return str(row[0]) if row else ""


def revoke_shapes(connection: Connection, *, is_wanted: Callable[[str], bool]) -> None:
    """Delete every standing approval, of anybody, whose shape is wanted."""
    rows = connection.execute("SELECT id, subject FROM approvals WHERE scope <> 'once'").fetchall()
    connection.executemany(
        "DELETE FROM approvals WHERE id = :id",
        [{"id": number} for number, shape in rows if is_wanted(shape)],
    )


def move(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move a person's standing approvals to the person they were merged into."""
    connection.execute(
        "UPDATE OR IGNORE approvals SET person_id = :kept"
        " WHERE person_id = :absorbed AND scope <> 'once'",
        {"kept": kept, "absorbed": absorbed},
    )
    connection.execute("DELETE FROM approvals WHERE person_id = :absorbed", {"absorbed": absorbed})


def delete_of_sessions(connection: Connection, *, session_ids: Sequence[SessionId]) -> None:
    """Delete the approvals of sessions that move to another person."""
    connection.executemany(
        "DELETE FROM approvals WHERE session_id = :session_id",
        [{"session_id": session_id} for session_id in session_ids],
    )
