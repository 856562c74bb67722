"""Queries over the audit trail of people, rooms and rights; append-only."""

from dataclasses import asdict, dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An audited action. `actor` is `account:platform:user`, or `house` for the command line."""

    person_id: PersonId | None
    actor: str
    action: str
    detail: str
    created_at: int


def record(connection: Connection, entry: AuditEntry) -> None:
    """Record an action, in the transaction that performs it."""
    connection.execute(
        "INSERT INTO audit (person_id, actor, action, detail, created_at)"
        " VALUES (:person_id, :actor, :action, :detail, :created_at)",
        asdict(entry),
    )


def find_newest(connection: Connection, *, person_id: PersonId, action: str) -> int | None:
    """Return when an action about a person was last recorded, in milliseconds; None if never."""
    row = connection.execute(
        "SELECT MAX(created_at) FROM audit WHERE person_id = :person_id AND action = :action",
        {"person_id": person_id, "action": action},
    ).fetchone()
    return None if row[0] is None else int(row[0])


def list_of(connection: Connection, *, person_id: PersonId, limit: int) -> list[AuditEntry]:
    """List the audited actions about a person, newest first."""
    rows = connection.execute(
        "SELECT person_id, actor, action, detail, created_at FROM audit"
        " WHERE person_id = :person_id ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit},
    )
    return read_all(AuditEntry, rows)
