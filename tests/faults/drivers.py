"""One platform of a deployment: who writes there, what people see, and what goes wrong.

A chat is one person's talk in one place: alone with the bot, in a room full of people, or in a
thread. Its number tells the platform, the kind of place and the person: 2107 is the seventh person
of the third platform in a room.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Literal, Protocol, Self

from tests.faults.script import tokens_of

CHATS = 1000
"""Chats of one platform at most."""
PEOPLE = 100
"""People of one platform at most."""
Kind = Literal["direct", "room", "thread"]
KINDS: Sequence[Kind] = ("direct", "room", "thread")


class Driver(Protocol):
    """One platform."""

    platform: str
    first_chat: int

    async def __aenter__(self) -> Self:
        """Open the platform's doors."""

    async def __aexit__(self, *_: object) -> None:
        """Close them."""

    def environ(self) -> Mapping[str, str]:
        """What the gateway has to be told."""

    async def says(self, chat: int, text: str) -> None:
        """The person of a chat writes to the bot, whether it is there or not."""

    def shown(self, chats: Sequence[int]) -> Mapping[int, Sequence[str]]:
        """The bot's messages of each chat, as they stand."""

    def spoil(self, chance: Random) -> None:
        """Let one of the next calls go wrong: no answer, not applied, unwell, too fast."""

    def mend(self) -> None:
        """Let nothing go wrong any more."""

    async def split(self, chance: Random) -> None:
        """Break off, in some way, what events come by."""

    async def repeat(self, last: int) -> None:
        """Tell the newest events again, in the ways in which the platform does it."""

    def hush(self) -> None:
        """Let history be asked for and never tell anything, until `mend`."""

    @property
    def asked(self) -> int:
        """How often the bot asked for history."""


def kind_of(chat: int) -> Kind:
    """What sort of place a chat is in."""
    return KINDS[chat % CHATS // PEOPLE]


def share_out(texts: Iterable[str], residents: Sequence[int]) -> dict[int, list[str]]:
    """The messages of a place that several chats share, each to the one it answers.

    What answers nobody who is there is the first one's.
    """
    shared: dict[int, list[str]] = {chat: [] for chat in residents}
    for text in texts:
        named = [token.chat for token in tokens_of(text) if token.chat in shared]
        shared[named[0] if named else residents[0]].append(text)
    return shared
