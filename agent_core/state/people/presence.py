"""Queries over the presence of people in groups and channels: one account, others, speakers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId, RoomId
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """The first account that was noticed in a chat, and whether others followed.

    `others_at` is when a second account was noticed, in milliseconds; it never becomes None again.
    `user_id` is "" if only a count of members is known, or if the person was erased.
    """

    user_id: str
    others_at: int | None


def find(connection: Connection, *, platform: str, chat_id: str) -> Presence | None:
    """Return the presence in a chat; None if nobody was noticed there."""
    row = connection.execute(
        "SELECT user_id, others_at FROM room_presence"
        " WHERE platform = :platform AND chat_id = :chat_id",
        {"platform": platform, "chat_id": chat_id},
    ).fetchone()
    return Presence(user_id=row[0], others_at=row[1]) if row else None


def list_speakers(
    connection: Connection, *, room_ids: Sequence[RoomId], most: int = 200
) -> dict[RoomId, dict[PersonId, int]]:
    """Return the people who started turns in rooms, and when they last did, in milliseconds.

    It reads at most the newest `most` turns of each conversation in a room.
    """
    found: dict[RoomId, dict[PersonId, int]] = {room_id: {} for room_id in room_ids}
    for conversation_id, room_id in connection.execute(
        "SELECT id, room_id FROM conversations WHERE room_id IN (SELECT value FROM json_each(:ids))"
        " ORDER BY id",
        {"ids": json.dumps(room_ids)},
    ).fetchall():
        speakers = found[RoomId(room_id)]
        for person_id, at in connection.execute(
            "SELECT person_id, MAX(started_at) FROM (SELECT person_id, started_at FROM turns"
            " WHERE conversation_id = :conversation_id ORDER BY id DESC LIMIT :most)"
            " GROUP BY person_id",
            {"conversation_id": conversation_id, "most": most},
        ).fetchall():
            speakers[PersonId(person_id)] = max(at, speakers.get(PersonId(person_id), 0))
    return found


def note(
    connection: Connection, *, platform: str, chat_id: str, user_ids: Sequence[str], now: int
) -> Presence | None:
    """Record accounts that were noticed in a chat; return the updated presence."""
    connection.executemany(
        "INSERT INTO room_presence (platform, chat_id, user_id)"
        " VALUES (:platform, :chat_id, :user_id)"
        " ON CONFLICT (platform, chat_id) DO UPDATE SET others_at = :now"
        " WHERE room_presence.others_at IS NULL AND room_presence.user_id <> excluded.user_id",
        [
            {"platform": platform, "chat_id": chat_id, "user_id": user_id, "now": now}
            for user_id in user_ids
        ],
    )
    return find(connection, platform=platform, chat_id=chat_id)


def note_others(connection: Connection, *, platform: str, chat_id: str, now: int) -> None:
    """Record that a chat has several members, without naming them."""
    connection.execute(
        "INSERT INTO room_presence (platform, chat_id, user_id, others_at)"
        " VALUES (:platform, :chat_id, '', :now)"
        " ON CONFLICT (platform, chat_id) DO UPDATE SET others_at = :now"
        " WHERE room_presence.others_at IS NULL",
        {"platform": platform, "chat_id": chat_id, "now": now},
    )
