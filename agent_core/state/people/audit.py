"""Queries over the audit trail of people, rooms and rights; append-only."""

from dataclasses import asdict, dataclass
from typing import Literal

from agent_core.ids import PersonId
from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection

Entrance = Literal["people.join", "claim"]
"""The action of an account that came in with the code of an invitation, or with the owner's."""


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


def list_entrances(
    connection: Connection, *, person_id: PersonId
) -> dict[tuple[str, str], Entrance]:
    """Return the last code that each account of a person came in with, by platform and user id.

    Accounts that an owner let in, or the allow list, have none.
    """
    rows = connection.execute(
        "SELECT platform, user_id, action FROM accounts JOIN audit"
        " ON audit.person_id IN (accounts.person_id, accounts.came_from)"
        " AND actor = 'account:' || platform || ':' || user_id"
        " WHERE accounts.person_id = :person_id AND action IN ('people.join', 'claim')"
        " ORDER BY audit.id",
        {"person_id": person_id},
    ).fetchall()
    return {(platform, user_id): action for platform, user_id, action in rows}


def list_of(connection: Connection, *, person_id: PersonId, limit: int) -> list[AuditEntry]:
    """List the audited actions about a person, newest first."""
    rows = connection.execute(
        "SELECT person_id, actor, action, detail, created_at FROM audit"
        " WHERE person_id = :person_id ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit},
    )
    return read_all(AuditEntry, rows)
