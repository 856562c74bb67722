"""Queries over helpers: turns that a tool call of another turn started."""

from agent_core.ids import CallId, PersonId, TurnId
from agent_core.state.conversations import sessions, turns
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection

_HELPER = "helper:"


def name_helper(turn_id: TurnId, call_id: CallId, number: int, agent: str = "") -> str:
    """Return the key of a helper's conversation; `number` is that of the task in the call.

    `agent` is the named agent that works on it, "" for a helper without a name.
    """
    return f"{_HELPER}{turn_id}:{number}{f'/{agent}' if agent else ''}:{call_id}"


def name_task(turn_id: TurnId, call_id: CallId, number: int) -> str:
    """Return the key of the conversation of a helper that works in the background."""
    return f"task:{turn_id}:{number}:{call_id}"


def read_parent(conversation: Conversation) -> TurnId | None:
    """Return the turn that started the helper of this conversation; None if no helper has it."""
    key = conversation.key
    return TurnId(int(key.split(":", 2)[1])) if conversation.is_helper else None


def find(
    connection: Connection, *, key: str, owner_id: PersonId, person_id: PersonId
) -> tuple[Conversation, StoredTurn] | None:
    """Return a helper's conversation with its latest turn; None if the helper has not begun.

    `owner_id` owns its transcript, and `person_id` is the person who asks.
    """
    conversation = sessions.find_conversation(connection, key=key, person_id=owner_id)
    if conversation is None:
        return None
    turn = turns.find_latest(connection, conversation_id=conversation.id, person_id=person_id)
    return (conversation, turn) if turn else None


def find_answer(connection: Connection, *, turn_id: TurnId) -> str:
    """Return the last text of a helper's turn; "" if it wrote none."""
    row = connection.execute(
        "SELECT text FROM messages WHERE turn_id = :turn_id AND role = 'assistant'"
        " ORDER BY id DESC LIMIT 1",
        {"turn_id": turn_id},
    ).fetchone()
    return row[0] if row else ""


def stop_all(connection: Connection, *, turn_id: TurnId, now: int) -> None:
    """Stop the running helpers of a turn that has ended, and the helpers that those started."""
    rows = connection.execute(
        "UPDATE turns SET state = 'stopped', ended_at = :now, waiting_since = NULL,"
        f" model = {turns.LATEST_MODEL} WHERE state = 'running' AND conversation_id IN"
        " (SELECT id FROM conversations WHERE key >= :first AND key < :last) RETURNING id",
        {
            "first": f"{_HELPER}{turn_id}:",
            "last": f"{_HELPER}{turn_id};",
            "now": now,
        },
    ).fetchall()
    for (stopped,) in rows:
        stop_all(connection, turn_id=stopped, now=now)
