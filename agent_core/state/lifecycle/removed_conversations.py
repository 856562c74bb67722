"""Queries that remove a conversation from lists and search, and restore it."""

from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import merge_people
from agent_core.state.search import message_index
from agent_core.state.search.search_scope import scopes_of_messages


def is_running(connection: Connection, conversation: Conversation) -> bool:
    """Return whether a turn of a conversation is running or waits to continue."""
    row = connection.execute(
        "SELECT 1 FROM turns WHERE state = 'running' AND conversation_id = :id LIMIT 1",
        {"id": conversation.id},
    ).fetchone()
    return row is not None


def set_removed(
    connection: Connection, conversation: Conversation, *, removed_at: int | None
) -> None:
    """Remove a conversation, or restore it if `removed_at` is None, also in the search index."""
    mark(connection, conversation, removed_at=removed_at)
    message_index.move_sessions(
        connection,
        session_ids=merge_people.list_sessions(connection, conversation_id=conversation.id),
        person_id=conversation.person_id,
        scope=scopes_of_messages(
            conversation.person_id, conversation.id, is_searchable=removed_at is None
        ),
    )


def mark(connection: Connection, conversation: Conversation, *, removed_at: int | None) -> None:
    """Record that a conversation is removed, without a change of its messages."""
    connection.execute(
        "UPDATE conversations SET removed_at = :removed_at"
        " WHERE id = :id AND person_id = :person_id",
        {
            "id": conversation.id,
            "person_id": conversation.person_id,
            "removed_at": removed_at,
        },
    )
