"""A message that waits for its turn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.ids import PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.chats import Chat, Place
from agent_core.ids import InboxId, RoomId
from agent_core.safe_names import PlainName
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Account, Person
from gateway.chats import make_chat, read_chat
from gateway.media.readings import Reading


@dataclass(slots=True, kw_only=True)
class QueuedMessage:
    """A message that waits for its conversation's next turn or step.

    An edit of a waiting message replaces `message` and adds to `inbox_ids`. `starts_own_turn`
    keeps it from steering the running turn. With `ends_question`, that turn no longer waits for the
    sender's answer.
    """

    inbox_ids: tuple[InboxId, ...]
    platform: str
    message: InboundMessage
    person: Person
    conversation: Conversation
    room_id: RoomId | None = None
    """The room that it was written in, if any."""
    room_name: PlainName | None = None
    """The name that one of our own people gave to the room."""
    starts_own_turn: bool = False
    ends_question: bool = False
    readings: tuple[Reading, ...] = ()
    """The results of reading the message's attachments."""
    unasked: tuple[str, ...] = ()
    """Questions to ask the person now, because they were never asked."""
    is_steer: bool = False
    """True if it reaches its person's running turn from any chat, and before queued messages."""
    is_repeat: bool = False
    """True if the event was read before: the process may have crashed, or the turn could not begin.
    """
    job_turn: JobTurn | None = None
    """The job run that this message starts; None if a person wrote the message."""
    note: str = ""
    """A further line of facts for the model."""

    def amend(self, text: str, inbox_id: InboxId) -> None:
        """Replace the text by that of an edit."""
        self.message = replace(self.message, text=text)
        self.inbox_ids = (*self.inbox_ids, inbox_id)


def place_of_batch(waiting: Sequence[QueuedMessage]) -> Place:
    """Return the place of a turn's answer: that of its newest message."""
    newest = waiting[-1]
    chat = make_chat(newest.platform, newest.message.address)
    return Place(chat=chat, answers=newest.message.message_id or None)


def make_unwritten(
    person: Person, accounts: Sequence[Account], place: Chat, text: str, now: int
) -> InboundMessage:
    """Make a message that starts a turn for a person, as if the person had sent it.

    `accounts` are theirs; `place` is their chat, and `now` is in milliseconds UTC.
    """
    user_id = next((one.user_id for one in accounts if one.platform == place.platform), "")
    return InboundMessage(
        address=read_chat(place.address),
        message_id=PlatformMessageId(""),
        sender=Sender(user_id=PlatformUserId(user_id), display_name=person.name),
        text=text,
        is_addressed=True,
        sent_at=now,
    )
