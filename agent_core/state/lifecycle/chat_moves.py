"""Move what belongs to a group to the new id that its platform gave it."""

from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs

_OPEN_ROWS = {
    "outbox": "state <> 'sent'",
    "questions": "state = 'open'",
    "turns": "state = 'running'",
    "deferred_messages": "TRUE",
}
"""The tables with a chat, and the rows that still go there; the others are history."""


def move(
    connection: Connection,
    *,
    platform: str,
    chat_ids: tuple[str, str],
    starts: tuple[str, str],
) -> None:
    """Move jobs, conversations, settings and waiting messages from one chat id to another.

    `chat_ids` are the old and the new one, `starts` the beginnings of their stored chats. Rows that
    exist under the new id stay as they are. A second call changes nothing.
    """
    old, new = chat_ids
    old_start, new_start = starts
    names = {"platform": platform, "old": old, "new": new}
    chats = {"platform": platform, "old": old_start, "new": new_start}
    for table, is_open in _OPEN_ROWS.items():
        connection.execute(
            f"UPDATE {table} SET chat = :new || SUBSTR(chat, LENGTH(:old) + 1)"
            f" WHERE platform = :platform AND SUBSTR(chat, 1, LENGTH(:old)) = :old AND {is_open}",
            chats,
        )
    # The ids of messages start again in the new chat.
    connection.execute(
        "UPDATE outbox SET message_id = NULL, shown = NULL WHERE platform = :platform"
        " AND SUBSTR(chat, 1, LENGTH(:new)) = :new AND state <> 'sent'",
        chats,
    )
    connection.execute(
        "UPDATE people SET home_chat = :new || SUBSTR(home_chat, LENGTH(:old) + 1)"
        " WHERE home_platform = :platform AND SUBSTR(home_chat, 1, LENGTH(:old)) = :old",
        chats,
    )
    connection.execute(
        "DELETE FROM unreachable_chats WHERE platform = :platform"
        " AND SUBSTR(chat, 1, LENGTH(:old)) = :old",
        chats,
    )
    for table in ("rooms", "room_presence"):
        connection.execute(
            f"UPDATE OR IGNORE {table} SET chat_id = :new"
            " WHERE platform = :platform AND chat_id = :old",
            names,
        )
    connection.execute(
        "UPDATE OR IGNORE conversations SET key = REPLACE(key, :old, :new)"
        " WHERE INSTR(key, :old) > 0",
        {"old": f"room:{platform}:{old}:", "new": f"room:{platform}:{new}:"},
    )
    jobs.move_targets(connection, platform=platform, starts=starts)
