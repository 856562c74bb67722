"""Queries for pages, the API and telemetry: visible parts of conversations, and times of turns."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import ConversationId, MessageId, PersonId, SessionId, TurnId
from agent_core.state.conversations.sessions import ConversationKind
from agent_core.state.engine.connection import read_all, read_one
from agent_core.state.engine.database import Connection

_NEWEST = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConversation:
    """A conversation with the title of its newest session; times are milliseconds UTC."""

    id: ConversationId
    kind: ConversationKind
    title: str
    is_private: bool
    created_at: int
    last_at: int | None
    removed_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """A text that the person wrote or read."""

    id: MessageId
    turn_id: TurnId
    role: str
    text: str
    platform: str
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkPoint:
    """The point at which a conversation is forked.

    `session_id` is the session that is continued, `until` the last message that the fork begins
    with.
    """

    conversation_id: ConversationId
    session_id: SessionId
    title: str
    is_running: bool
    until: MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedStep:
    """A tool call with its times in milliseconds UTC; `ended_at` is None while it runs."""

    call_id: str
    name: str
    is_error: bool
    started_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCall:
    """A model call; `at` is the moment of its end, in milliseconds UTC.

    `asked` is the model of the request, `model` the one that answered. `read` includes `cached`;
    both and `written` are in tokens.
    """

    model: str
    asked: str
    read: int
    cached: int
    written: int
    micro_dollars: int | None
    at: int


WaitKind = Literal["queue", "approval", "answer", "model"]
"""The thing that a turn waits for: a place in the queue, a yes, an answer, or a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedWait:
    """A wait of a turn, in milliseconds UTC; `ended_at` is None while it lasts."""

    kind: WaitKind
    began_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedTurn:
    """A turn with its times in milliseconds UTC; `ended_at` is None while it runs."""

    id: TurnId
    conversation_id: ConversationId
    platform: str
    state: str
    reason: str
    started_at: int
    ended_at: int | None


def list_conversations(
    connection: Connection,
    *,
    person_id: PersonId,
    before: int,
    limit: int,
    is_removed: bool = False,
) -> list[ListedConversation]:
    """List a person's conversations with ids below `before`, newest first.

    Helpers' conversations are left out. Conversations that the person removed are listed only with
    `is_removed`.
    """
    rows = connection.execute(
        "SELECT conversations.id, kind, COALESCE(title, ''), created_at, last_at,"
        " scope = 'p' || :person_id, removed_at FROM conversations"
        " LEFT JOIN sessions ON sessions.id = (SELECT MAX(id) FROM sessions"
        " WHERE conversation_id = conversations.id) WHERE person_id = :person_id"
        " AND conversations.id < :before AND kind NOT IN ('helper', 'task', 'housekeeping')"
        " AND (removed_at IS NOT NULL) = :is_removed"
        " ORDER BY conversations.id DESC LIMIT :limit",
        {
            "person_id": person_id,
            "before": before,
            "limit": limit,
            "is_removed": is_removed,
        },
    ).fetchall()
    return [
        ListedConversation(
            id=ConversationId(row[0]),
            kind=row[1],
            title=row[2],
            is_private=bool(row[5]),
            created_at=row[3],
            last_at=row[4],
            removed_at=row[6],
        )
        for row in rows
    ]


def is_of_person(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId
) -> bool:
    """Return whether a conversation belongs to a person."""
    row = connection.execute(
        "SELECT 1 FROM conversations WHERE id = :id AND person_id = :person_id",
        {"id": conversation_id, "person_id": person_id},
    ).fetchone()
    return row is not None


def list_messages(
    connection: Connection,
    *,
    conversation_id: ConversationId,
    person_id: PersonId,
    before: int,
    limit: int,
) -> list[ShownMessage]:
    """List the texts of a conversation with ids below that of a message, newest first.

    The turns of a conversation follow each other, so that reading them backwards reads only the
    messages that are returned.
    """
    rows = connection.execute(
        "SELECT messages.id, turn_id, role, text, messages.platform, created_at FROM turns"
        " CROSS JOIN messages ON messages.turn_id = turns.id AND messages.id < :before"
        " WHERE conversation_id = :conversation_id AND turns.id <= COALESCE((SELECT turn_id"
        " FROM messages WHERE id = :before AND person_id = :person_id), :newest)"
        " AND messages.person_id = :person_id AND role IN ('user', 'assistant') AND text <> ''"
        " AND forgotten_at IS NULL ORDER BY turns.id DESC, messages.id DESC LIMIT :limit",
        {
            "newest": _NEWEST,
            "conversation_id": conversation_id,
            "person_id": person_id,
            "before": before,
            "limit": limit,
        },
    )
    return read_all(ShownMessage, rows)


def find_fork_point(
    connection: Connection, *, message_id: MessageId, person_id: PersonId
) -> ForkPoint | None:
    """Find the messages with which a fork at a person's message begins; None without that message.

    A fork at an answer includes the whole turn: the answer may have started calls, and their
    results come after it.
    """
    found = connection.execute(
        "SELECT turns.conversation_id, messages.session_id, sessions.title,"
        " turns.state = 'running' AS is_running,"
        " CASE role WHEN 'user' THEN messages.id ELSE (SELECT MAX(last.id) FROM messages AS last"
        " WHERE last.turn_id = turns.id AND last.person_id = :person_id"
        " AND last.session_id = messages.session_id) END AS until"
        " FROM messages JOIN turns ON turns.id = messages.turn_id"
        " JOIN sessions ON sessions.id = messages.session_id"
        " WHERE messages.id = :message_id AND messages.person_id = :person_id"
        " AND audience = 'private' AND forgotten_at IS NULL",
        {"message_id": message_id, "person_id": person_id},
    )
    return read_one(ForkPoint, found, is_running=bool)


