"""Queries that split an account from its person, with everything that the account began."""

from dataclasses import dataclass

from agent_core.ids import AccountId, PersonId, SessionId, TurnId
from agent_core.state.conversations import (
    approvals,
    compactions,
    sessions,
    usage_sums,
)
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_owners
from agent_core.state.lifecycle import merge_people
from agent_core.state.lifecycle.merge_people import Rename
from agent_core.state.lifecycle.removed_conversations import mark
from agent_core.state.memory import archive
from agent_core.state.people import browser_logins, mcp_accounts
from agent_core.state.people.people import Account
from agent_core.state.search import message_index
from agent_core.state.search.search_scope import scopes_of_messages
from agent_core.state.webhooks import webhooks

_UNLINKED = "an account was unlinked; check that its address is still yours"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitResult:
    """The result of a split: the numbers of moved sessions and of their messages.

    `kept` counts the sessions of others in which this account took part; they stay.
    """

    sessions: int
    messages: int
    kept: int


def split(
    connection: Connection, account: Account, *, into: PersonId, rename: Rename, now: int
) -> SplitResult:
    """Move an account to the person `into`, with its sessions and its archive entries.

    Messages move with their index entries, and turns with their cost and queued messages. The
    memory ledger stays.
    """
    # The holder of the account may have opened a login, and must not continue to read.
    browser_logins.delete_of(connection, person_id=account.person_id)
    mcp_accounts.delete_all(connection, person_id=account.person_id)
    webhooks.pause_all(connection, person_id=account.person_id, reason=_UNLINKED)
    known = archive.list_begun(connection, person_id=account.person_id, account_id=account.id)
    archive.move(connection, out_of=account.person_id, into=into, archive_ids=known)
    planned = job_owners.list_begun(connection, person_id=account.person_id, account_id=account.id)
    job_owners.reassign(connection, job_ids=planned, out_of=account.person_id, into=into)
    begun = list_begun(connection, person_id=account.person_id, account_id=account.id)
    kept = count_shared(connection, person_id=account.person_id, account_id=account.id)
    moved = 0
    for conversation, session_ids in begun:
        home = sessions.ensure_conversation(
            connection,
            sessions.NewConversation(
                key=rename(conversation),
                kind=conversation.kind,
                agent=conversation.agent,
                person_id=into,
                is_direct=conversation.is_private,
                room_id=conversation.room_id,
            ),
            now=now,
        )
        mark(connection, home, removed_at=conversation.removed_at)
        move_turns(connection, session_ids=session_ids, out_of=conversation, to=home)
        compactions.move(connection, session_ids=session_ids, person_id=into)
        approvals.delete_of_sessions(connection, session_ids=session_ids)
        tokens = scopes_of_messages(into, home.id, is_searchable=conversation.is_searchable)
        moved += message_index.move_sessions(
            connection, session_ids=session_ids, person_id=into, scope=tokens
        )
    move_shared_turns(connection, person_id=account.person_id, account_id=account.id, into=into)
    reassign_account(connection, account_id=account.id, into=into)
    for person_id in (account.person_id, into):
        merge_people.close_duplicate_sessions(connection, person_id=person_id, now=now)
        usage_sums.renew(connection, person_id=person_id)
    parted = sum(len(session_ids) for _, session_ids in begun)
    return SplitResult(sessions=parted, messages=moved, kept=kept)


def list_begun(
    connection: Connection, *, person_id: PersonId, account_id: AccountId
) -> list[tuple[Conversation, list[SessionId]]]:
    """List the sessions of a person that one account started, by conversation."""
    conversations = merge_people.list_conversations(connection, person_id=person_id)
    rows = connection.execute(
        "SELECT sessions.conversation_id, sessions.id FROM conversations JOIN sessions"
        " ON sessions.conversation_id = conversations.id WHERE conversations.person_id = :person_id"
        " AND sessions.account_id = :account_id ORDER BY sessions.id",
        {"person_id": person_id, "account_id": account_id},
    ).fetchall()
    begun = [
        (conversation, [SessionId(row[1]) for row in rows if row[0] == conversation.id])
        for conversation in conversations
    ]
    return [(conversation, session_ids) for conversation, session_ids in begun if session_ids]


