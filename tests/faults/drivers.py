"""One platform of a deployment: its people, what they see, and its faults.

A chat is one person in one place: a direct chat, a room or a thread. Its number encodes the
platform, the kind of place and the person: 2107 is the seventh person of the third platform in a
room.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Literal, Protocol, Self, TypeVar

from tests.faults.script import tokens_of

CHATS = 1000
"""The most chats of one platform."""
PEOPLE = 100
"""The most people of one platform."""
Kind = Literal["direct", "room", "thread"]
T = TypeVar("T")
KINDS: Sequence[Kind] = ("direct", "room", "thread")


class Driver(Protocol):
    """Drive one platform."""

    platform: str
    first_chat: int

    async def __aenter__(self) -> Self:
        """Start the emulator."""

    async def __aexit__(self, *_: object) -> None:
        """Stop it."""

    def environ(self) -> Mapping[str, str]:
        """Return the gateway's settings for this platform."""

    async def says(self, chat: int, text: str) -> None:
        """Write to the bot as the person of a chat, whether the gateway runs or not."""

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """Return the bot's current messages by chat."""

    def inject_fault(self, chance: Random) -> None:
        """Make one of the next calls fail: no answer, not applied, server error, rate limit."""

    def refuse_change(self, chance: Random) -> None:
        """Refuse one of the next edits or deletions, or lose it or its answer."""

    async def delete_unfinished(self, chance: Random) -> int:
        """Delete one of the bot's messages that show no mark yet by hand. Return how many it was:
        none if there is no such message.
        """

    def clear_faults(self) -> None:
        """Remove all faults."""

    async def break_connection(self, chance: Random) -> None:
        """Break the connection that brings events, in one of the platform's ways."""

    async def redeliver(self, last: int) -> None:
        """Redeliver the newest events in the platform's ways."""

    def hide_history(self) -> None:
        """Leave requests for history unanswered until `clear_faults`."""

    @property
    def history_calls(self) -> int:
        """How often the bot asked for history, or the platform brought it unasked."""


def choose_unfinished(chance: Random, messages: Iterable[T], text: Callable[[T], str]) -> list[T]:
    """Return one of the messages that show no mark, or none."""
    unfinished = [one for one in messages if not tokens_of(text(one))]
    return [chance.choice(unfinished)] if unfinished else []


def kind_of(chat: int) -> Kind:
    """Return the kind of place of a chat."""
    return KINDS[chat % CHATS // PEOPLE]


def assign_messages(texts: Iterable[str], residents: Sequence[int]) -> dict[int, list[str]]:
    """Assign each message of a shared place to the chat that it answers.

    Messages that answer nobody go to the first chat.
    """
    shared: dict[int, list[str]] = {chat: [] for chat in residents}
    for text in texts:
        named = [token.chat for token in tokens_of(text) if token.chat in shared]
        shared[named[0] if named else residents[0]].append(text)
    return shared
