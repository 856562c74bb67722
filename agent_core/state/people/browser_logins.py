"""Queries over the logins of browsers to the console page."""

from dataclasses import dataclass

from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserLogin:
    """A login; its times are milliseconds UTC. The secret itself is stored nowhere."""

    id: int
    created_at: int
    expires_at: int


def insert(connection: Connection, *, secret_hash: str, now: int, expires_at: int) -> None:
    """Store a login, and delete those that have expired."""
    connection.execute("DELETE FROM browser_logins WHERE expires_at <= :now", {"now": now})
    connection.execute(
        "INSERT INTO browser_logins (secret_hash, created_at, expires_at)"
        " VALUES (:secret_hash, :now, :expires_at)",
        {"secret_hash": secret_hash, "now": now, "expires_at": expires_at},
    )


def find(connection: Connection, *, secret_hash: str, now: int) -> BrowserLogin | None:
    """Return a login that has not expired, by the hash of its secret."""
    row = connection.execute(
        "SELECT id, created_at, expires_at FROM browser_logins"
        " WHERE secret_hash = :secret_hash AND expires_at > :now",
        {"secret_hash": secret_hash, "now": now},
    ).fetchone()
    return BrowserLogin(id=row[0], created_at=row[1], expires_at=row[2]) if row else None


def list_open(connection: Connection, *, now: int) -> list[BrowserLogin]:
    """Return the logins that have not expired, oldest first."""
    rows = connection.execute(
        "SELECT id, created_at, expires_at FROM browser_logins WHERE expires_at > :now ORDER BY id",
        {"now": now},
    ).fetchall()
    return [BrowserLogin(id=row[0], created_at=row[1], expires_at=row[2]) for row in rows]


def delete(connection: Connection, *, secret_hash: str) -> None:
    """End one login."""
    connection.execute(
        "DELETE FROM browser_logins WHERE secret_hash = :secret_hash", {"secret_hash": secret_hash}
    )


def delete_all(connection: Connection) -> int:
    """End every login; return how many there were."""
    return connection.execute("DELETE FROM browser_logins").rowcount
