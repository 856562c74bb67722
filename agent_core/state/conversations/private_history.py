"""Queries over what a person and the assistant said to each other in private, newest first."""

import json
from dataclasses import dataclass
from typing import Literal

from agent_core.chats import Chat
from agent_core.ids import ConversationId, PersonId, SessionId, TurnId
from agent_core.state.conversations.questions import Choice, load_choices
from agent_core.state.conversations.sessions import name_conversation, name_direct
from agent_core.state.engine.connection import read_one
from agent_core.state.engine.database import Connection
from agent_core.transcript import ImagePart, load_parts

CONSOLE_USER = (
    "CASE WHEN json_valid(payload) THEN COALESCE(json_extract(payload, '$.user'), 'local') END"
)
"""Whose event on the console it is: the id of a person on a page, or the owner's."""
_SPAN = 100_000
"""The newest events that are searched; the table keeps the row of every event permanently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A message of the person or of the assistant.

    `key` is the outbox key, the event id, or the id of a message of the transcript. The text of an
    `event` is its payload. `files` are (key, name, media type).
    """

    source: Literal["event", "outbox", "transcript"]
    key: str
    is_own: bool
    """True for a message of the person."""
    text: str
    created_at: int
    platform: str
    turn_id: TurnId | None = None
    buttons: tuple[Choice, ...] = ()
    files: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """Names the open session of a person's direct conversation, which may be missing.

    `since` is the moment in milliseconds UTC at which the session before it ended, 0 without one.
    """

    conversation_id: ConversationId
    session_id: SessionId | None
    title: str
    since: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestTurn:
    """The newest turn of a person, and the platform where its answer goes."""

    id: TurnId
    state: str
    platform: str
    conversation_id: ConversationId


def find_present(connection: Connection, *, person_id: PersonId, agent: str = "") -> Present | None:
    """Return what goes on in a person's direct conversation; None before their first message.

    With the name of an `agent`, it is the person's conversation with that agent.
    """
    found = connection.execute(
        "SELECT conversations.id AS conversation_id, open.id AS session_id,"
        " COALESCE(open.title, '') AS title, COALESCE((SELECT MAX(ended_at) FROM sessions"
        " WHERE conversation_id = conversations.id), 0) AS since FROM conversations"
        " LEFT JOIN sessions AS open ON open.id = (SELECT MAX(id) FROM sessions"
        " WHERE conversation_id = conversations.id AND ended_at IS NULL)"
        " WHERE key = :key AND person_id = :person_id",
        {"key": name_conversation(agent, name_direct(person_id)), "person_id": person_id},
    )
    return read_one(Present, found)


def list_history(
    connection: Connection,
    *,
    person_id: PersonId,
    present: Present | None,
    chat: Chat,
    before: int,
    limit: int,
) -> list[HistoryEntry]:
    """List the newest messages up to the moment `before`, oldest first.

    The list includes the open session, from every platform, and from `chat` everything since that
    session was opened, also commands and their replies. Times are in milliseconds UTC.
    """
    values: dict[str, object] = {
        "session_id": present.session_id if present else None,
        "since": present.since if present else 0,
        "person_id": person_id,
        "platform": chat.platform,
        "chat": chat.address,
        "before": before,
        "limit": limit,
        "span": _SPAN,
    }
    found = [
        *_list_events(connection, values),
        *_list_transcript(connection, values),
        *_list_sent(connection, values),
    ]
    found.sort(key=lambda entry: (entry.created_at, not entry.is_own))
    return found[-limit:]


_OF_SESSION = (
    # By way of the messages: the turns of a person have no index by session.
    "SELECT turn_id FROM messages WHERE session_id = :session_id AND person_id = :person_id"
    " AND role = 'user' AND created_at <= :before ORDER BY id DESC LIMIT :limit"
)


def find_newest_turn(connection: Connection, *, person_id: PersonId) -> NewestTurn | None:
    """Return a person's newest turn; if it changes, there is news.

    Chores, and a conversation that still comes in from a file, are none.
    """
    found = connection.execute(
        "SELECT turns.id, state, platform, conversation_id FROM turns JOIN conversations"
        " ON conversations.id = conversation_id AND kind <> 'housekeeping'"
        " WHERE turns.person_id = :person_id ORDER BY turns.id DESC LIMIT 1",
        {"person_id": person_id},
    )
    return read_one(NewestTurn, found)


