"""Queries over the append-only transcript."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_core.errors import StoreDamaged
from agent_core.ids import ConversationId, MessageId, PersonId, SessionId, TurnId
from agent_core.state.conversations.sessions import END, list_lineage
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection
from agent_core.state.search.message_index import index_message
from agent_core.state.search.search_scope import scopes_of_messages
from agent_core.state.tokenizer import list_entries
from agent_core.transcript import Message, Role, TextPart, dump_stored, load_parts

START = MessageId(0)
"""The position before every message."""
_MARK = "[forgotten]"
MAY_HAVE_FORGOTTEN = f"(forgotten_at IS NOT NULL OR parts LIKE '%{_MARK}%')"
"""True for each message of which something was removed; `is_cleaned` says whether it was so."""
PRIVATE = "private"
"""The audience of messages that only their person may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPlace:
    """The place of a turn's messages in the transcript, and their person."""

    session_id: SessionId
    turn_id: TurnId
    person_id: PersonId
    conversation_id: ConversationId
    platform: str
    audience: str = PRIVATE
    """`PRIVATE`, or a room's audience; see `Room.audience`."""
    is_searchable: bool = True

    @property
    def tokens(self) -> str:
        """The scopes in which a search finds the messages here."""
        return scopes_of_messages(
            self.person_id, self.conversation_id, is_searchable=self.is_searchable
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message of the transcript with its turn."""

    id: MessageId
    turn_id: TurnId
    message: Message


def append(
    connection: Connection, place: TranscriptPlace, messages: Sequence[Message], *, now: int
) -> list[MessageId]:
    """Append messages and add their words to the search index."""
    ids = []
    for message in messages:
        parts = dump_stored(message.parts)
        text = message.text
        # With RETURNING, the full-text index would flush before each message.
        cursor = connection.execute(
            "INSERT INTO messages (session_id, turn_id, person_id, scope, role, parts, text,"
            " platform, audience, created_at, checksum) VALUES (:session_id, :turn_id, :person_id,"
            " :scope, :role, :parts, :text, :platform, :audience, :now, :checksum)",
            {
                "session_id": place.session_id,
                "turn_id": place.turn_id,
                "person_id": place.person_id,
                "scope": place.tokens,
                "role": message.role,
                "parts": parts,
                "text": text,
                "platform": place.platform,
                "audience": place.audience,
                "now": now,
                "checksum": checksum(message.role, parts, text),
            },
        )
        message_id = MessageId(cursor.lastrowid or 0)
        entries = list_entries(place.tokens, message.role, place.platform, now, text)
        index_message(connection, message_id=message_id, entries=entries)
        ids.append(message_id)
    return ids


def list_session(
    connection: Connection,
    *,
    session_id: SessionId,
    person_id: PersonId,
    after: MessageId = START,
    until: MessageId = END,
) -> list[StoredMessage]:
    """List the messages of a session after `after` and up to `until`, oldest first.

    Messages of the sessions that it branched from are included. Raises `StoreDamaged` on a damaged
    row.
    """
    rows = []
    for part, last in list_lineage(connection, session_id=session_id):
        rows += connection.execute(
            "SELECT id, turn_id, role, parts, text, checksum FROM messages WHERE session_id ="
            " :session_id AND person_id = :person_id AND id > :after AND id <= :last ORDER BY id",
            {
                "session_id": part,
                "person_id": person_id,
                "after": after,
                "last": min(last, until),
            },
        ).fetchall()
    return [_read(*row) for row in rows]


def list_chosen(
    connection: Connection, *, message_ids: Iterable[MessageId], person_id: PersonId
) -> list[StoredMessage]:
    """List a person's messages with these ids, oldest first. Raises `StoreDamaged`."""
    found = (
        connection.execute(
            "SELECT id, turn_id, role, parts, text, checksum FROM messages"
            " WHERE id = :message_id AND person_id = :person_id",
            {"message_id": message_id, "person_id": person_id},
        ).fetchone()
        for message_id in sorted(message_ids)
    )
    return [_read(*row) for row in found if row]


def list_of_turn(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId
) -> list[StoredMessage]:
    """List the messages that a person's turn added, oldest first. Raises `StoreDamaged`."""
    rows = connection.execute(
        "SELECT id, turn_id, role, parts, text, checksum FROM messages WHERE turn_id = :turn_id"
        " AND person_id = :person_id ORDER BY id",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchall()
    return [_read(*row) for row in rows]


def _read(
    message_id: int, turn_id: int, role: Role, parts: str, text: str, expected: int
) -> StoredMessage:
    if checksum(role, parts, text) != expected:
        raise StoreDamaged(
            f"message {message_id} of the transcript is damaged;"
            " restore a backup, or start afresh with /new"
        )
    return StoredMessage(
        id=MessageId(message_id),
        turn_id=TurnId(turn_id),
        message=Message(role=role, parts=load_parts(parts, text)),
    )


def find_newest(connection: Connection, *, session_id: SessionId, person_id: PersonId) -> MessageId:
    """Return the last message that `list_session` would list; `START` if it would list none."""
    # If the session has messages of its own, the sessions that it branched from need no query.
    own = _find_last(connection, session_id, person_id, END)
    if own != START:
        return own
    *before, _ = list_lineage(connection, session_id=session_id)
    found = (_find_last(connection, part, person_id, last) for part, last in reversed(before))
    return next((last for last in found if last != START), START)


def _find_last(
    connection: Connection, session_id: SessionId, person_id: PersonId, last: MessageId
) -> MessageId:
    row = connection.execute(
        "SELECT id FROM messages WHERE session_id = :session_id AND person_id = :person_id"
        " AND id <= :last ORDER BY id DESC LIMIT 1",
        {"session_id": session_id, "person_id": person_id, "last": last},
    ).fetchone()
    return MessageId(row[0]) if row else START


def count_forgotten(connection: Connection, *, session_id: SessionId, person_id: PersonId) -> int:
    """Count the messages of a session that were redacted, or whose facts were cleaned."""
    return sum(
        is_cleaned(*row)
        for part, last in list_lineage(connection, session_id=session_id)
        for row in connection.execute(
            "SELECT forgotten_at, parts FROM messages WHERE session_id = :session_id"
            f" AND person_id = :person_id AND id <= :last AND {MAY_HAVE_FORGOTTEN}",
            {"session_id": part, "person_id": person_id, "last": last},
        ).fetchall()
    )


def is_cleaned(forgotten_at: int | None, parts: str) -> bool:
    """Return whether a message was redacted, or the mark stands in its facts by itself.

    Facts quote words of people with a `"` behind them, or as a line of their own behind a `|`.
    """
    if forgotten_at is not None:
        return True
    facts = (
        fields["text"] for fields in json.loads(parts) if fields.get("is_fact") and "text" in fields
    )
    lines = (line for text in facts for line in text.split("\n"))
    return any(line.endswith(_MARK) and not line.startswith("|") for line in lines)


def count_spoken(connection: Connection, *, session_id: SessionId, person_id: PersonId) -> int:
    """Count the messages of people and of the assistant in a session."""
    return sum(
        connection.execute(
            "SELECT COUNT(*) FROM messages WHERE session_id = :session_id"
            " AND person_id = :person_id AND id <= :last AND text <> ''",
            {"session_id": part, "person_id": person_id, "last": last},
        ).fetchone()[0]
        for part, last in list_lineage(connection, session_id=session_id)
    )


def request_of_turn(connection: Connection, *, turn_id: TurnId, person_id: PersonId) -> str:
    """Return the text that the person sent in a turn, in the order of the messages."""
    rows = connection.execute(
        "SELECT text FROM messages WHERE turn_id = :turn_id AND person_id = :person_id"
        " AND role = 'user' ORDER BY id",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchall()
    return "\n\n".join(row[0] for row in rows if row[0])


def list_said_since(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId, since: int
) -> list[str]:
    """List the messages that the person added to a turn since a moment, in milliseconds UTC."""
    rows = connection.execute(
        "SELECT text FROM messages WHERE turn_id = :turn_id AND person_id = :person_id"
        " AND role = 'user' AND created_at > :since ORDER BY id",
        {"turn_id": turn_id, "person_id": person_id, "since": since},
    ).fetchall()
    return [row[0] for row in rows]


def answer_of_turn(connection: Connection, *, turn_id: TurnId, person_id: PersonId) -> str:
    """Return the last text that the assistant wrote in a turn, "" for none."""
    row = connection.execute(
        "SELECT text FROM messages WHERE turn_id = :turn_id AND person_id = :person_id"
        " AND role = 'assistant' AND text <> '' ORDER BY id DESC LIMIT 1",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchone()
    return str(row[0]) if row else ""


def facts_of_turn(connection: Connection, *, turn_id: TurnId, person_id: PersonId) -> str:
    """Return the facts in front of a turn's messages, one per line."""
    rows = connection.execute(
        "SELECT parts, text FROM messages WHERE turn_id = :turn_id AND person_id = :person_id"
        " AND role = 'user' ORDER BY id",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchall()
    return "\n".join(filter(None, (_read_facts(parts, text) for parts, text in rows)))


def list_facts(connection: Connection, *, person_id: PersonId, since: int, words: str) -> list[str]:
    """List the facts with these words, in a person's turns since a moment (milliseconds UTC)."""
    rows = connection.execute(
        "SELECT messages.parts, messages.text FROM turns JOIN messages"
        " ON messages.turn_id = turns.id AND messages.person_id = :person_id"
        " WHERE turns.person_id = :person_id AND turns.started_at >= :since"
        " AND messages.role = 'user' AND messages.parts LIKE '%' || :words || '%'"
        " ORDER BY messages.id",
        {"person_id": person_id, "since": since, "words": words},
    ).fetchall()
    return [_read_facts(parts, text) for parts, text in rows]


def _read_facts(parts: str, text: str) -> str:
    found = load_parts(parts, text)
    return "\n".join(part.text for part in found if isinstance(part, TextPart) and part.is_fact)


def list_texts_before(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId, limit: int
) -> list[str]:
    """List the newest texts of a turn's session before it, newest first."""
    rows = connection.execute(
        "SELECT text FROM messages WHERE session_id = (SELECT session_id FROM turns WHERE id ="
        " :turn_id) AND person_id = :person_id AND turn_id < :turn_id AND text <> ''"
        " ORDER BY id DESC LIMIT :limit",
        {"turn_id": turn_id, "person_id": person_id, "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]


def list_texts(
    connection: Connection, *, session_id: SessionId, person_id: PersonId, limit: int
) -> list[tuple[str, str]]:
    """List the first texts of a session as (role, text), oldest first."""
    return connection.execute(
        "SELECT role, text FROM messages WHERE session_id = :session_id"
        " AND person_id = :person_id AND text <> '' ORDER BY id LIMIT :limit",
        {"session_id": session_id, "person_id": person_id, "limit": limit},
    ).fetchall()
