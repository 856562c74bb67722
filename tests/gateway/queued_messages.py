"""Messages of Ana that wait for their turn."""

from dataclasses import replace

from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.ids import ConversationId, InboxId, PersonId
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Person
from gateway.queued_message import QueuedMessage

ANA = Person(id=PersonId(1), slug="ana", name="Ana", role="member", time_zone=None)
DIRECT = Address(chat_id="5", is_direct=True)
ROOM = Address(chat_id="-5", is_direct=False)
THREAD = replace(ROOM, thread_id="7")
NOON = 1_790_000_000_000


def inbound(text: str = "hello", **changes: object) -> InboundMessage:
    message = InboundMessage(
        address=DIRECT,
        message_id=PlatformMessageId("1"),
        sender=Sender(user_id=PlatformUserId("5"), display_name="Ana"),
        text=text,
        is_addressed=True,
        sent_at=0,
    )
    return replace(message, **changes)  # type: ignore[arg-type]


def pending(message: InboundMessage, *numbers: int) -> QueuedMessage:
    return QueuedMessage(
        inbox_ids=tuple(InboxId(number) for number in numbers or (1,)),
        platform="telegram",
        message=message,
        person=ANA,
        conversation=Conversation(
            id=ConversationId(1), key="direct:1", kind="direct", person_id=PersonId(1), scope="p1"
        ),
    )
