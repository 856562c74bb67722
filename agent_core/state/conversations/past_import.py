"""Write a conversation of another program as an earlier session."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import ConversationId, MessageId, PersonId, SessionId, TurnId
from agent_core.state.conversations import messages
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.transcript import Message, load_parts

Table = Literal["messages", "jobs", "archive"]
"""The tables of which a home may already hold what an export brings."""

PLATFORM = "import"
"""The platform of what was said elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTurn:
    """A turn that ended elsewhere, with each message and its time, in milliseconds."""

    began_at: int
    ended_at: int
    said: tuple[tuple[Message, int], ...]


def begin_session(
    connection: Connection,
    conversation: Conversation,
    *,
    session_id: SessionId,
    title: str,
    began_at: int,
) -> None:
    """Write an ended session without turns."""
    connection.execute(
        "INSERT INTO sessions (id, conversation_id, title, started_at, last_at, ended_at)"
        " VALUES (:id, :conversation_id, :title, :began, :began, :began)",
        {
            "id": session_id,
            "conversation_id": conversation.id,
            "title": title,
            "began": began_at,
        },
    )


def exists(connection: Connection, *, session_id: SessionId) -> bool:
    """Return whether a session is still there."""
    row = connection.execute(
        "SELECT 1 FROM sessions WHERE id = :session_id", {"session_id": session_id}
    ).fetchone()
    return row is not None


def list_present(
    connection: Connection,
    table: Table,
    rows: Iterable[tuple[int, int]],
    *,
    person_id: PersonId,
) -> set[int]:
    """Return which rows of a person are still there, by their ids.

    Each of `rows` is an id and the time at which it was made, in milliseconds.
    """
    found = connection.execute(
        f"SELECT {table}.id FROM json_each(:rows) AS given JOIN {table}"
        f" ON {table}.id = given.value ->> 0 AND {table}.created_at = given.value ->> 1"
        f" WHERE {table}.person_id = :person_id",
        {"rows": json.dumps(list(rows)), "person_id": person_id},
    )
    return {row[0] for row in found}


def begin_turn(
    connection: Connection,
    conversation: Conversation,
    session_id: SessionId,
    turn_id: TurnId,
    turn: PastTurn,
) -> TranscriptPlace:
    """Write an ended turn without its messages; return where they belong.

    Its words count as words of others.
    """
    connection.execute(
        "INSERT INTO turns (id, conversation_id, session_id, person_id, platform, chat, state,"
        " is_untrusted, started_at, ended_at) VALUES (:id, :conversation_id, :session_id,"
        " :person_id, :platform, '', 'answered', 1, :began, :ended)",
        {
            "id": turn_id,
            "conversation_id": conversation.id,
            "session_id": session_id,
            "person_id": conversation.person_id,
            "platform": PLATFORM,
            "began": turn.began_at,
            "ended": turn.ended_at,
        },
    )
    connection.execute(
        "UPDATE sessions SET last_at = MAX(last_at, :ended),"
        " ended_at = CASE WHEN ended_at IS NULL THEN NULL ELSE MAX(ended_at, :ended) END"
        " WHERE id = :session_id",
        {"session_id": session_id, "ended": turn.ended_at},
    )
    return TranscriptPlace(
        session_id=session_id,
        turn_id=turn_id,
        person_id=conversation.person_id,
        conversation_id=conversation.id,
        platform=PLATFORM,
        is_searchable=conversation.is_searchable,
    )


def insert_turn(
    connection: Connection,
    conversation: Conversation,
    session_id: SessionId,
    turn_id: TurnId,
    turn: PastTurn,
) -> list[MessageId]:
    """Write an ended turn; return the numbers of its messages, in their order."""
    place = begin_turn(connection, conversation, session_id, turn_id, turn)
    made = []
    for message, at in turn.said:
        made += messages.append(connection, place, [message], now=at)
    return made


def walk_said(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId
) -> Iterator[tuple[Message, int]]:
    """Yield what was said in a conversation, with its times in milliseconds, oldest first."""
    rows = connection.execute(
        "SELECT role, parts, text, messages.created_at FROM messages JOIN sessions"
        " ON sessions.id = messages.session_id WHERE sessions.conversation_id = :conversation_id"
        " AND messages.person_id = :person_id ORDER BY messages.id",
        {"conversation_id": conversation_id, "person_id": person_id},
    )
    for role, parts, text, at in rows:
        yield Message(role=role, parts=load_parts(parts, text)), at
