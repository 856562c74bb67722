"""What the intake works through: stored events, before and after somebody looked into them."""

from dataclasses import dataclass

from adapters.messages import ButtonPress, InboundMessage
from agent_core.ids import InboxId
from agent_core.state.inbox import InboxRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A stored event that nobody has looked into. `is_repeat`: a restart reads it again."""

    row: InboxRow
    is_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A stored event with the message in it."""

    row: InboxRow
    message: InboundMessage
    is_repeat: bool
    is_press: bool = False
    """The message is what a button stands for, and its id that of the message with the button."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A stored event with the press of a button in it."""

    row: InboxRow
    press: ButtonPress


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """Stored events that turned out to be somebody else's by now, and have to be read again."""

    inbox_ids: tuple[InboxId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A stored event that is no message to us. `fault` says why it can't be read, if so."""

    row: InboxRow
    fault: str = ""


Item = Unread | Arrival | Pressed | Stale | Aside
