"""Forks: conversations on the console's pages that begin with another conversation's messages.

A person can remove a fork and restore it.
"""

from agent_core.agent.id_allocator import IdAllocator
from agent_core.ids import ConversationId, MessageId, PersonId, TurnId
from agent_core.state.conversations import past_sessions, sessions, transcripts
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.transcripts import ForkPoint
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle import removed_conversations
from agent_core.state.people.people import Person
from gateway.app.gateway import Gateway
from gateway.conversation_keys import CONSOLE, name_program
from gateway.errors import Declined
from gateway.interfaces.api.requests import Question
from gateway.texts import turns as texts
from gateway.turns.client_calls import Client


def can_fork(conversation: Conversation) -> bool:
    """Return whether a conversation is private, searchable and with the main assistant."""
    return conversation.is_private and conversation.is_searchable and not conversation.agent


async def fork(
    gateway: Gateway,
    person: Person,
    message_id: MessageId,
    key: str,
    *,
    within: ConversationId | None = None,
) -> ConversationId | None:
    """Begin a private conversation with everything said up to a message of a person.

    None if the person has no such message, or if it is not in the conversation `within`. A repeat
    with the same key makes no second fork. The original messages stay in place. Raises `Declined`.
    """
    now, ids = gateway.now(), await gateway.load_ids()

    def work(connection: Connection) -> ConversationId | None:
        point = transcripts.find_fork_point(connection, message_id=message_id, person_id=person.id)
        if point is None or within not in (None, point.conversation_id):
            return None
        source = _find(connection, person.id, point.conversation_id)
        if source is None or not can_fork(source):
            return None
        key_of = _name(person, f"fork-{message_id}-{key}")
        return _open(connection, point, person.id, key_of, ids, now)

    made = await gateway.database.write("conversations.fork", work)
    gateway.forget_known()
    return made


async def fork_into(gateway: Gateway, question: Question, turn_id: TurnId) -> None:
    """Begin the conversation of a question with everything said up to the end of a turn.

    Does nothing if that turn's messages are gone. Raises `Declined` while the turn is running.
    """
    now, ids = gateway.now(), await gateway.load_ids()
    person_id = question.client.person_id

    def work(connection: Connection) -> None:
        last = transcripts.find_last_message(connection, turn_id=turn_id, person_id=person_id)
        point = last and transcripts.find_fork_point(
            connection, message_id=last, person_id=person_id
        )
        if point:
            key = name_program(question.address, person_id)
            _open(connection, point, person_id, key, ids, now)

    await gateway.database.write("conversations.fork", work)
    gateway.forget_known()


def _open(
    connection: Connection,
    point: ForkPoint,
    person_id: PersonId,
    key: str,
    ids: IdAllocator,
    now: int,
) -> ConversationId:
    """Open the fork with this key, once. Raises `Declined`."""
    if point.is_running:
        raise Declined(texts.STILL_ANSWERING())
    made = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(key=key, kind="fork", person_id=person_id, is_direct=True),
        now=now,
    )
    if sessions.find_open(connection, conversation_id=made.id) is None:
        past_sessions.fork(
            connection,
            point=point,
            made_id=ids.next_session(),
            into=made.id,
            title=texts.FORK_OF(title=point.title) if point.title else "",
            now=now,
        )
    return made.id


async def set_removed(
    gateway: Gateway, person_id: PersonId, conversation_id: ConversationId, *, is_removed: bool
) -> bool:
    """Remove a forked conversation of a person, or restore it.

    False if they have no such conversation. Raises `Declined`.
    """
    now = gateway.now()

    def work(connection: Connection) -> bool:
        found = _find(connection, person_id, conversation_id)
        if found is None:
            return False
        if found.kind != "fork":
            raise Declined(texts.NO_FORK())
        if (found.removed_at is not None) == is_removed:
            return True
        if removed_conversations.is_running(connection, found):
            raise Declined(texts.STILL_RUNNING())
        removed_conversations.set_removed(connection, found, removed_at=now if is_removed else None)
        return True

    done = await gateway.database.write("conversations.remove", work)
    gateway.forget_known()
    return done


def _find(
    connection: Connection, person_id: PersonId, conversation_id: ConversationId
) -> Conversation | None:
    """Return a conversation if it is the person's own."""
    if not transcripts.is_of_person(
        connection, conversation_id=conversation_id, person_id=person_id
    ):
        return None
    return sessions.get_conversation(
        connection, conversation_id=conversation_id, person_id=person_id
    )


def _name(person: Person, name: str) -> str:
    """Return the key of a conversation of the console's pages."""
    client = Client(person_id=person.id, name=CONSOLE)
    asked = Question(client=client, text="", name=name, conversation=name)
    return name_program(asked.address, person.id)
