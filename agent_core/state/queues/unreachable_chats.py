"""Queries over chats that no longer accept messages."""

from agent_core.chats import Chat
from agent_core.state.engine.database import Connection


def add(connection: Connection, *, platform: str, chat: str, reason: str, now: int) -> None:
    """Stop sending to a chat until somebody writes there."""
    connection.execute(
        "INSERT INTO unreachable_chats (platform, chat, reason, retired_at)"
        " VALUES (:platform, :chat, :reason, :now)"
        " ON CONFLICT (platform, chat) DO NOTHING",
        {"platform": platform, "chat": chat, "reason": reason, "now": now},
    )


def remove(connection: Connection, *, platform: str, chat: str) -> None:
    """Send to a chat again, because somebody wrote there."""
    connection.execute(
        "DELETE FROM unreachable_chats WHERE platform = :platform AND chat = :chat",
        {"platform": platform, "chat": chat},
    )


def list_all(connection: Connection) -> dict[Chat, str]:
    """Return all unreachable chats, each with its reason."""
    rows = connection.execute("SELECT platform, chat, reason FROM unreachable_chats").fetchall()
    return {Chat(platform=row[0], address=row[1]): row[2] for row in rows}
