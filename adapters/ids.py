"""Identifiers of a chat platform, as the platform spells them."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NewType

EventId = NewType("EventId", str)
"""A platform's id of one event, unique within one bot account."""

PlatformMessageId = NewType("PlatformMessageId", str)
"""A platform's id of one message, unique within its chat."""

PlatformUserId = NewType("PlatformUserId", str)
"""A platform's opaque id of a user; never a display name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place to read and write messages: a chat, or a topic or thread in it.

    Only the platform's own package interprets `chat_id` and `thread_id`. Messages to one
    address keep their order.
    """

    chat_id: str
    thread_id: str | None = None
    is_direct: bool
    """True for a direct chat between one person and the bot."""
    ticket: str | None = None
    """A short-lived token to answer where the bot has no permission to write, such as a slash
    command in a channel without the bot. The ticket does not identify the place: addresses that
    differ only in the ticket share a conversation.
    """


@cache
def list_platforms() -> tuple[str, ...]:
    """List the platforms by name, without importing them: all folders with an `adapter` module."""
    return tuple(sorted(found.parent.name for found in Path(__file__).parent.glob("*/adapter.py")))
