"""Queries that add the messages of jobs to the history of their people.

Each of them is stored as a turn without a model call. The turn has already ended and holds one
message.
"""

from dataclasses import dataclass
from typing import Any

from agent_core.chats import Chat
from agent_core.ids import (
    AccountId,
    ConversationId,
    JobId,
    MessageId,
    PersonId,
    RoomId,
    RunId,
    SessionId,
    TurnId,
)
from agent_core.state.engine.connection import list_fields
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class JobMessage:
    """A message of a job run, with its conversation and recipient."""

    turn_id: TurnId
    run_id: RunId
    conversation_id: ConversationId
    session_id: SessionId
    person_id: PersonId
    account_id: AccountId | None
    chat: Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJobMessage(JobMessage):
    """A stored job message. `room_id` is the room of its conversation."""

    room_id: RoomId | None
    has_words: bool
    """False until its text is delivered."""


def record(connection: Connection, saying: JobMessage, *, now: int) -> None:
    """Record that a job has a message; the text is added after the delivery."""
    connection.execute(
        "INSERT INTO turns (id, run_id, conversation_id, session_id, person_id, account_id,"
        " platform, chat, state, started_at, ended_at) VALUES (:turn_id, :run_id, :conversation_id,"
        " :session_id, :person_id, :account_id, :platform, :chat, 'answered', :now, :now)",
        {
            **list_fields(saying),
            "platform": saying.chat.platform,
            "chat": saying.chat.address,
            "now": now,
        },
    )


_COLUMNS = (
    "turns.id, turns.run_id, turns.conversation_id, turns.session_id, turns.person_id,"
    " turns.account_id, turns.platform, turns.chat, conversations.room_id,"
    " EXISTS (SELECT 1 FROM messages WHERE messages.turn_id = turns.id)"
)
_SAID = (
    "FROM turns JOIN conversations ON conversations.id = turns.conversation_id"
    " WHERE turns.person_id = :person_id AND turns.run_id IS NOT NULL"
    " AND turns.prompt_hash IS NULL AND turns.state = 'answered'"
)
"""Turns of a person's jobs without a model call."""


def find(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId
) -> StoredJobMessage | None:
    """Return the job message of a turn of this person; None for a turn with a model call."""
    row = connection.execute(
        f"SELECT {_COLUMNS} {_SAID} AND turns.id = :turn_id",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchone()
    return _read(row) if row else None


def list_of_run(
    connection: Connection, *, run_id: RunId, person_id: PersonId
) -> list[StoredJobMessage]:
    """List the job messages of a run of this person."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} {_SAID} AND turns.run_id = :run_id",
        {"run_id": run_id, "person_id": person_id},
    ).fetchall()
    return [_read(row) for row in rows]


def list_answers(
    connection: Connection, *, person_id: PersonId, after: MessageId, turns: int
) -> list[tuple[JobId, str, str]]:
    """List the answers to reminders after a message, as (job, its title, the answer).

    Looks at that many of the person's newest turns.
    """
    rows = connection.execute(
        "SELECT jobs.id, jobs.title, messages.text FROM"
        " (SELECT id, run_id, prompt_hash FROM turns WHERE person_id = :person_id"
        " ORDER BY id DESC LIMIT :turns) AS newest"
        " JOIN messages ON messages.turn_id = newest.id"
        " JOIN job_runs ON job_runs.id = newest.run_id JOIN jobs ON jobs.id = job_runs.job_id"
        " WHERE newest.prompt_hash IS NULL AND messages.role = 'user' AND messages.id > :after"
        " AND messages.person_id = :person_id AND jobs.room_id IS NULL ORDER BY messages.id",
        {"person_id": person_id, "after": after, "turns": turns},
    ).fetchall()
    return [(JobId(row[0]), str(row[1]), str(row[2])) for row in rows]


def _read(row: tuple[Any, ...]) -> StoredJobMessage:
    return StoredJobMessage(
        turn_id=TurnId(row[0]),
        run_id=RunId(row[1]),
        conversation_id=ConversationId(row[2]),
        session_id=SessionId(row[3]),
        person_id=PersonId(row[4]),
        account_id=None if row[5] is None else AccountId(row[5]),
        chat=Chat(platform=row[6], address=row[7]),
        room_id=None if row[8] is None else RoomId(row[8]),
        has_words=bool(row[9]),
    )


def find_conversation(
    connection: Connection, *, key: str, person_id: PersonId
) -> tuple[ConversationId, SessionId | None] | None:
    """Return this person's conversation with this key, and its open session."""
    row = connection.execute(
        "SELECT conversations.id, (SELECT MAX(sessions.id) FROM sessions"
        " WHERE sessions.conversation_id = conversations.id AND sessions.ended_at IS NULL)"
        " FROM conversations WHERE conversations.key = :key"
        " AND conversations.person_id = :person_id",
        {"key": key, "person_id": person_id},
    ).fetchone()
    if row is None:
        return None
    return ConversationId(row[0]), None if row[1] is None else SessionId(row[1])


def open_session(
    connection: Connection,
    *,
    conversation_id: ConversationId,
    session_id: SessionId,
    account_id: AccountId | None,
    title: str,
    now: int,
) -> None:
    """Open the one session for all messages of a job; its title is the job's title."""
    connection.execute(
        "INSERT INTO sessions (id, conversation_id, account_id, title, started_at, last_at)"
        " VALUES (:id, :conversation_id, :account_id, :title, :now, :now)",
        {
            "id": session_id,
            "conversation_id": conversation_id,
            "account_id": account_id,
            "title": title,
            "now": now,
        },
    )


def continue_session(
    connection: Connection, *, session_id: SessionId, title: str, now: int
) -> None:
    """Record another message in the session, and update the title, which may have changed."""
    connection.execute(
        "UPDATE sessions SET title = :title, last_at = :now WHERE id = :session_id",
        {"session_id": session_id, "title": title, "now": now},
    )
