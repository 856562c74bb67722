"""Queries over the tokens with which a person's other programs act for that person."""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection
from agent_core.state.people.token_scopes import TokenScope

_PRECISION = 3_600_000
"""Milliseconds between two writes of the last use of a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token of one person. The secret itself is stored nowhere; times are milliseconds UTC."""

    id: int
    person_id: PersonId
    name: str
    scope: TokenScope
    created_at: int
    last_used_at: int | None

    def is_use_due(self, now: int) -> bool:
        """Return whether a use now has to be recorded: one use per hour is."""
        return self.last_used_at is None or self.last_used_at < now - _PRECISION


_COLUMNS = "id, person_id, name, scope, created_at, last_used_at"


def insert(
    connection: Connection,
    *,
    person_id: PersonId,
    name: str,
    scope: TokenScope,
    secret_hash: str,
    now: int,
) -> ApiToken:
    """Store a token by the hash of its secret."""
    rows = connection.execute(
        "INSERT INTO api_tokens (person_id, name, scope, secret_hash, created_at)"
        f" VALUES (:person_id, :name, :scope, :secret_hash, :now) RETURNING {_COLUMNS}",
        {
            "person_id": person_id,
            "name": name,
            "scope": scope,
            "secret_hash": secret_hash,
            "now": now,
        },
    )
    return read_all(ApiToken, rows)[0]


def find(connection: Connection, *, secret_hash: str, scope: TokenScope) -> ApiToken | None:
    """Return the token with this secret's hash for a scope; `manage` also covers `api`."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM api_tokens WHERE secret_hash = :secret_hash"
        " AND (scope = :scope OR (:scope = 'api' AND scope = 'manage'))",
        {"secret_hash": secret_hash, "scope": scope},
    )
    return read_one(ApiToken, found)


def note_use(connection: Connection, *, token: ApiToken, now: int) -> None:
    """Note when a token was used; see `ApiToken.is_use_due`."""
    connection.execute(
        "UPDATE api_tokens SET last_used_at = :now WHERE id = :id AND person_id = :person_id",
        {"id": token.id, "person_id": token.person_id, "now": now},
    )


def list_of(connection: Connection, *, person_id: PersonId) -> list[ApiToken]:
    """List a person's tokens, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM api_tokens WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    )
    return read_all(ApiToken, rows)


def delete(connection: Connection, *, person_id: PersonId, token_id: int) -> str:
    """Delete a token of a person; return its name, "" if there is none."""
    row = connection.execute(
        "DELETE FROM api_tokens WHERE id = :id AND person_id = :person_id RETURNING name",
        {"id": token_id, "person_id": person_id},
    ).fetchone()
    return str(row[0]) if row else ""
