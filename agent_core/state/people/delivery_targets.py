"""Queries over the chats and days for reminders, digests and other unsolicited messages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection

_ASKED = (
    "SELECT platform, chat FROM turns WHERE person_id = :person_id AND run_id IS NULL"
    " AND platform <> 'api'"
    " AND (account_id IS NULL OR account_id IN"
    " (SELECT id FROM accounts WHERE accounts.person_id = :person_id))"
)
"""The chats where a person asked something through an account that still belongs to that person."""
_LOOKED_THROUGH = 50
"""The newest turns that are searched for a chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A person's home chat as (platform, chat), and their weekdays without unsolicited messages.

    1 is Monday, 7 is Sunday.
    """

    place: tuple[str, str] | None = None
    days_off: tuple[int, ...] = ()


def find(connection: Connection, *, person_id: PersonId) -> Home:
    """Return a person's home chat and days off."""
    row = connection.execute(
        "SELECT home_platform, home_chat, days_off FROM people WHERE id = :person_id",
        {"person_id": person_id},
    ).fetchone()
    if row is None:
        return Home()
    place = (row[0], row[1]) if row[0] and row[1] else None
    return Home(place=place, days_off=_read_days(row[2]))


def _read_days(text: object) -> tuple[int, ...]:
    """Decode weekdays; none if the column is damaged."""
    try:
        days = json.loads(text)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return ()
    return tuple(day for day in days if isinstance(day, int)) if isinstance(days, list) else ()


def set_place(
    connection: Connection, *, person_id: PersonId, place: tuple[str, str] | None
) -> None:
    """Set or clear the home chat."""
    platform, chat = place or (None, None)
    connection.execute(
        "UPDATE people SET home_platform = :platform, home_chat = :chat WHERE id = :person_id",
        {"platform": platform, "chat": chat, "person_id": person_id},
    )


def set_days_off(connection: Connection, *, person_id: PersonId, days: Sequence[int]) -> None:
    """Set the weekdays without unsolicited messages."""
    connection.execute(
        "UPDATE people SET days_off = :days WHERE id = :person_id",
        {"days": json.dumps(sorted(set(days))), "person_id": person_id},
    )


def list_seen(connection: Connection, *, person_id: PersonId) -> list[tuple[str, str]]:
    """List the chats where a person recently asked something, as (platform, chat), newest first.

    Turns of jobs are left out, because the person may not have been in their chat.
    """
    rows = connection.execute(
        f"{_ASKED} ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": _LOOKED_THROUGH},
    ).fetchall()
    return list(dict.fromkeys((row[0], row[1]) for row in rows))


def list_asked(connection: Connection, *, person_id: PersonId) -> frozenset[tuple[str, str]]:
    """List all chats where a person ever asked something, as (platform, chat)."""
    rows = connection.execute(_ASKED, {"person_id": person_id}).fetchall()
    return frozenset((row[0], row[1]) for row in rows)
