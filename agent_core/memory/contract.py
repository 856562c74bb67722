"""The interface of an external memory provider.

At most one provider is configured. It receives changes through a durable queue, so its
failures never reach a turn. Every method raises `ExternalMemoryError` and may be cancelled at
any await. The caller repeats a call with `is_repeat` when it cannot know whether the earlier
one took effect.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import NewType, Protocol

from agent_core.transcript import ToolSpec

ExternalPersonId = NewType("ExternalPersonId", str)
"""A stable pseudonym of a person; it reveals nothing about them."""
ExternalSessionId = NewType("ExternalSessionId", str)
"""A stable pseudonym of one session of one person."""
EntryDigest = NewType("EntryDigest", str)
"""A digest of the text of a memory entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMessage:
    """A message. `key` is unique and stable; `at` is in milliseconds since the epoch, UTC."""

    key: str
    is_ours: bool
    text: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The messages of one turn, oldest first; at least one."""

    who: ExternalPersonId
    session_id: ExternalSessionId
    said: tuple[ExternalMessage, ...]
    is_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySnapshot:
    """The current entries of a person's memory, and those that the provider already has.

    `kept` maps each entry that the provider received to the provider's own id. The provider must
    delete those that are no longer in `entries`.
    """

    who: ExternalPersonId
    entries: Mapping[EntryDigest, str]
    kept: Mapping[EntryDigest, str]
    is_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMemoryTool:
    """A tool that the provider contributes to private conversations.

    `run` returns text for the model; a turn waits for it for at most `seconds`.
    """

    spec: ToolSpec
    run: Callable[[ExternalPersonId, Mapping[str, object]], Awaitable[str]]
    seconds: float


class MemoryProvider(Protocol):
    """An external memory."""

    @property
    def name(self) -> str:
        """The provider's display name."""

    @property
    def retained_data(self) -> str:
        """A sentence for people that states which data stays at the provider after an erasure."""

    @property
    def missing_functions(self) -> frozenset[str]:
        """Display names of functions that the provider's server does not support."""

    @property
    def tools(self) -> tuple[ExternalMemoryTool, ...]:
        """The provider's tools; constant for the life of the process."""

    async def start(self) -> None:
        """Check that the provider is reachable. Called first, and again after each outage."""

    async def recall(self, who: ExternalPersonId) -> str:
        """Return the provider's view of a person for the facts of their turn, or "".

        A turn waits for it only briefly.
        """

    async def add_exchange(self, exchange: Exchange) -> None:
        """Store the messages of a finished turn. Called in order for each person."""

    async def sync_entries(self, notes: MemorySnapshot) -> Mapping[EntryDigest, str]:
        """Replace the stored memory of a person; returns the new `kept`."""

    async def delete_session(self, session_id: ExternalSessionId) -> None:
        """Delete a session. An unknown session is no error."""

    async def delete_person(self, who: ExternalPersonId) -> None:
        """Delete a person as far as possible; see `retained_data`. An unknown person is no
        error.
        """

    async def close(self) -> None:
        """Close all connections. Called last."""
