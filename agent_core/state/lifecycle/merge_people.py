"""Queries that merge one person into another within one transaction."""

from collections.abc import Callable

from agent_core.ids import ConversationId, PersonId, SessionId
from agent_core.state.conversations import (
    approvals,
    compactions,
    sessions,
    usage_sums,
)
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_owners
from agent_core.state.memory import archive
from agent_core.state.people import browser_logins, learning, mcp_accounts, reading_consents
from agent_core.state.search import message_index
from agent_core.state.search.search_scope import scope_of_person, scopes_of_messages

Rename = Callable[[Conversation], str]
"""Maps the key of a conversation to its key for the other person."""


def has_running(connection: Connection, *, person_id: PersonId) -> bool:
    """Return whether a turn of a person is running or waits to continue."""
    row = connection.execute(
        "SELECT 1 FROM turns WHERE state = 'running' AND person_id = :person_id LIMIT 1",
        {"person_id": person_id},
    ).fetchone()
    return row is not None


def list_absorbed(connection: Connection, *, person_id: PersonId) -> list[PersonId]:
    """List the people who were merged into this one, oldest first."""
    rows = connection.execute(
        "SELECT id FROM people WHERE joined_to = :person_id ORDER BY id", {"person_id": person_id}
    ).fetchall()
    return [PersonId(row[0]) for row in rows]


def merge(
    connection: Connection, *, kept: PersonId, absorbed: PersonId, rename: Rename, now: int
) -> int:
    """Move everything of `absorbed` except the ledger to `kept`; return the number of messages.

    Rows of the ledger about the archive move, too. The row of `absorbed` stays and points to
    `kept`.
    """
    record_accounts(connection, absorbed=absorbed)
    moved = 0
    for conversation in list_conversations(connection, person_id=absorbed):
        moved += _move_conversation(connection, conversation, kept, rename)
    known = archive.list_known(connection, person_id=absorbed)
    archive.move(connection, out_of=absorbed, into=kept, archive_ids=known)
    move_queued(connection, kept=kept, absorbed=absorbed)
    move_rows(connection, kept=kept, absorbed=absorbed)
    for person_id in (kept, absorbed):
        usage_sums.renew(connection, person_id=person_id)
    move_tasks(connection, kept=kept, absorbed=absorbed)
    move_questions(connection, kept=kept, absorbed=absorbed)
    approvals.move(connection, kept=kept, absorbed=absorbed)
    mcp_accounts.merge(connection, kept=kept, absorbed=absorbed)
    browser_logins.delete_of(connection, person_id=absorbed)
    for person_id in (kept, absorbed):  # nobody agreed to show the data of both
        reading_consents.delete_of(connection, person_id=person_id)
    learning.keep_stricter(connection, kept=kept, absorbed=absorbed)
    job_owners.move_home(connection, kept=kept, absorbed=absorbed)
    move_accounts(connection, kept=kept, absorbed=absorbed)
    mark_absorbed(connection, kept=kept, absorbed=absorbed)
    close_duplicate_sessions(connection, person_id=kept, now=now)
    return moved


def _move_conversation(
    connection: Connection, conversation: Conversation, kept: PersonId, rename: Rename
) -> int:
    """Append a conversation to the kept person's conversation of the same place, or rename it."""
    key = rename(conversation)
    home = sessions.find_conversation(connection, key=key, person_id=kept)
    begun = list_sessions(connection, conversation_id=conversation.id)
    if home is None:
        scope = scope_of_person(kept) if conversation.is_private else conversation.scope
        reassign_conversation(
            connection, conversation_id=conversation.id, key=key, person_id=kept, scope=scope
        )
    else:
        empty_conversation(connection, conversation_id=conversation.id, into=home.id)
    compactions.move(connection, session_ids=begun, person_id=kept)
    place = conversation.id if home is None else home.id
    tokens = scopes_of_messages(kept, place, is_searchable=conversation.is_searchable)
    return message_index.move_sessions(connection, session_ids=begun, person_id=kept, scope=tokens)


