"""Chats, and the messages answered in them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat of a platform. `address` is its stored text, which only the gateway reads."""

    platform: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The chat of an answer, and the message that it replies to."""

    chat: Chat
    answers: str | None = None
