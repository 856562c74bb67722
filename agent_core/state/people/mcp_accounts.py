"""Queries over the accounts with which people are signed in at MCP servers."""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class McpAccount:
    """The account of a person at a server; times are milliseconds UTC.

    `key` is random and names the file with the tokens. A number of a person may mean somebody else
    after an old backup was restored; a key can't. `is_shared` marks the account that everybody
    uses; the person is who signed in. `listing` are the tools that the account last saw, as JSON.
    """

    person_id: PersonId
    server: str
    is_shared: bool
    key: str
    signed_in_at: int | None
    asked_at: int | None
    listing: str


_COLUMNS = "person_id, server, is_shared, key, signed_in_at, asked_at, listing"


def find(connection: Connection, *, person_id: PersonId, server: str) -> McpAccount | None:
    """Return a person's own account at a server."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM mcp_accounts"
        " WHERE person_id = :person_id AND server = :server AND is_shared = 0",
        {"person_id": person_id, "server": server},
    )
    return read_one(McpAccount, rows, is_shared=bool)


def find_shared(connection: Connection, *, server: str) -> McpAccount | None:
    """Return the account of a server that everybody uses."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM mcp_accounts WHERE server = :server AND is_shared = 1",
        {"server": server},
    )
    return read_one(McpAccount, rows, is_shared=bool)


def add(
    connection: Connection, *, person_id: PersonId, server: str, key: str, is_shared: bool
) -> McpAccount:
    """Add an account without tokens; one that is there stays as it is."""
    values = {"person_id": person_id, "server": server, "key": key, "is_shared": is_shared}
    connection.execute(
        "INSERT INTO mcp_accounts (person_id, server, is_shared, key)"
        " VALUES (:person_id, :server, :is_shared, :key)"
        " ON CONFLICT (person_id, server, is_shared) DO NOTHING",
        values,
    )
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM mcp_accounts"
        " WHERE person_id = :person_id AND server = :server AND is_shared = :is_shared",
        values,
    )
    return read_all(McpAccount, rows, is_shared=bool)[0]


def note_listing(
    connection: Connection, *, person_id: PersonId, key: str, listing: str, now: int
) -> None:
    """Note that an account was let in, and which tools it saw."""
    connection.execute(
        "UPDATE mcp_accounts SET listing = :listing, asked_at = NULL,"
        " signed_in_at = COALESCE(signed_in_at, :now)"
        " WHERE key = :key AND person_id = :person_id",
        {"person_id": person_id, "key": key, "listing": listing, "now": now},
    )


def note_refusal(connection: Connection, *, person_id: PersonId, key: str) -> bool:
    """Note that a server wants a new sign-in; return whether it had let the account in before."""
    row = connection.execute(
        "UPDATE mcp_accounts SET signed_in_at = NULL, listing = ''"
        " WHERE key = :key AND person_id = :person_id AND signed_in_at IS NOT NULL RETURNING 1",
        {"person_id": person_id, "key": key},
    ).fetchone()
    return row is not None


def note_asked(
    connection: Connection, *, person_id: PersonId, key: str, since: int, now: int
) -> bool:
    """Note that a link is sent; False if one was sent after `since`."""
    row = connection.execute(
        "UPDATE mcp_accounts SET asked_at = :now WHERE key = :key AND person_id = :person_id"
        " AND (asked_at IS NULL OR asked_at <= :since) RETURNING 1",
        {"person_id": person_id, "key": key, "since": since, "now": now},
    ).fetchone()
    return row is not None


def forget_asked(connection: Connection, *, person_id: PersonId, key: str) -> None:
    """Note that no link reached the person."""
    connection.execute(
        "UPDATE mcp_accounts SET asked_at = NULL WHERE key = :key AND person_id = :person_id",
        {"person_id": person_id, "key": key},
    )


def list_of(connection: Connection, *, person_id: PersonId) -> list[McpAccount]:
    """List a person's accounts, by server."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM mcp_accounts WHERE person_id = :person_id"
        " ORDER BY server, is_shared",
        {"person_id": person_id},
    )
    return read_all(McpAccount, rows, is_shared=bool)


def list_listings(connection: Connection, *, server: str) -> list[str]:
    """List the different tool lists that the accounts at a server saw, as JSON."""
    rows = connection.execute(
        "SELECT DISTINCT listing FROM mcp_accounts WHERE server = :server AND listing <> ''"
        " ORDER BY listing",
        {"server": server},
    )
    return [str(row[0]) for row in rows]


def count_signed_in(connection: Connection, *, server: str) -> int:
    """Count the accounts that a server lets in."""
    row = connection.execute(
        "SELECT COUNT(*) FROM mcp_accounts WHERE server = :server AND signed_in_at IS NOT NULL",
        {"server": server},
    ).fetchone()
    return int(row[0])


def list_keys(connection: Connection) -> frozenset[str]:
    """List the keys of all accounts: files with other names are nobody's."""
    return frozenset(str(row[0]) for row in connection.execute("SELECT key FROM mcp_accounts"))


def delete(connection: Connection, *, person_id: PersonId, server: str) -> bool:
    """Delete what a person signed in to at a server; False if there was nothing."""
    row = connection.execute(
        "DELETE FROM mcp_accounts WHERE person_id = :person_id AND server = :server RETURNING 1",
        {"person_id": person_id, "server": server},
    ).fetchone()
    return row is not None


def delete_all(connection: Connection, *, person_id: PersonId) -> None:
    """Delete all accounts of a person."""
    connection.execute(
        "DELETE FROM mcp_accounts WHERE person_id = :person_id", {"person_id": person_id}
    )


def delete_key(connection: Connection, *, key: str) -> None:
    """Delete the account whose tokens are in the file with this key."""
    connection.execute("DELETE FROM mcp_accounts WHERE key = :key", {"key": key})


def delete_shared(connection: Connection, *, server: str) -> None:
    """Delete the account of a server that everybody uses."""
    connection.execute(
        "DELETE FROM mcp_accounts WHERE server = :server AND is_shared = 1", {"server": server}
    )


def delete_of_server(connection: Connection, *, server: str) -> None:
    """Delete everybody's accounts at a server."""
    connection.execute("DELETE FROM mcp_accounts WHERE server = :server", {"server": server})


def merge(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Give a person the accounts of one who becomes the same person.

    Of two accounts at one server, the one that is signed in stays, and otherwise that of `kept`.
    """
    both = {"kept": kept, "absorbed": absorbed}
    connection.execute(
        "DELETE FROM mcp_accounts WHERE person_id = :kept AND signed_in_at IS NULL"
        " AND EXISTS (SELECT 1 FROM mcp_accounts AS other WHERE other.person_id = :absorbed"
        " AND other.server = mcp_accounts.server AND other.is_shared = mcp_accounts.is_shared"
        " AND other.signed_in_at IS NOT NULL)",
        both,
    )
    connection.execute(
        "DELETE FROM mcp_accounts WHERE person_id = :absorbed"
        " AND EXISTS (SELECT 1 FROM mcp_accounts AS other WHERE other.person_id = :kept"
        " AND other.server = mcp_accounts.server AND other.is_shared = mcp_accounts.is_shared)",
        both,
    )
    connection.execute(
        "UPDATE mcp_accounts SET person_id = :kept WHERE person_id = :absorbed", both
    )