def record_accounts(connection: Connection, *, absorbed: PersonId) -> None:
    """Record the account of turns and sessions that are older than that column.

    That is the person's account on the platform, or else their oldest account.
    """
    connection.execute(
        "UPDATE turns SET account_id = COALESCE((SELECT MIN(id) FROM accounts"
        " WHERE person_id = :absorbed AND platform = turns.platform),"
        " (SELECT MIN(id) FROM accounts WHERE person_id = :absorbed))"
        " WHERE person_id = :absorbed AND account_id IS NULL",
        {"absorbed": absorbed},
    )
    connection.execute(
        "UPDATE sessions SET account_id = COALESCE((SELECT account_id FROM turns"
        " WHERE turns.conversation_id = sessions.conversation_id"
        " AND turns.session_id = sessions.id ORDER BY turns.id LIMIT 1),"
        " (SELECT MIN(id) FROM accounts WHERE person_id = :absorbed))"
        " WHERE conversation_id IN (SELECT id FROM conversations WHERE person_id = :absorbed)"
        " AND account_id IS NULL",
        {"absorbed": absorbed},
    )


def list_conversations(connection: Connection, *, person_id: PersonId) -> list[Conversation]:
    """List all conversations of a person, oldest first."""
    rows = connection.execute(
        "SELECT key FROM conversations WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    ).fetchall()
    found = [
        sessions.find_conversation(connection, key=key, person_id=person_id) for (key,) in rows
    ]
    return [conversation for conversation in found if conversation]


def list_sessions(connection: Connection, *, conversation_id: ConversationId) -> list[SessionId]:
    """List all sessions of a conversation, oldest first."""
    rows = connection.execute(
        "SELECT id FROM sessions WHERE conversation_id = :conversation_id ORDER BY id",
        {"conversation_id": conversation_id},
    ).fetchall()
    return [SessionId(row[0]) for row in rows]


def reassign_conversation(
    connection: Connection,
    *,
    conversation_id: ConversationId,
    key: str,
    person_id: PersonId,
    scope: str,
) -> None:
    """Assign a conversation to another person."""
    connection.execute(
        "UPDATE conversations SET key = :key, person_id = :person_id, scope = :scope"
        " WHERE id = :conversation_id",
        {"key": key, "person_id": person_id, "scope": scope, "conversation_id": conversation_id},
    )


def empty_conversation(
    connection: Connection, *, conversation_id: ConversationId, into: ConversationId
) -> None:
    """Move all content of a conversation into another one; the empty row stays."""
    for table in ("sessions", "turns"):
        connection.execute(
            f"UPDATE {table} SET conversation_id = :into WHERE conversation_id = :conversation_id",
            {"into": into, "conversation_id": conversation_id},
        )


def move_queued(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move messages of a person's turns, and those that are queued or undeliverable.

    Each condition matches an index. Call this before `move_rows`.
    """
    for condition in (
        "turn_id IN (SELECT id FROM turns WHERE person_id = :absorbed)",
        "state IN ('owed', 'sending', 'unsure')",
        "state = 'dead'",
    ):
        connection.execute(
            f"UPDATE outbox SET person_id = :kept WHERE person_id = :absorbed AND {condition}",
            {"kept": kept, "absorbed": absorbed},
        )


def move_rows(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move rows that only refer to their person: turns with their cost, jobs, tokens and webhooks.

    The two quotas become one.
    """
    for table in ("turns", "usage", "jobs", "deferred_messages", "api_tokens", "webhooks"):
        connection.execute(
            f"UPDATE {table} SET person_id = :kept WHERE person_id = :absorbed",
            {"kept": kept, "absorbed": absorbed},
        )


def move_tasks(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move queued tasks, all reviews with the changes that they hold back, and the curator's tasks.

    The curator often examines both people at the same moment, so that their keys would be equal.
    The key of a moved task therefore ends in the task's id.
    """
    connection.execute(
        "UPDATE tasks SET person_id = :kept WHERE person_id = :absorbed"
        " AND state IN ('owed', 'running')",
        {"kept": kept, "absorbed": absorbed},
    )
    connection.execute(
        "UPDATE OR IGNORE tasks SET person_id = :kept, key = :kept || SUBSTR(key, INSTR(key, ':'))"
        " WHERE kind = 'review' AND key > :first AND key < :last",
        {"kept": kept, "first": f"{absorbed}:", "last": f"{absorbed};"},
    )
    connection.execute(
        "UPDATE tasks SET person_id = :kept,"
        " key = :kept || SUBSTR(key, INSTR(key, ':')) || ':' || id"
        " WHERE kind = 'curation' AND key > :first AND key < :last",
        {"kept": kept, "first": f"{absorbed}:", "last": f"{absorbed};"},
    )


def move_questions(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move open questions, and also proposals, because these can be reopened."""
    connection.execute(
        "UPDATE questions SET person_id = :kept WHERE person_id = :absorbed"
        " AND (state = 'open' OR kind = 'proposal')",
        {"kept": kept, "absorbed": absorbed},
    )


def move_accounts(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Move a person's accounts; each keeps a record of its first person."""
    connection.execute(
        "UPDATE accounts SET person_id = :kept, came_from = COALESCE(came_from, :absorbed)"
        " WHERE person_id = :absorbed",
        {"kept": kept, "absorbed": absorbed},
    )


def mark_absorbed(connection: Connection, *, kept: PersonId, absorbed: PersonId) -> None:
    """Point a merged person, and everyone merged into them before, to `kept`.

    Rights do not move: only an owner can link with an owner. `kept` takes over the named agent and
    the settings that it lacks. A tool that one of the two has switched off stays off.
    """
    connection.execute(
        "UPDATE people SET joined_to = :kept WHERE id = :absorbed OR joined_to = :absorbed",
        {"kept": kept, "absorbed": absorbed},
    )
    for setting in ("time_zone", "language"):
        connection.execute(
            f"UPDATE people SET {setting} = (SELECT other.{setting} FROM people AS other"
            f" WHERE other.id = :absorbed) WHERE id = :kept AND {setting} IS NULL",
            {"kept": kept, "absorbed": absorbed},
        )
    connection.execute(
        "UPDATE people SET agent = (SELECT other.agent FROM people AS other"
        " WHERE other.id = :absorbed) WHERE id = :kept AND agent = ''",
        {"kept": kept, "absorbed": absorbed},
    )
    connection.execute(
        "UPDATE people SET tools_off = TRIM(tools_off || ' ' || (SELECT other.tools_off"
        " FROM people AS other WHERE other.id = :absorbed)) WHERE id = :kept",
        {"kept": kept, "absorbed": absorbed},
    )


def close_duplicate_sessions(connection: Connection, *, person_id: PersonId, now: int) -> None:
    """Close all open sessions of a conversation except the one that was used last.

    The remaining one gets a new frozen prompt, because its content has changed.
    """
    mine = "conversation_id IN (SELECT id FROM conversations WHERE person_id = :person_id)"
    connection.execute(
        f"UPDATE sessions SET ended_at = :now WHERE {mine} AND ended_at IS NULL AND EXISTS"
        " (SELECT 1 FROM sessions AS newer WHERE newer.conversation_id = sessions.conversation_id"
        " AND newer.ended_at IS NULL AND (newer.last_at > sessions.last_at"
        " OR (newer.last_at = sessions.last_at AND newer.id > sessions.id)))",
        {"person_id": person_id, "now": now},
    )
    connection.execute(
        f"UPDATE sessions SET prompt_hash = NULL WHERE {mine} AND ended_at IS NULL",
        {"person_id": person_id},
    )
