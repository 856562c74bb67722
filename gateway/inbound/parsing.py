"""Read commands, languages and unset preferences from what arrived; pure."""

from adapters.messages import ButtonPress, InboundMessage
from agent_core.state.people.people import Person
from agent_core.state.queues.inbox import InboxRow
from gateway.inbound import events
from gateway.inbound.events import (
    InboundEvent,
    Item,
    PressEvent,
)
from gateway.outbound import Reaction


def list_unset(person: Person) -> tuple[str, ...]:
    """List the settings that a person has never set, in words for the model."""
    names = []
    if person.time_zone is None:
        names.append("time zone")
    if person.language is None:
        names.append("preferred language")
    if person.quiet_from is None:
        names.append("quiet hours")
    return tuple(names)


def make_reaction(row: InboxRow, heard: InboundMessage | ButtonPress, person: Person) -> Reaction:
    """Build a person's reaction to an open question."""
    return Reaction(inbox_id=row.id, platform=row.platform, address=heard.address, person=person)


def split_command(message: InboundMessage) -> tuple[str, str] | None:
    """Return the command in a message of the sender's own; edits and forwards are none.

    A code that is forwarded in a room is read all the same, so that it becomes invalid.
    """
    command = None if message.is_edit else events.parse_command(message.text)
    if command is None or message.forwarded_from is None:
        return command
    is_exposed = command[0] in ("claim", "link") and not message.address.is_direct
    return command if is_exposed else None


def language_of(item: Item) -> str | None:
    """Return the language of a sender's app, until their own setting is known."""
    if isinstance(item, InboundEvent):
        return item.message.sender.language
    return item.press.sender.language if isinstance(item, PressEvent) else None
