"""Queries over calls from people's other programs: each call is a turn without a model."""

from agent_core.chats import Chat
from agent_core.ids import SessionId, TurnId
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection


def record(
    connection: Connection,
    *,
    turn_id: TurnId,
    conversation: Conversation,
    session_id: SessionId,
    chat: Chat,
    now: int,
) -> None:
    """Record a call as a turn that has already ended, so that no model continues it after a crash.

    Questions that the call raises are asked at `chat`. The turn counts as
    untrusted.
    """
    connection.execute(
        "INSERT INTO turns (id, conversation_id, session_id, person_id, platform,"
        " chat, state, started_at, ended_at, is_untrusted) VALUES (:id, :conversation_id,"
        " :session_id, :person_id, :platform, :chat, 'answered', :now, :now, 1)",
        {
            "id": turn_id,
            "conversation_id": conversation.id,
            "session_id": session_id,
            "person_id": conversation.person_id,
            "platform": chat.platform,
            "chat": chat.address,
            "now": now,
        },
    )
