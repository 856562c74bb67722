"""Queries over the earlier sessions of a conversation: to list, continue, or branch from."""

from dataclasses import dataclass

from agent_core.ids import ConversationId, PersonId, SessionId
from agent_core.state.conversations import compactions
from agent_core.state.conversations.sessions import Conversation, Session, end
from agent_core.state.conversations.transcripts import ForkPoint
from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedSession:
    """A session in the list that its person reads. The oldest session has the number 1."""

    number: int
    id: SessionId
    title: str
    last_at: int
    is_open: bool


def list_numbered(connection: Connection, conversation: Conversation) -> list[NumberedSession]:
    """List the sessions of a conversation, newest first."""
    rows = connection.execute(
        "SELECT sessions.id, sessions.title, sessions.last_at, sessions.ended_at IS NULL"
        " FROM sessions JOIN conversations ON conversations.id = sessions.conversation_id"
        " WHERE sessions.conversation_id = :conversation_id"
        " AND conversations.person_id = :person_id ORDER BY sessions.id",
        {"conversation_id": conversation.id, "person_id": conversation.person_id},
    ).fetchall()
    numbered = [
        NumberedSession(
            number=number, id=SessionId(row[0]), title=row[1], last_at=row[2], is_open=bool(row[3])
        )
        for number, row in enumerate(rows, start=1)
    ]
    return numbered[::-1]


def list_of_person(connection: Connection, *, person_id: PersonId, since: int) -> list[Session]:
    """List the sessions of a person's conversations that were used since a moment, oldest first."""
    rows = connection.execute(
        "SELECT sessions.id, sessions.prompt_hash, sessions.title, sessions.started_at,"
        " sessions.last_at FROM sessions"
        " JOIN conversations ON conversations.id = sessions.conversation_id"
        " WHERE conversations.person_id = :person_id AND sessions.last_at >= :since"
        " ORDER BY sessions.id",
        {"person_id": person_id, "since": since},
    )
    return read_all(Session, rows)


def reopen(
    connection: Connection, *, conversation_id: ConversationId, session_id: SessionId, now: int
) -> None:
    """Continue an earlier session of a conversation; the open session ends.

    Its next turn gets a new prompt, because the memory has changed, and fewer people may be allowed
    to see it.
    """
    end(connection, conversation_id=conversation_id, now=now)
    connection.execute(
        "UPDATE sessions SET ended_at = NULL, prompt_hash = NULL"
        " WHERE id = :session_id AND conversation_id = :conversation_id",
        {"session_id": session_id, "conversation_id": conversation_id},
    )


def branch(
    connection: Connection,
    *,
    session_id: SessionId,
    into: ConversationId,
    title: str,
    now: int,
    made_id: SessionId | None = None,
) -> SessionId:
    """Open a session that begins with the content of another one, up to a turn that still runs.

    The messages stay in their rows; see `sessions.list_lineage`. The new session gets the same
    account and the newest summary of these messages. `made_id` is a reserved id, if there is one.
    """
    row = connection.execute(
        "INSERT INTO sessions (id, conversation_id, account_id, title, plan, started_at, last_at,"
        " branched_from, branched_at) SELECT :made_id, :into, account_id, :title, plan, :now, :now,"
        " id, COALESCE((SELECT MIN(messages.id) - 1 FROM messages JOIN turns"
        " ON turns.id = messages.turn_id WHERE messages.session_id = sessions.id"
        " AND turns.state = 'running'), (SELECT MAX(messages.id) FROM messages"
        " WHERE messages.session_id = sessions.id), branched_at, 0)"
        " FROM sessions WHERE id = :session_id RETURNING id",
        {"session_id": session_id, "into": into, "title": title, "now": now, "made_id": made_id},
    ).fetchone()
    made = SessionId(row[0])
    compactions.copy_newest(connection, session_id=session_id, into=made)
    return made


def fork(
    connection: Connection,
    *,
    point: ForkPoint,
    made_id: SessionId,
    into: ConversationId,
    title: str,
    now: int,
) -> None:
    """Open a session that begins with another one up to one of its messages; else like `branch`.

    `made_id` is its reserved id. The plan is not copied, because it may be newer than that message.
    """
    connection.execute(
        "INSERT INTO sessions (id, conversation_id, account_id, title, started_at, last_at,"
        " branched_from, branched_at) SELECT :made_id, :into, account_id, :title, :now, :now, id,"
        " :until FROM sessions WHERE id = :session_id",
        {
            "session_id": point.session_id,
            "made_id": made_id,
            "until": point.until,
            "into": into,
            "title": title,
            "now": now,
        },
    )
    compactions.copy_newest(connection, session_id=point.session_id, into=made_id)
