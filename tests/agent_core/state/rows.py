"""Rows that others hang on: a person, their conversation, a session, a turn."""

from dataclasses import dataclass

from agent_core.chats import Chat, Place
from agent_core.ids import PromptHash, SessionId, TurnId
from agent_core.state.conversations import sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.sessions import Conversation, ConversationKind
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person

PROMPT = PromptHash("f" * 64)
ROOM = '["42",null,false]'
"""A chat as the gateway stores it: a running one reads the chats of turns at any time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """One person's conversation with its open session."""

    person: Person
    conversation: Conversation
    session_id: SessionId

    def shelf(self, turn_id: TurnId) -> TranscriptPlace:
        """Where a turn's messages go."""
        return TranscriptPlace(
            session_id=self.session_id,
            turn_id=turn_id,
            person_id=self.person.id,
            conversation_id=self.conversation.id,
            platform="telegram",
        )


def add_person(connection: Connection, slug: str = "ann") -> Person:
    return people.insert(connection, slug=slug, name=slug.title(), role="member", now=0)


def add_dialogue(
    connection: Connection,
    person: Person,
    *,
    key: str = "",
    kind: ConversationKind = "direct",
    room: bool = False,
) -> Dialogue:
    conversation = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key=key or f"telegram:{person.slug}",
            kind="room" if room else kind,
            person_id=person.id,
            is_direct=not room,
        ),
        now=0,
    )
    session_id = sessions.insert(connection, conversation_id=conversation.id, now=0)
    return Dialogue(person=person, conversation=conversation, session_id=session_id)


def add_turn(
    connection: Connection, dialogue: Dialogue, *, now: int = 0, by: Person | None = None
) -> TurnId:
    """A turn that `by` asked for; without one, the person of the conversation."""
    sessions.insert_prompt(connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
    return turns.insert(
        connection,
        conversation=dialogue.conversation,
        session_id=dialogue.session_id,
        request=TurnRequest(
            person_id=by.id if by else dialogue.conversation.person_id,
            account_id=None,
            place=Place(chat=Chat(platform="telegram", address=ROOM)),
        ),
        prompt_hash=PROMPT,
        now=now,
    )
