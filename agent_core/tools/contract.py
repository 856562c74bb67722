"""What a tool is: how it presents itself, what a repeat would do, and how it runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.state.people.people import Kind
from agent_core.transcript import ToolSpec

Effect = Literal["read", "idempotent", "unsafe"]
"""What a repeat after a crash would do: nothing at all, the same once more, or harm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOwner:
    """Whose memory a talk may change: a person's, or a room's. `slug` names its folder."""

    person_id: PersonId
    slug: str
    kind: Kind = "human"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """On whose behalf and where a call runs. Identity is always passed, never ambient."""

    person_id: PersonId
    """Who asks, and pays."""
    owner_id: PersonId
    """Whose transcript this talk is: the same person, or a room that shares one."""
    memory_owner: MemoryOwner | None
    """Whose memory may be changed here; None in a room that is not known yet."""
    conversation_id: ConversationId
    scope: str
    """The search scope of this conversation; see `state.search`."""
    turn_id: TurnId
    call_id: CallId
    now: int
    """Milliseconds since the epoch, UTC, at which the call began."""
    evidence: str
    """The words of the person in this turn, as ground for what is written down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model reads. An error is a result too, never an exception."""

    text: str
    is_error: bool = False


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec:
        """How it presents itself; the same value for as long as the process lives."""

    @property
    def effect(self) -> Effect:
        """What a repeat of a call would do."""

    @property
    def is_cheap(self) -> bool:
        """True for local tools that take no time and no money: a step made only of
        such calls is refunded to the turn's budget.
        """

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Do it. `arguments` fit the schema already.

        Raises `ToolArgumentError` for what a schema can't express. May wait; must stand
        being cancelled at any await without leaving half an effect behind.
        """
