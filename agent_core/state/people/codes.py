"""Queries over one-time codes, which claim the deployment or pair an account."""

from dataclasses import dataclass
from typing import Literal

from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection

Purpose = Literal["claim", "pairing", "invite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A one-time code, stored as a hash. A code for `pairing` has the account that asks.

    The `display_name` of an invitation is the name of whom it is for.
    """

    id: int
    purpose: Purpose
    platform: str | None
    user_id: str | None
    display_name: str | None
    chat: str | None
    created_at: int
    expires_at: int
    used_at: int | None
    language: str | None
    time_zone: str | None

    def is_open(self, now: int) -> bool:
        """Return whether the code is unused and not expired."""
        return self.used_at is None and self.expires_at > now


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAsker:
    """The account that a pairing code is for, with the chat to greet it in."""

    platform: str
    user_id: str
    display_name: str
    chat: str
    language: str | None = None
    time_zone: str | None = None


_CODE = (
    "id, purpose, platform, user_id, display_name, chat, created_at, expires_at, used_at, language,"
    " time_zone"
)


def insert(
    connection: Connection,
    *,
    purpose: Purpose,
    code_hash: str,
    asker: CodeAsker | None,
    now: int,
    expires_at: int,
) -> None:
    """Store a code. `asker` is given for a pairing."""
    connection.execute(
        "INSERT INTO link_codes (purpose, code_hash, platform, user_id, display_name, chat,"
        " language, time_zone, created_at, expires_at) VALUES (:purpose, :code_hash, :platform,"
        " :user_id, :display_name, :chat, :language, :time_zone, :now, :expires_at)",
        {
            "purpose": purpose,
            "code_hash": code_hash,
            "platform": asker and asker.platform,
            "user_id": asker and asker.user_id,
            "display_name": asker and asker.display_name,
            "chat": asker and asker.chat,
            "language": asker and asker.language,
            "time_zone": asker and asker.time_zone,
            "now": now,
            "expires_at": expires_at,
        },
    )


def insert_invitation(
    connection: Connection, *, code_hash: str, guest: str, now: int, expires_at: int
) -> None:
    """Store the code of an invitation; `guest` is the name of whom it is for."""
    connection.execute(
        "INSERT INTO link_codes (purpose, code_hash, display_name, created_at, expires_at)"
        " VALUES ('invite', :code_hash, :guest, :now, :expires_at)",
        {"code_hash": code_hash, "guest": guest, "now": now, "expires_at": expires_at},
    )


def find(connection: Connection, *, code_hash: str, purpose: Purpose, now: int) -> Code | None:
    """Return a code of this purpose that is unused and not expired."""
    found = connection.execute(
        f"SELECT {_CODE} FROM link_codes WHERE code_hash = :code_hash AND purpose = :purpose"
        " AND used_at IS NULL AND expires_at > :now",
        {"code_hash": code_hash, "purpose": purpose, "now": now},
    )
    return read_one(Code, found)


def find_pairing(connection: Connection, *, code: str | int) -> Code | None:
    """Return a pairing code by its hash or its number, open or closed."""
    found = connection.execute(
        f"SELECT {_CODE} FROM link_codes WHERE purpose = 'pairing'"
        f" AND {'id' if isinstance(code, int) else 'code_hash'} = :code ORDER BY id DESC LIMIT 1",
        {"code": code},
    )
    return read_one(Code, found)


def list_open(connection: Connection, *, purpose: Purpose, now: int) -> list[Code]:
    """List the codes of a purpose that are unused and not expired, the newest first."""
    found = connection.execute(
        f"SELECT {_CODE} FROM link_codes WHERE purpose = :purpose AND used_at IS NULL"
        " AND expires_at > :now ORDER BY id DESC",
        {"purpose": purpose, "now": now},
    )
    return read_all(Code, found)


def list_untold(connection: Connection, *, now: int) -> list[Code]:
    """List the newest open code of each account that owners were not told of, the oldest first."""
    found = connection.execute(
        f"SELECT {_CODE} FROM link_codes WHERE purpose = 'pairing' AND used_at IS NULL"
        " AND expires_at > :now AND id IN (SELECT MAX(id) FROM link_codes"
        " WHERE purpose = 'pairing' GROUP BY platform, user_id)"
        " AND EXISTS (SELECT 1 FROM strangers WHERE strangers.platform = link_codes.platform"
        " AND strangers.user_id = link_codes.user_id AND told_at IS NULL) ORDER BY id",
        {"now": now},
    )
    return read_all(Code, found)


def find_latest_pairing(connection: Connection, *, platform: str, user_id: str) -> Code | None:
    """Return the newest pairing code of an account, valid or not."""
    found = connection.execute(
        f"SELECT {_CODE} FROM link_codes WHERE purpose = 'pairing' AND platform = :platform"
        " AND user_id = :user_id ORDER BY id DESC LIMIT 1",
        {"platform": platform, "user_id": user_id},
    )
    return read_one(Code, found)


def use(connection: Connection, *, code_id: int, now: int) -> None:
    """Mark a code as used."""
    connection.execute(
        "UPDATE link_codes SET used_at = :now WHERE id = :code_id",
        {"code_id": code_id, "now": now},
    )


def retire_pairings(connection: Connection, *, platform: str, user_id: str, now: int) -> None:
    """Invalidate the open pairing codes of an account: it is in."""
    connection.execute(
        "UPDATE link_codes SET used_at = :now WHERE purpose = 'pairing' AND platform = :platform"
        " AND user_id = :user_id AND used_at IS NULL",
        {"platform": platform, "user_id": user_id, "now": now},
    )


def retire(connection: Connection, *, purpose: Purpose, now: int) -> None:
    """Invalidate every open code of one purpose."""
    connection.execute(
        "UPDATE link_codes SET used_at = :now WHERE purpose = :purpose AND used_at IS NULL",
        {"purpose": purpose, "now": now},
    )
