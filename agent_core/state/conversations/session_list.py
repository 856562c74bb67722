"""Queries over the sessions that a person can open, by their last use."""

from dataclasses import dataclass

from agent_core.ids import ConversationId, MessageId, PersonId, SessionId
from agent_core.state.conversations.sessions import ConversationKind
from agent_core.state.conversations.transcripts import ShownMessage
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection

_FIRST = 80
"""Characters of the first words; they stand in for a missing title."""
_LISTED = (
    "listed.id AS session_id, conversation_id, kind, agent, title, last_at, is_open,"
    # Only the console's pages write into a direct conversation over the API.
    " COALESCE((SELECT CASE WHEN kind = 'direct' AND platform = 'api' THEN 'console'"
    " ELSE platform END FROM messages WHERE session_id = listed.id"
    " AND person_id = :person_id ORDER BY id DESC LIMIT 1), '') AS platform,"
    " COALESCE((SELECT SUBSTR(text, 1, :first) FROM messages WHERE session_id = listed.id"
    " AND person_id = :person_id AND role = 'user' AND text <> '' AND forgotten_at IS NULL"
    " ORDER BY id LIMIT 1), '') AS first,"
    " COALESCE((SELECT COALESCE(NULLIF(rooms.name, ''), rooms.title) FROM rooms"
    " WHERE rooms.id = room_id), '') AS room"
)
_OF_PERSON = (
    "SELECT sessions.id, conversation_id, kind, agent, title, last_at, ended_at IS NULL AS is_open,"
    " room_id FROM conversations CROSS JOIN sessions ON sessions.conversation_id = conversations.id"
    " WHERE conversations.person_id = :person_id AND removed_at IS NULL"
    " AND kind IN ('direct', 'room', 'program', 'fork')"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session as its person sees it: messages with a beginning and an end.

    `last_at` is in milliseconds UTC, `platform` that of its newest message, "" without one. The
    next message of its conversation goes on in an open one.
    """

    session_id: SessionId
    conversation_id: ConversationId
    kind: ConversationKind
    agent: str
    """The named agent that answers in it; "" is the assistant."""
    title: str
    last_at: int
    is_open: bool
    platform: str
    first: str
    """The first words of the person."""
    room: str
    """The name of the group in which it takes place; "" for any other."""

    @property
    def name(self) -> str:
        """Return its title, or what stands in for one; "" without any words."""
        return self.title or self.room or self.first


def list_newest(
    connection: Connection, *, person_id: PersonId, limit: int, words: str = "", skip: int = 0
) -> list[ListedSession]:
    """List the sessions that a person used last, newest first; job runs and helpers are none.

    With `words`, list only those whose titles contain them. `skip` leaves out the newest ones.
    """
    rows = connection.execute(
        f"SELECT {_LISTED} FROM ({_OF_PERSON} AND LOWER(title) LIKE :words ESCAPE '!'"
        " ORDER BY last_at DESC, sessions.id DESC LIMIT :limit OFFSET :skip) AS listed"
        " ORDER BY last_at DESC, listed.id DESC",
        {
            "person_id": person_id,
            "limit": limit,
            "skip": skip,
            "first": _FIRST,
            "words": f"%{_escape(words.lower())}%",
        },
    )
    return read_all(ListedSession, rows, is_open=bool)


def find(
    connection: Connection, *, session_id: SessionId, person_id: PersonId
) -> ListedSession | None:
    """Return a person's session; None if they have no such one."""
    found = connection.execute(
        f"SELECT {_LISTED} FROM ({_OF_PERSON} AND sessions.id = :session_id) AS listed",
        {"person_id": person_id, "session_id": session_id, "first": _FIRST},
    )
    return read_one(ListedSession, found, is_open=bool)


def list_said(
    connection: Connection, *, session_id: SessionId, person_id: PersonId, before: int, limit: int
) -> list[ShownMessage]:
    """List the texts of a session with ids below that of a message, newest first."""
    rows = connection.execute(
        "SELECT id, turn_id, role, text, platform, created_at FROM messages"
        " WHERE session_id = :session_id AND person_id = :person_id AND id < :before"
        " AND role IN ('user', 'assistant') AND text <> '' AND forgotten_at IS NULL"
        " ORDER BY id DESC LIMIT :limit",
        {"session_id": session_id, "person_id": person_id, "before": before, "limit": limit},
    )
    return read_all(ShownMessage, rows)


def find_end(
    connection: Connection,
    *,
    session_id: SessionId,
    person_id: PersonId,
    message_id: MessageId,
    later: int,
) -> int:
    """Return the id behind a message and up to `later` texts after it."""
    row = connection.execute(
        "SELECT MAX(id) FROM (SELECT id FROM messages WHERE session_id = :session_id"
        " AND person_id = :person_id AND id >= :message_id AND role IN ('user', 'assistant')"
        " AND text <> '' ORDER BY id LIMIT :count)",
        {
            "session_id": session_id,
            "person_id": person_id,
            "message_id": message_id,
            "count": later + 1,
        },
    ).fetchone()
    return int(row[0] or message_id) + 1


def _escape(words: str) -> str:
    """Return words for LIKE, in which no sign is a placeholder."""
    return words.replace("!", "!!").replace("%", "!%").replace("_", "!_")
