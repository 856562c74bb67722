"""What the loop is given, and where it hands over what must be durable."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent_core.agent.loop.ports import Reserve, reserve_nothing
from agent_core.host import Steer
from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.models.contract import Model, ModelAnswer, Usage
from agent_core.models.fingerprint import Fingerprints
from agent_core.tools.contract import Effect, MemoryOwner, ToolContext, ToolResult
from agent_core.transcript import Message, ToolCallPart, ToolSpec


async def load_no_images(messages: Sequence[Message]) -> Mapping[str, bytes]:
    """Where there are no pictures to be had, none is shown."""
    return {}


class Tools(Protocol):
    """What runs the model's calls; see `agent_core.tools.toolbox`."""

    def effect(self, name: str) -> Effect:
        """What a repeat of a call would do."""

    def is_cheap(self, name: str) -> bool:
        """True for a tool whose calls take no time and no money."""

    def waits_for_person(self, name: str) -> bool:
        """True for a tool whose calls may take as long as a person does."""

    async def run(
        self,
        call: ToolCallPart,
        context: ToolContext,
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> ToolResult:
        """Do what the call asks for; see `Toolbox.run`."""


class Journal(Protocol):
    """The record of one turn. What is awaited is on disk when the await returns.

    Raises what its store raises; the loop lets it pass and ends without a last event.
    """

    async def record_answer(self, answer: ModelAnswer) -> None:
        """An answer that is not the last one. Its calls, if any, are run after this."""

    async def record_begin(self, call: ToolCallPart) -> None:
        """A call that had to be allowed first is about to run."""

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        """What a call gave, right after it ended; calls of one answer end in any order."""

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        """What goes in front of the next model call: the message with all results of the
        last answer's calls, and one user message a steer. `steers` are those in `added`.
        """

    def conclude(self, added: Sequence[Message], answers: Sequence[ModelAnswer]) -> None:
        """The turn's last words, written down by whoever settles it: messages to append,
        and the answers that were paid for and not recorded before. Once a turn, or not at
        all when it was suspended or cancelled.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """One turn to run, or to go on with.

    `messages` is the transcript with what this turn has added so far; the last `own` of
    them are the turn's, and `answers` those it gave before them, where the transcript was made
    shorter. `outcomes` are results of the calls in the last message that an
    earlier process recorded, `begun` those it began and that have no outcome. Who asks, whose
    talk it is, and whose memory it may change: see `ToolContext`.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    outcomes: Mapping[CallId, ToolResult]
    begun: frozenset[CallId]
    person_id: PersonId
    owner_id: PersonId
    memory_owner: MemoryOwner | None
    conversation_id: ConversationId
    scope: str
    turn_id: TurnId
    evidence: str
    own: int = 0
    answers: tuple[str, ...] = ()
    prompt_hash: str = ""
    """Of the frozen prompt: what its calls are known by later; see `models.fingerprint`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """How models are called. `retries` are those after the first try, for each model.

    `cheap` answers when a ceiling is near.
    """

    model: str
    fallback: str = ""
    cheap: str = ""
    retries: int = 4
    max_output_tokens: int = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDeps:
    """What all turns of a process have in common.

    `price` gives millionths of a US dollar, None for a model it doesn't know; `now` is
    milliseconds since the epoch, UTC; `wait` is how long pauses, in seconds, are spent. `load_images`
    gives the bytes of the pictures in messages, by key; it may raise `StoreError`. `reserve` is
    asked before every call. `fingerprints` know talks by what they held before.
    """

    model: Model
    policy: ModelPolicy
    toolbox: Tools
    price: Callable[[str, Usage], int | None]
    now: Callable[[], int]
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep
    load_images: Callable[[Sequence[Message]], Awaitable[Mapping[str, bytes]]] = load_no_images
    reserve: Reserve = reserve_nothing
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