def count_shared(connection: Connection, *, person_id: PersonId, account_id: AccountId) -> int:
    """Count the sessions of others in which an account asked for a turn."""
    row = connection.execute(
        "SELECT COUNT(DISTINCT turns.session_id) FROM turns JOIN sessions"
        " ON sessions.id = turns.session_id WHERE turns.person_id = :person_id"
        " AND turns.account_id = :account_id"
        " AND COALESCE(sessions.account_id, 0) <> :account_id",
        {"person_id": person_id, "account_id": account_id},
    ).fetchone()
    return int(row[0])


def move_turns(
    connection: Connection,
    *,
    session_ids: list[SessionId],
    out_of: Conversation,
    to: Conversation,
) -> None:
    """Move sessions to another conversation, with their turns, cost and queued messages."""
    rows = connection.execute(
        "SELECT id, session_id FROM turns WHERE conversation_id = :conversation_id",
        {"conversation_id": out_of.id},
    ).fetchall()
    moving = set(session_ids)
    turn_ids = [TurnId(row[0]) for row in rows if row[1] in moving]
    connection.executemany(
        "UPDATE turns SET conversation_id = :to WHERE id = :turn_id",
        [{"to": to.id, "turn_id": turn_id} for turn_id in turn_ids],
    )
    reassign_turns(connection, turn_ids=turn_ids, out_of=out_of.person_id, into=to.person_id)
    connection.executemany(
        "UPDATE sessions SET conversation_id = :to WHERE id = :session_id",
        [{"to": to.id, "session_id": session_id} for session_id in session_ids],
    )
    connection.executemany(
        "UPDATE tasks SET person_id = :into WHERE kind = 'title' AND key = :key"
        " AND state IN ('owed', 'running')",
        [{"into": to.person_id, "key": f"session:{session_id}"} for session_id in session_ids],
    )


def reassign_turns(
    connection: Connection, *, turn_ids: list[TurnId], out_of: PersonId, into: PersonId
) -> None:
    """Reassign turns with their cost and queued messages to another person."""
    values = [{"into": into, "out_of": out_of, "turn_id": turn_id} for turn_id in turn_ids]
    for table, key in (("turns", "id"), ("usage", "turn_id"), ("outbox", "turn_id")):
        connection.executemany(
            f"UPDATE {table} SET person_id = :into WHERE {key} = :turn_id AND person_id = :out_of",
            values,
        )


def move_shared_turns(
    connection: Connection, *, person_id: PersonId, account_id: AccountId, into: PersonId
) -> None:
    """Reassign an account's turns in the conversations of rooms; the conversations stay."""
    rows = connection.execute(
        "SELECT turns.id FROM turns JOIN conversations ON conversations.id = turns.conversation_id"
        " WHERE turns.person_id = :person_id AND turns.account_id = :account_id"
        " AND conversations.person_id <> :person_id",
        {"person_id": person_id, "account_id": account_id},
    ).fetchall()
    turn_ids = [TurnId(row[0]) for row in rows]
    reassign_turns(connection, turn_ids=turn_ids, out_of=person_id, into=into)


def reassign_account(connection: Connection, *, account_id: AccountId, into: PersonId) -> None:
    """Reassign an account, and clear its record of an earlier merge."""
    connection.execute(
        "UPDATE accounts SET person_id = :into, came_from = NULL WHERE id = :account_id",
        {"into": into, "account_id": account_id},
    )


def restore_person(connection: Connection, *, back: PersonId) -> None:
    """Restore a merged person with the rights that they had before."""
    connection.execute("UPDATE people SET joined_to = NULL WHERE id = :back", {"back": back})
