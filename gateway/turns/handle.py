"""A turn as its lane holds it: its progress, its messages and its stop switch."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from enum import Enum, auto

from agent_core.agent.turn import ActiveTurn
from agent_core.chats import Chat, Place
from agent_core.ids import ConversationId, InboxId, PersonId, TurnId
from agent_core.state.conversations.sessions import Conversation
from gateway.chats import make_chat
from gateway.fairness import StopSwitch
from gateway.queued_message import QueuedMessage
from gateway.turns.lane_queue import LaneQueue
from gateway.turns.presenter import Presenter


class Phase(Enum):
    """Progress of a turn."""

    WAITING = auto()
    """Its messages wait, and may still be edited."""
    RETRYING = auto()
    """The store refused to begin the turn. Its messages may be edited again."""
    DRAFTED = auto()
    """The text of its messages is fixed."""
    RUNNING = auto()
    OVER = auto()
    """Nothing is left that could be stopped."""


@dataclass(slots=True, kw_only=True)
class TurnHandle:
    """A turn, from its wait for a place until it is over."""

    lane: LaneQueue
    asker: PersonId
    """The person who asked for the turn, and may stop it."""
    batch: Sequence[QueuedMessage] = ()
    """The messages that begin it; none for a turn of an earlier process."""
    place: Place | None = None
    """The chat that gets the answer."""
    active: ActiveTurn | None = None
    """The turn, while the agent runs it."""
    unstored: ActiveTurn | None = None
    """The turn of the last try, which the store refused."""
    presenter: Presenter | None = None
    """Shows the turn, while it runs."""
    phase: Phase = Phase.WAITING
    stop: StopSwitch = field(default_factory=StopSwitch)
    released: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    """Releases the turn's place among the running turns while the turn waits for a model."""
    awaits_model: bool = False
    """True while it waits before its next try of a failed model call."""

    def find_conversation(self) -> Conversation | None:
        """Return the turn's conversation; None for a turn of an earlier process that waits."""
        if self.active:
            return self.active.conversation
        return self.batch[-1].conversation if self.batch else None

    def request_stop(self) -> bool:
        """Stop the turn, before it begins or at its next await; False if it is over."""
        if self.phase is Phase.OVER:
            return False
        self.stop.request()
        return True

    def is_editable(self) -> bool:
        """Return whether an edit of a message in `batch` still reaches the model."""
        return self.phase in (Phase.WAITING, Phase.RETRYING)

    def is_answered_in(self, chat: Chat) -> bool:
        """Return whether a chat gets the answer."""
        place = self.place
        return place is not None and place.chat == chat

    def mark_steer(self, pending: QueuedMessage) -> None:
        """Mark a steering message as seen, if it is in the chat that gets the answer."""
        chat = make_chat(pending.platform, pending.message.address)
        if self.presenter and self.is_answered_in(chat):
            self.presenter.mark_steer(pending.message.message_id)

    def has_news(self) -> bool:
        """Return whether the asker has written something that goes before a question."""
        has_steers = self.place is not None and self.lane.find_steers(self.place, self.asker)
        return bool(has_steers) or self.lane.has_other_wish(self.asker)

    def inbox_ids(self) -> list[InboxId]:
        """Return the events that begin the turn."""
        return [inbox_id for pending in self.batch for inbox_id in pending.inbox_ids]


class TurnHandles:
    """The turns that run or wait for a place, one per conversation."""

    def __init__(self) -> None:
        self.by_conversation: dict[ConversationId, TurnHandle] = {}

    def find(self, turn_id: TurnId) -> TurnHandle | None:
        """Return the handle of a running turn."""
        handles = self.by_conversation.values()
        return next((one for one in handles if one.active and one.active.id == turn_id), None)
