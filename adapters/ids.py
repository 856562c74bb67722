"""Names of places on a chat platform, as the platform itself spells them."""

from dataclasses import dataclass
from typing import NewType

EventId = NewType("EventId", str)
"""A platform's own name of one event, unique within one bot account."""

PlatformMessageId = NewType("PlatformMessageId", str)
"""A platform's own name of one message, unique within its chat."""

PlatformUserId = NewType("PlatformUserId", str)
"""A platform's own, numeric or opaque, name of a user; never a display name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place where messages are read and written: a chat, or a topic or thread in it.

    `chat_id` and `thread_id` are opaque outside the platform's own folder.
    Messages to one address keep their order.
    """

    chat_id: str
    thread_id: str | None = None
    is_direct: bool
    """True for a talk between one person and the bot alone."""
    ticket: str | None = None
    """A short-lived right to answer, where the bot may not write by itself (a slash command
    used in a place that it is not in). Names no place: two tickets of a place are one talk."""
