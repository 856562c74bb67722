"""Queries over the logins of browsers to the console page, and the links that open them."""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserLogin:
    """A login; its times are milliseconds UTC. The secret itself is stored nowhere.

    `person_id` is the person of the login; None if it was opened with the printed address.
    """

    id: int
    created_at: int
    expires_at: int
    person_id: PersonId | None


_COLUMNS = "id, created_at, expires_at, person_id"


def insert(
    connection: Connection,
    *,
    secret_hash: str,
    now: int,
    expires_at: int,
    person_id: PersonId | None = None,
) -> None:
    """Store a login, and delete those that have expired."""
    connection.execute("DELETE FROM browser_logins WHERE expires_at <= :now", {"now": now})
    connection.execute(
        "INSERT INTO browser_logins (secret_hash, created_at, expires_at, person_id)"
        " VALUES (:secret_hash, :now, :expires_at, :person_id)",
        {
            "secret_hash": secret_hash,
            "now": now,
            "expires_at": expires_at,
            "person_id": person_id,
        },
    )


def find(connection: Connection, *, secret_hash: str, now: int) -> BrowserLogin | None:
    """Return a login that has not expired, by the hash of its secret."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM browser_logins"
        " WHERE secret_hash = :secret_hash AND expires_at > :now",
        {"secret_hash": secret_hash, "now": now},
    )
    return read_one(BrowserLogin, found)


def list_open(connection: Connection, *, now: int) -> list[BrowserLogin]:
    """Return the logins that have not expired, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM browser_logins WHERE expires_at > :now ORDER BY id",
        {"now": now},
    )
    return read_all(BrowserLogin, rows)


def list_of(connection: Connection, *, person_id: PersonId, now: int) -> list[BrowserLogin]:
    """Return a person's logins that have not expired, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM browser_logins"
        " WHERE person_id = :person_id AND expires_at > :now ORDER BY id",
        {"person_id": person_id, "now": now},
    )
    return read_all(BrowserLogin, rows)


def delete(connection: Connection, *, secret_hash: str) -> None:
    """End one login."""
    connection.execute(
        "DELETE FROM browser_logins WHERE secret_hash = :secret_hash", {"secret_hash": secret_hash}
    )


def delete_of(connection: Connection, *, person_id: PersonId) -> int:
    """End all logins of a person, and their links; return how many logins there were."""
    values = {"person_id": person_id}
    connection.execute("DELETE FROM login_links WHERE person_id = :person_id", values)
    return connection.execute(
        "DELETE FROM browser_logins WHERE person_id = :person_id", values
    ).rowcount


def delete_all(connection: Connection) -> int:
    """End every login, and every link; return how many logins there were."""
    connection.execute("DELETE FROM login_links")
    return connection.execute("DELETE FROM browser_logins").rowcount


def insert_link(
    connection: Connection, *, person_id: PersonId, secret_hash: str, now: int, expires_at: int
) -> None:
    """Store a link that replaces the person's earlier one; delete links that have expired."""
    connection.execute(
        "DELETE FROM login_links WHERE person_id = :person_id OR expires_at <= :now",
        {"person_id": person_id, "now": now},
    )
    connection.execute(
        "INSERT INTO login_links (person_id, secret_hash, created_at, expires_at)"
        " VALUES (:person_id, :secret_hash, :now, :expires_at)",
        {
            "person_id": person_id,
            "secret_hash": secret_hash,
            "now": now,
            "expires_at": expires_at,
        },
    )


def find_link(connection: Connection, *, secret_hash: str, now: int) -> PersonId | None:
    """Return the person whose login a link opens; None if the link was used or has expired."""
    row = connection.execute(
        "SELECT person_id FROM login_links WHERE secret_hash = :secret_hash AND expires_at > :now",
        {"secret_hash": secret_hash, "now": now},
    ).fetchone()
    return PersonId(row[0]) if row else None


def use_link(connection: Connection, *, secret_hash: str, now: int) -> PersonId | None:
    """Use up a link; return the person whose login it opens, like `find_link`."""
    row = connection.execute(
        "DELETE FROM login_links WHERE secret_hash = :secret_hash AND expires_at > :now"
        " RETURNING person_id",
        {"secret_hash": secret_hash, "now": now},
    ).fetchone()
    return PersonId(row[0]) if row else None
