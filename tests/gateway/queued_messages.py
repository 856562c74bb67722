"""Messages of Ana that wait for their turn."""

from adapters.messages import InboundMessage
from agent_core.ids import ConversationId, InboxId, PersonId
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Person
from gateway.queued_message import QueuedMessage

ANA = Person(id=PersonId(1), slug="ana", name="Ana", role="member", time_zone=None)
NOON = 1_790_000_000_000


def pending(message: InboundMessage, *numbers: int) -> QueuedMessage:
    return QueuedMessage(
        inbox_ids=tuple(InboxId(number) for number in numbers or (1,)),
        platform="telegram",
        message=message,
        person=ANA,
        conversation=Conversation(
            id=ConversationId(1), key="direct:1", person_id=PersonId(1), scope="p1"
        ),
    )
