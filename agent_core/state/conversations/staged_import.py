"""Bring an earlier session in unseen, show it at once, and index it afterwards.

The writer is never held for long: each function but `publish` does a small part of the work.
"""

from agent_core.ids import MessageId, PersonId, SessionId
from agent_core.state.conversations import past_import, sessions
from agent_core.state.conversations.sessions import Conversation, NewConversation
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.state.search import message_index
from agent_core.state.search.search_scope import scopes_of_messages

_STAGED = "staged:"
"""Precedes a session in the key of a conversation that still comes in."""
_UNINDEXED = "unindexed:"
"""Precedes a session in the key of one that is shown, and that no search finds yet."""


def begin(
    connection: Connection,
    *,
    session_id: SessionId,
    person_id: PersonId,
    title: str,
    began_at: int,
    now: int,
) -> Conversation:
    """Begin a session in a conversation that no list and no search shows; return that."""
    new = NewConversation(
        key=f"{_STAGED}{session_id}", kind="housekeeping", person_id=person_id, is_direct=True
    )
    conversation = sessions.ensure_conversation(connection, new, now=now)
    past_import.begin_session(
        connection, conversation, session_id=session_id, title=title, began_at=began_at
    )
    return conversation


def publish(
    connection: Connection, *, session_id: SessionId, into: NewConversation, now: int
) -> bool:
    """Show a session in a conversation, which is made if needed; False if somebody erased it."""
    if not past_import.exists(connection, session_id=session_id):
        return False
    conversation = sessions.ensure_conversation(connection, into, now=now)
    values = {
        "conversation_id": conversation.id,
        "session_id": session_id,
        "key": f"{_STAGED}{session_id}",
    }
    connection.execute(
        "UPDATE sessions SET conversation_id = :conversation_id WHERE id = :session_id", values
    )
    connection.execute(
        "UPDATE turns SET conversation_id = :conversation_id"
        " WHERE conversation_id = (SELECT id FROM conversations WHERE key = :key)",
        values,
    )
    connection.execute("DELETE FROM conversations WHERE key = :key", values)
    meta.put(connection, key=f"{_UNINDEXED}{session_id}", value="")
    return True


def list_staged(connection: Connection) -> list[SessionId]:
    """List the sessions that nobody published."""
    rows = connection.execute(
        "SELECT key FROM conversations WHERE key >= :first AND key < :end",
        {"first": _STAGED, "end": f"{_STAGED}\U0010ffff"},
    ).fetchall()
    return [SessionId(int(row[0].removeprefix(_STAGED))) for row in rows]


def drop_next(connection: Connection, *, session_id: SessionId, most: int) -> bool:
    """Delete up to `most` messages of an unpublished session; True once all of it is gone."""
    values = {"session_id": session_id, "most": most, "key": f"{_STAGED}{session_id}"}
    deleted = connection.execute(
        "DELETE FROM messages WHERE id IN"
        " (SELECT id FROM messages WHERE session_id = :session_id ORDER BY id LIMIT :most)",
        values,
    )
    if deleted.rowcount == most:
        return False
    connection.execute(
        "DELETE FROM turns WHERE conversation_id = (SELECT id FROM conversations WHERE key = :key)",
        values,
    )
    connection.execute("DELETE FROM sessions WHERE id = :session_id", values)
    connection.execute("DELETE FROM conversations WHERE key = :key", values)
    return True


def list_unindexed(connection: Connection) -> list[SessionId]:
    """List the published sessions whose messages a search may not find yet."""
    found = meta.list_under(connection, prefix=_UNINDEXED)
    return [SessionId(int(key.removeprefix(_UNINDEXED))) for key in found]


def index_next(connection: Connection, *, session_id: SessionId, most: int) -> bool:
    """Index up to `most` messages of a published session; True once a search finds all.

    A conversation that its person removed meanwhile is left to its restoration. The last indexed
    message is noted, so that the next piece begins behind it.
    """
    key = f"{_UNINDEXED}{session_id}"
    row = connection.execute(
        "SELECT conversation_id, conversations.person_id FROM sessions JOIN conversations"
        " ON conversations.id = sessions.conversation_id WHERE sessions.id = :session_id",
        {"session_id": session_id},
    ).fetchone()
    if row:
        here = sessions.get_conversation(connection, conversation_id=row[0], person_id=row[1])
        last = here.is_searchable and message_index.index_next(
            connection,
            session_id=session_id,
            after=MessageId(int(meta.get(connection, key=key) or 0)),
            scope=scopes_of_messages(here.person_id, here.id),
            most=most,
        )
        if last:
            meta.put(connection, key=key, value=str(last))
            return False
    meta.drop(connection, key=key)
    return True