def _list_events(connection: Connection, values: dict[str, object]) -> list[HistoryEntry]:
    user = json.loads(str(values["chat"]))[0]
    rows = connection.execute(
        "SELECT event_id, payload, received_at, turn_id FROM inbox WHERE platform = :platform"
        " AND payload <> '' AND received_at <= :before"
        " AND id > (SELECT COALESCE(MAX(id), 0) - :span FROM inbox)"
        f" AND (received_at >= :since OR turn_id IN ({_OF_SESSION}))"
        f" AND {CONSOLE_USER} = :user ORDER BY id DESC LIMIT :limit",
        values | {"user": user},
    ).fetchall()
    return [
        HistoryEntry(
            source="event",
            key=row[0],
            is_own=True,
            text=row[1],
            created_at=row[2],
            platform=str(values["platform"]),
            turn_id=row[3],
        )
        for row in rows
    ]


def _list_sent(connection: Connection, values: dict[str, object]) -> list[HistoryEntry]:
    rows = connection.execute(
        "SELECT outbox.key, body, outbox.created_at, buttons, file_key, file_name, media_type,"
        " turn_id FROM outbox LEFT JOIN files ON files.key = file_key WHERE platform = :platform"
        " AND chat = :chat AND message_id IS NOT NULL AND kind = 'message' AND is_live = 0"
        " AND (person_id = :person_id OR person_id IS NULL)"
        " AND (body <> '' OR file_key IS NOT NULL) AND outbox.created_at <= :before"
        f" AND (outbox.created_at >= :since OR turn_id IN ({_OF_SESSION}))"
        " ORDER BY outbox.id DESC LIMIT :limit",
        values,
    ).fetchall()
    return [
        HistoryEntry(
            source="outbox",
            key=row[0],
            is_own=False,
            text=row[1],
            created_at=row[2],
            platform=str(values["platform"]),
            turn_id=row[7],
            buttons=load_choices(row[3]),
            files=((row[4], row[5] or "", row[6] or ""),) if row[4] else (),
        )
        for row in rows
    ]


def _list_transcript(connection: Connection, values: dict[str, object]) -> list[HistoryEntry]:
    """List the messages that are not in an event or an outbox message of the platform."""
    rows = connection.execute(
        "SELECT id, role, parts, text, created_at, turn_id, platform FROM messages"
        " WHERE person_id = :person_id AND audience = 'private' AND role IN ('user', 'assistant')"
        f" AND turn_id IN ({_OF_SESSION})"
        " AND NOT (role = 'user' AND EXISTS (SELECT 1 FROM inbox"
        " WHERE inbox.turn_id = messages.turn_id AND inbox.platform = :platform"
        " AND payload <> ''))"
        " AND NOT (role = 'assistant' AND EXISTS (SELECT 1 FROM outbox"
        " WHERE outbox.turn_id = messages.turn_id AND outbox.platform = :platform"
        " AND body <> '')) ORDER BY id",
        values,
    ).fetchall()
    last = {row[5]: row[0] for row in rows if row[1] == "assistant" and row[3]}
    entries = [
        HistoryEntry(
            source="transcript",
            key=str(row[0]),
            is_own=row[1] == "user",
            text=row[3],
            created_at=row[4],
            platform=row[6],
            turn_id=row[5],
            files=tuple(
                (part.file_key, "", part.media_type)
                for part in load_parts(row[2], row[3])
                if isinstance(part, ImagePart)
            ),
        )
        for row in rows
        if row[1] == "user" or last.get(row[5]) == row[0]
    ]
    # A program may have sent nothing but the results of its tools.
    return [entry for entry in entries if entry.text or entry.files]


def list_answer(connection: Connection, *, turn_id: TurnId, person_id: PersonId) -> list[str]:
    """List the texts that a turn sent to its person, in order; none after they were swept."""
    rows = connection.execute(
        "SELECT body FROM outbox WHERE turn_id = :turn_id AND person_id = :person_id"
        " AND kind = 'message' AND question_id IS NULL AND body <> '' ORDER BY id",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchall()
    return [row[0] for row in rows]
