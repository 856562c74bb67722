"""Queries over single values of Talaria itself, stored under keys."""

from agent_core.state.engine.database import Connection


def get(connection: Connection, *, key: str) -> str | None:
    """Return the value of a key; None if it was never set."""
    row = connection.execute("SELECT value FROM meta WHERE key = :key", {"key": key}).fetchone()
    return row[0] if row else None


def put(connection: Connection, *, key: str, value: str) -> None:
    """Set or replace the value of a key."""
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (:key, :value)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        {"key": key, "value": value},
    )


def list_under(connection: Connection, *, prefix: str) -> dict[str, str]:
    """Return key -> value of all keys that begin with `prefix`, sorted by key."""
    rows = connection.execute(
        "SELECT key, value FROM meta WHERE key >= :prefix AND key < :end ORDER BY key",
        {"prefix": prefix, "end": f"{prefix}\U0010ffff"},
    ).fetchall()
    return dict(rows)


def drop(connection: Connection, *, key: str) -> None:
    """Delete the value of a key."""
    connection.execute("DELETE FROM meta WHERE key = :key", {"key": key})
