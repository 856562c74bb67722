"""Queries over places where nobody can be reached any more."""

from agent_core.state.engine.database import Connection


def add(connection: Connection, *, platform: str, chat: str, reason: str, now: int) -> None:
    """Send nothing there any more, until somebody writes from there."""
    connection.execute(
        "INSERT INTO unreachable_chats (platform, chat, reason, retired_at)"
        " VALUES (:platform, :chat, :reason, :now)"
        " ON CONFLICT (platform, chat) DO NOTHING",
        {"platform": platform, "chat": chat, "reason": reason, "now": now},
    )


def remove(connection: Connection, *, platform: str, chat: str) -> None:
    """Somebody wrote from there: it can be reached again."""
    connection.execute(
        "DELETE FROM unreachable_chats WHERE platform = :platform AND chat = :chat",
        {"platform": platform, "chat": chat},
    )


def list_all(connection: Connection) -> dict[tuple[str, str], str]:
    """(platform, chat) -> why nothing is sent there."""
    rows = connection.execute("SELECT platform, chat, reason FROM unreachable_chats").fetchall()
    return {(platform, chat): reason for platform, chat, reason in rows}
