"""Queries over the chats and days for reminders, digests and other unsolicited messages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection

_ASKED = (
    "SELECT platform, chat FROM turns WHERE person_id = :person_id AND run_id IS NULL"
    " AND platform <> 'api'"
    " AND (account_id IS NULL OR account_id IN"
    " (SELECT id FROM accounts WHERE accounts.person_id = :person_id))"
)
"""The chats where a person asked something through an account that still belongs to that person."""
_LOOKED_THROUGH = 5000
"""The newest turns that are searched for chats; reading them takes some milliseconds. Somebody who
lately wrote a lot on the page still has their chat app.
"""
_MOST_SEEN = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A person's home chat, and their weekdays without unsolicited messages.

    1 is Monday, 7 is Sunday.
    """

    chat: Chat | None = None
    days_off: tuple[int, ...] = ()


def find(connection: Connection, *, person_id: PersonId) -> Home:
    """Return a person's home chat and days off."""
    row = connection.execute(
        "SELECT home_platform, home_chat, days_off FROM people WHERE id = :person_id",
        {"person_id": person_id},
    ).fetchone()
    if row is None:
        return Home()
    chat = Chat(platform=row[0], address=row[1]) if row[0] and row[1] else None
    return Home(chat=chat, days_off=_read_days(row[2]))


def _read_days(text: object) -> tuple[int, ...]:
    """Decode weekdays; none if the column is damaged."""
    try:
        days = json.loads(text)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return ()
    return tuple(day for day in days if isinstance(day, int)) if isinstance(days, list) else ()


def set_home(connection: Connection, *, person_id: PersonId, chat: Chat | None) -> None:
    """Set or clear the home chat."""
    connection.execute(
        "UPDATE people SET home_platform = :platform, home_chat = :chat WHERE id = :person_id",
        {
            "platform": chat.platform if chat else None,
            "chat": chat.address if chat else None,
            "person_id": person_id,
        },
    )


def set_days_off(connection: Connection, *, person_id: PersonId, days: Sequence[int]) -> None:
    """Set the weekdays without unsolicited messages."""
    connection.execute(
        "UPDATE people SET days_off = :days WHERE id = :person_id",
        {"days": json.dumps(sorted(set(days))), "person_id": person_id},
    )


def list_seen(connection: Connection, *, person_id: PersonId) -> list[Chat]:
    """List the chats where a person recently asked something, newest first.

    Turns of jobs are left out, because the person may not have been in their chat.
    """
    newest = _ASKED.replace("platform, chat", "id, platform, chat", 1)
    rows = connection.execute(
        f"SELECT platform, chat FROM ({newest} ORDER BY id DESC LIMIT :limit)"
        " GROUP BY platform, chat ORDER BY MAX(id) DESC LIMIT :most",
        {"person_id": person_id, "limit": _LOOKED_THROUGH, "most": _MOST_SEEN},
    ).fetchall()
    return [Chat(platform=row[0], address=row[1]) for row in rows]


def list_asked(connection: Connection, *, person_id: PersonId) -> frozenset[Chat]:
    """List all chats where a person ever asked something."""
    rows = connection.execute(_ASKED, {"person_id": person_id}).fetchall()
    return frozenset(Chat(platform=row[0], address=row[1]) for row in rows)
