"""What an outside provider of memory is: the few things it is asked, and by whom it knows people.

At most one is configured. It receives changes through a durable queue, so its failures never
reach a turn. Every method raises `ExternalMemoryError` and may be cancelled at any await. The
caller repeats a call with `is_repeat` when it cannot know whether the earlier one took effect.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import NewType, Protocol

from agent_core.transcript import ToolSpec

ExternalPersonId = NewType("ExternalPersonId", str)
"""A person as the provider knows them: always the same, and it says nothing of them."""
ExternalSessionId = NewType("ExternalSessionId", str)
"""One session of one person's talk, as the provider knows it."""
EntryDigest = NewType("EntryDigest", str)
"""Stands for the words of an entry of memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMessage:
    """One message. `key` is its own for ever; `at` is in milliseconds since the epoch, UTC."""

    key: str
    is_ours: bool
    text: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a person and the assistant said in one turn, oldest first; at least one message."""

    who: ExternalPersonId
    talk: ExternalSessionId
    said: tuple[ExternalMessage, ...]
    is_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySnapshot:
    """All entries of a person's memory as they stand, and which of them the provider has.

    `kept` gives the provider's own name of each entry that it was told. Entries that are not in
    `entries` any more are to be forgotten there.
    """

    who: ExternalPersonId
    entries: Mapping[EntryDigest, str]
    kept: Mapping[EntryDigest, str]
    is_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMemoryTool:
    """A tool that the provider brings along, for talks that nobody else reads.

    `run` is called while a turn waits, for `seconds` at most, and gives what the model reads.
    """

    spec: ToolSpec
    run: Callable[[ExternalPersonId, Mapping[str, object]], Awaitable[str]]
    seconds: float


class MemoryProvider(Protocol):
    """One outside memory."""

    @property
    def name(self) -> str:
        """As people read it."""

    @property
    def retained_data(self) -> str:
        """A sentence on what stays there of somebody who was erased."""

    @property
    def missing_functions(self) -> frozenset[str]:
        """Functions that its server was found not to have, as people read them."""

    @property
    def tools(self) -> tuple[ExternalMemoryTool, ...]:
        """The tools it brings along; the same for as long as the process lives."""

    async def start(self) -> None:
        """Find out whether it is there. Called before all else, and after each outage."""

    async def recall(self, who: ExternalPersonId) -> str:
        """What it makes of somebody, for the facts of their turn; "" if nothing yet.

        A turn may wait for it for a moment only.
        """

    async def tell(self, exchange: Exchange) -> None:
        """Take in what was said in a turn. Called once it is settled, in order for each person."""

    async def keep(self, notes: MemorySnapshot) -> Mapping[EntryDigest, str]:
        """Take in how somebody's memory stands; gives what `kept` is then."""

    async def drop(self, talk: ExternalSessionId) -> None:
        """Forget a talk. One that it never knew is no error."""

    async def erase(self, who: ExternalPersonId) -> None:
        """Forget a person, as far as it can; see `retained_data`. Nobody it knows is no error."""

    async def close(self) -> None:
        """Let go of connections. Called last."""
