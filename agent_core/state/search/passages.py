"""Queries that read found messages, their neighbours, and overviews of sessions."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import MessageId, SessionId
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection
from agent_core.state.search.message_index import FAR
from agent_core.state.search.search_scope import SearchFilter, Speaker

_log = logging.getLogger(__name__)

REACH = 2
"""The number of messages read on each side of a found message, or passages of a found passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    """A message that people wrote or read.

    `is_within` is False if the search does not cover it, for instance because it is only a
    neighbour of a hit. `asker` is the name of the person who asked for its turn.
    """

    id: MessageId
    session_id: SessionId
    role: Speaker
    platform: str
    said_at: int
    text: str
    asker: str
    is_within: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage of a message. `place` is its number in it, from 0."""

    message: FoundMessage
    place: int
    text: str
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOverview:
    """A session with its time, title, first and last text."""

    id: SessionId
    title: str
    started_at: int
    last_at: int
    first: str
    last: str


_ROW = (
    "messages.id, messages.session_id, messages.role, messages.platform, messages.created_at,"
    " messages.text, people.name, messages.turn_id, messages.scope"
)
_FROM = (
    " FROM messages JOIN turns ON turns.id = messages.turn_id"
    " JOIN people ON people.id = turns.person_id"
)
_SAID = " messages.person_id = :person_id AND messages.role <> 'tool' AND messages.text <> ''"


def load_messages(
    connection: Connection, *, field: SearchFilter, message_ids: Sequence[MessageId]
) -> list[FoundMessage]:
    """Load messages by their ids, oldest first."""
    rows = connection.execute(
        f"SELECT {_ROW}{_FROM} WHERE messages.id IN (SELECT value FROM json_each(:ids))"
        f" AND{_SAID} ORDER BY messages.id",
        {"ids": json.dumps(message_ids), "person_id": field.person_id},
    ).fetchall()
    return _sayings(field, rows)


def list_around(
    connection: Connection,
    *,
    field: SearchFilter,
    session_id: SessionId,
    message_id: MessageId,
    reach: int = REACH,
) -> list[FoundMessage]:
    """List a message of a session and its neighbours on both sides, oldest first."""
    one_side = (
        f"SELECT * FROM (SELECT {_ROW}{_FROM} WHERE messages.session_id = :session_id"
        f" AND messages.id {{}} :message_id AND{_SAID} ORDER BY messages.id {{}} LIMIT {{}})"
    )
    rows = connection.execute(
        f"{one_side.format('<=', 'DESC', ':reach + 1')}"
        f" UNION ALL {one_side.format('>', 'ASC', ':reach')} ORDER BY 1",
        {
            "session_id": session_id,
            "message_id": message_id,
            "person_id": field.person_id,
            "reach": reach,
        },
    ).fetchall()
    return _sayings(field, rows)


def list_beside(
    connection: Connection,
    *,
    field: SearchFilter,
    message_ids: Sequence[MessageId],
    reach: int = REACH,
) -> dict[MessageId, list[MessageId]]:
    """List, for each of the messages, its id and those of its neighbours, oldest first.

    One statement does this for all messages, because it is most of the cost of a search.
    """
    one = (
        "(SELECT id FROM messages WHERE messages.session_id = middle.session_id"
        f" AND messages.id {{}} middle.id AND{_SAID} ORDER BY id {{}} LIMIT 1 OFFSET {{}})"
    )
    before = [one.format("<", "DESC", step) for step in reversed(range(reach))]
    after = [one.format(">", "ASC", step) for step in range(reach)]
    rows = connection.execute(
        f"SELECT {', '.join([*before, 'middle.id', *after])} FROM messages AS middle"
        " WHERE middle.id IN (SELECT value FROM json_each(:ids))"
        " AND middle.person_id = :person_id",
        {"ids": json.dumps(message_ids), "person_id": field.person_id},
    ).fetchall()
    return {
        row[reach]: [message_id for message_id in row if message_id is not None] for row in rows
    }


def list_authors(
    connection: Connection, *, field: SearchFilter, message_ids: Sequence[MessageId]
) -> dict[MessageId, tuple[Speaker, str]]:
    """Return the roles of messages, and the names of the people who asked for their turns."""
    rows = connection.execute(
        f"SELECT messages.id, messages.role, people.name{_FROM}"
        " WHERE messages.id IN (SELECT value FROM json_each(:ids))"
        " AND messages.person_id = :person_id",
        {"ids": json.dumps(message_ids), "person_id": field.person_id},
    )
    return {message_id: (role, asker) for message_id, role, asker in rows}


def list_turn(connection: Connection, *, field: SearchFilter) -> set[MessageId]:
    """List the messages of the turn that the filter leaves out."""
    rows = connection.execute(
        "SELECT id FROM messages WHERE turn_id = :turn_id", {"turn_id": field.except_turn}
    )
    return {row[0] for row in rows}


def list_damaged(connection: Connection, *, message_ids: Sequence[MessageId]) -> set[MessageId]:
    """Return those of the messages that are damaged; each is logged."""
    rows = connection.execute(
        "SELECT id, role, parts, text, checksum FROM messages"
        " WHERE id IN (SELECT value FROM json_each(:ids))",
        {"ids": json.dumps(message_ids)},
    ).fetchall()
    damaged = {row[0] for row in rows if checksum(*row[1:4]) != row[4]}
    for message_id in sorted(damaged):
        _log.error("message %s of the transcript is damaged; a search leaves it out", message_id)
    return damaged


def load_overviews(
    connection: Connection, *, field: SearchFilter, session_ids: Sequence[SessionId]
) -> list[SessionOverview]:
    """Load overviews of sessions by their ids, latest first, without empty ones."""
    ends = [
        f"(SELECT text FROM messages WHERE messages.session_id = sessions.id AND{_SAID}"
        f" AND turn_id <> :except_turn ORDER BY id {order} LIMIT 1)"
        for order in ("ASC", "DESC")
    ]
    rows = connection.execute(
        f"SELECT id, title, started_at, last_at, {', '.join(ends)} FROM sessions"
        " WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY last_at DESC, id DESC",
        {
            "ids": json.dumps(session_ids),
            "person_id": field.person_id,
            "except_turn": field.except_turn,
        },
    ).fetchall()
    return [
        SessionOverview(
            id=SessionId(session_id),
            title=title,
            started_at=started_at,
            last_at=last_at,
            first=first,
            last=last,
        )
        for session_id, title, started_at, last_at, first, last in rows
        if first
    ]


def list_latest(connection: Connection, *, field: SearchFilter, limit: int) -> list[SessionId]:
    """List the latest sessions in the scope that were used between the filter's times."""
    rows = connection.execute(
        "SELECT sessions.id FROM conversations"
        " JOIN sessions ON sessions.conversation_id = conversations.id"
        " WHERE conversations.person_id = :person_id"
        " AND (:scope = 'p' || :person_id"
        " AND conversations.kind NOT IN ('helper', 'task', 'housekeeping')"
        " OR :scope = 'c' || conversations.id)"
        " AND conversations.removed_at IS NULL"
        " AND sessions.last_at >= :since AND sessions.started_at <= :until"
        " ORDER BY sessions.last_at DESC, sessions.id DESC LIMIT :limit",
        {
            "person_id": field.person_id,
            "scope": field.scope,
            "since": field.since or 0,
            "until": FAR if field.until is None else field.until,
            "limit": limit,
        },
    ).fetchall()
    return [row[0] for row in rows]


_Row = tuple[MessageId, SessionId, Speaker, str, int, str, str, int, str]


def _sayings(field: SearchFilter, rows: list[_Row]) -> list[FoundMessage]:
    return [
        FoundMessage(
            id=message_id,
            session_id=session_id,
            role=role,
            platform=platform,
            said_at=said_at,
            text=text,
            asker=asker,
            is_within=turn_id != field.except_turn
            and field.role in (None, role)
            and field.platform in (None, platform)
            and (field.since or 0) <= said_at <= (FAR if field.until is None else field.until),
        )
        for message_id, session_id, role, platform, said_at, text, asker, turn_id, scope in rows
        if field.scope in scope.split()
    ]