def find_last_message(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId
) -> MessageId | None:
    """Return the last message of a person's turn; None without one."""
    row = connection.execute(
        "SELECT MAX(id) FROM messages WHERE turn_id = :turn_id AND person_id = :person_id",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchone()
    return None if row[0] is None else MessageId(row[0])


def has_gone_on(connection: Connection, *, turn_id: TurnId, person_id: PersonId) -> bool:
    """Return whether the conversation of a person's turn has a later turn."""
    return (
        connection.execute(
            "SELECT 1 FROM turns AS later JOIN turns ON turns.id = :turn_id"
            " AND turns.person_id = :person_id WHERE later.id > turns.id"
            " AND later.conversation_id = turns.conversation_id LIMIT 1",
            {"turn_id": turn_id, "person_id": person_id},
        ).fetchone()
        is not None
    )


def find_origin(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId
) -> tuple[ConversationId, MessageId] | None:
    """Return the conversation that this one was forked from, and the last message of both."""
    row = connection.execute(
        "SELECT source.conversation_id, made.branched_at FROM sessions AS made"
        " JOIN sessions AS source ON source.id = made.branched_from"
        " JOIN conversations ON conversations.id = source.conversation_id"
        " AND conversations.person_id = :person_id WHERE made.conversation_id = :id"
        " AND source.conversation_id != :id ORDER BY made.id LIMIT 1",
        {"id": conversation_id, "person_id": person_id},
    ).fetchone()
    return (ConversationId(row[0]), MessageId(row[1])) if row else None


def list_timed_steps(connection: Connection, *, turn_id: TurnId) -> list[TimedStep]:
    """List the tool calls of a turn in the order in which they started."""
    rows = connection.execute(
        "SELECT call_id, name, is_error, started_at, ended_at FROM steps WHERE turn_id = :turn_id"
        " ORDER BY id",
        {"turn_id": turn_id},
    )
    return read_all(TimedStep, rows, is_error=bool)


def list_timed_calls(connection: Connection, *, turn_id: TurnId) -> list[TimedCall]:
    """List the model calls of a turn in the order in which they ended."""
    rows = connection.execute(
        "SELECT model, input_tokens + cache_read_tokens + cache_write_tokens AS read,"
        " cache_read_tokens AS cached, output_tokens AS written, micro_dollars, created_at AS at,"
        " COALESCE(asked_model, model) AS asked"
        " FROM usage WHERE turn_id = :turn_id ORDER BY id",
        {"turn_id": turn_id},
    )
    return read_all(TimedCall, rows)


def list_waits(connection: Connection, *, turn_id: TurnId) -> list[TimedWait]:
    """List the waits of a turn, oldest first.

    Proposals are left out: they are asked at the turn's end, so that it does not wait for them.
    """
    rows = connection.execute(
        "SELECT 'queue', MIN(received_at), (SELECT started_at FROM turns WHERE id = :turn_id)"
        " FROM inbox WHERE turn_id = :turn_id HAVING MIN(received_at) IS NOT NULL"
        " UNION ALL SELECT CASE WHEN kind = 'choice' THEN 'answer' ELSE 'approval' END, asked_at,"
        " answered_at FROM questions WHERE turn_id = :turn_id AND kind != 'proposal'"
        " UNION ALL SELECT 'model', waiting_since, NULL FROM turns WHERE id = :turn_id"
        " AND waiting_since IS NOT NULL ORDER BY 2",
        {"turn_id": turn_id},
    ).fetchall()
    [noted] = connection.execute(
        "SELECT COALESCE(MAX(model_waits), '') FROM turns WHERE id = :turn_id", {"turn_id": turn_id}
    ).fetchone()
    spans = [span.split("-") for span in noted.split()]
    found = [*rows, *(("model", int(began), int(ended)) for began, ended in spans)]
    waits = [TimedWait(kind=row[0], began_at=row[1], ended_at=row[2]) for row in found]
    return sorted(waits, key=lambda wait: wait.began_at)


def find_running(connection: Connection) -> tuple[int, set[TurnId]]:
    """Return the id of the newest turn, and the ids of all running turns."""
    newest = connection.execute("SELECT MAX(id) FROM turns").fetchone()
    rows = connection.execute("SELECT id FROM turns WHERE state = 'running'").fetchall()
    return newest[0] or 0, {TurnId(row[0]) for row in rows}


def list_timed_turns(
    connection: Connection, *, after: int, open_turns: Sequence[TurnId], limit: int
) -> list[TimedTurn]:
    """List the turns after an id and the given open turns, in the order of their ids."""
    rows = connection.execute(
        "SELECT id, conversation_id, platform, state, reason, started_at, ended_at FROM turns"
        " WHERE id IN (SELECT value FROM json_each(:open) UNION SELECT id FROM turns"
        " WHERE id > :after) ORDER BY id LIMIT :limit",
        {"after": after, "open": json.dumps(list(open_turns)), "limit": limit},
    )
    return read_all(TimedTurn, rows)
