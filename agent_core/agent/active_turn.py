"""What the agent holds of a turn: what it is begun on, and the turn itself."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.agent.compaction.compactor import CompactionRequest, CompactionTarget, Compactor
from agent_core.agent.compaction.token_meter import ContextBounds
from agent_core.agent.journal import TurnJournal
from agent_core.agent.loop.contract import ModelPolicy
from agent_core.agent.loop.guards import Budget, Limits
from agent_core.agent.loop.messages import is_answer
from agent_core.agent.prompt.context import PromptContext
from agent_core.agent.prompt.prompt_cache import FrozenPrompt
from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import ModelOverflow
from agent_core.ids import CallId, SessionId, TurnId
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.external.client import ExternalMemory
from agent_core.models.catalog import estimate_input
from agent_core.models.contract import ModelRequest, Usage
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import Shelf, StoredMessage
from agent_core.state.conversations.sessions import Conversation, Session
from agent_core.state.conversations.usage import Total
from agent_core.state.people.people import Person
from agent_core.tools.contract import MemoryOwner, ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, ToolCallPart

_REFUSED_PERCENT = 75
"""Of the estimated length of a request that was refused for its length: what the next may be."""
_REGROWTH = 1.1
"""By how much a talk has to grow before a fold that failed is tried again."""


class TurnContextWindow:
    """The room of one turn; what the loop asks for as `Space`."""

    def __init__(
        self,
        folding: Compactor,
        shelf: Shelf,
        payer: Person,
        begin: Callable[[], Awaitable[None]],
    ) -> None:
        """`shelf` is where the turn's messages go; `begin` writes down the turn, so that what
        is folded is on disk.
        """
        self._compactor = folding
        self._talk = CompactionTarget(
            session_id=shelf.session_id,
            owner_id=shelf.person_id,
            payer_id=payer.id,
            turn_id=shelf.turn_id,
        )
        self._cap = payer.context_cap
        self._begin = begin
        self._estimated = 0
        self._vain = 0
        """How long the talk was when folding did not bring it below the threshold."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """What of the transcript to send instead, because the request is too long, or was
        refused for it; None where it may be made as it is.

        Raises `ModelOverflow` where it can't be made short enough, and `StoreError`.
        """
        meter = self._compactor.meter
        bounds = meter.bounds(request, self._cap)
        self._estimated = estimated = estimate_input(request)
        session_id = self._talk.session_id
        if is_refused:
            tokens = meter.estimate(session_id, request.model, estimated)
            below = min(bounds.threshold, tokens * _REFUSED_PERCENT // 100)
            meter.refuse(request.model, tokens)
        else:
            tokens = await meter.measure(session_id, request, estimated, bounds.threshold)
            below = bounds.threshold
            if tokens <= below or self._was_in_vain(tokens, bounds):
                return None
        need = CompactionRequest(
            reason="overflow" if is_refused else "near",
            tokens=tokens,
            estimated=estimated,
            threshold=below,
            shown=request.images.keys(),
        )
        return await self._compact(need, budget, bounds)

    def learn(self, model: str, taken: Usage) -> None:
        """The request that was measured last was made by a model, and took this."""
        self._compactor.meter.learn(self._talk.session_id, model, self._estimated, taken)

    def _was_in_vain(self, tokens: int, bounds: ContextBounds) -> bool:
        """True if there is still room, and folding was of no use a moment ago."""
        return tokens <= bounds.limit and tokens < self._vain * _REGROWTH

    async def _compact(
        self, need: CompactionRequest, budget: Budget, bounds: ContextBounds
    ) -> tuple[Message, ...] | None:
        await self._begin()
        folded = await self._compactor.compact(self._talk, need)
        if folded is None and need.reason == "overflow":
            folded = await self._compactor.compact(self._talk, need)
        if folded is None:
            self._vain = need.tokens
            if need.reason == "near" and need.tokens <= bounds.limit:
                return None
            raise ModelOverflow("The talk is too long, and can't be made shorter.")
        for spent in folded.paid:
            tokens = spent.input_tokens + spent.cache_read_tokens + spent.cache_write_tokens
            budget.spend(tokens + spent.output_tokens, spent.micro_dollars)
        after = folded.compaction.tokens_after
        self._vain = after if after > need.threshold else 0
        if after > bounds.limit:
            raise ModelOverflow(f"The talk does not fit into {bounds.limit:,} tokens.")
        return folded.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTurn:
    """All that a turn needs to know before it is begun."""

    context: PromptContext
    session: Session | None
    prompt: FrozenPrompt
    history: tuple[StoredMessage, ...]
    compaction: Compaction | None = None
    """Under which calls see the history."""
    news: tuple[str, ...] = ()
    """Lines for the facts of the turn's first message; see `prompt.news`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMessages:
    """What a turn has added to its talk: all of it, how many of the last messages that calls
    see it is, and the answers among what they see no more.
    """

    messages: tuple[Message, ...]
    shown: int
    answers: tuple[str, ...]

    @property
    def open_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls that the turn made last, if nothing came after them."""
        return self.messages[-1].calls if self.messages else ()


def find_own_messages(
    transcript: Sequence[StoredMessage], compaction: Compaction | None, turn_id: TurnId
) -> OwnMessages:
    """What a turn has added, out of its session's transcript."""
    own = [stored for stored in transcript if stored.turn_id == turn_id]
    folded = [
        stored.message for stored in own if compaction and stored.id <= compaction.summarized_to
    ]
    return OwnMessages(
        messages=tuple(stored.message for stored in own),
        shown=len(own) - len(folded),
        answers=tuple(message.text for message in folded if is_answer(message)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTurn:
    """A turn, from the moment on in which the agent takes it up; its journal begins it on disk.

    `person` is who asks, and pays. Whose transcript it is says the conversation; whose memory
    may be changed says `memory_owner`.
    """

    id: TurnId
    session_id: SessionId
    is_untitled: bool
    conversation: Conversation
    person: Person
    memory_owner: MemoryOwner | None
    journal: TurnJournal
    window: TurnContextWindow
    prompt: FrozenPrompt
    messages: tuple[Message, ...]
    own: int
    """How many of the messages, counted from the end, this turn has added."""
    answers: tuple[str, ...] = ()
    """Those of this turn that stood before these, where its talk was made shorter."""
    outcomes: Mapping[CallId, ToolResult]
    begun: frozenset[CallId]
    evidence: str
    ground: PreparedTurn | None = None
    """What it is begun on; None for one that an earlier process began."""
    job_turn: JobTurn | None = None
    """The run of a job that it is, if it is one."""
    spent: Total | None = None
    """What an earlier process spent on it; this counts against its limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """How this house wants its agent. `cache_ttl` is how long a provider keeps a prompt."""

    home: Path
    policy: ModelPolicy
    limits: Limits
    quotas: Quotas
    """What may be spent in a day; shared with all else that calls models."""
    compactor: Compactor
    """Makes long talks shorter; shared with the command for it."""
    cache_ttl: str
    context_folder: Path | None
    context_files: tuple[str, ...]
    context_limit: int
    external_memory: ExternalMemory | None = None
    """The outside memory, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolboxes:
    """What may be used where: a room's box holds no tool that shows private things."""

    private: Toolbox
    room: Toolbox
    inventory: Inventory
    """What there is to be searched with them."""
    private_job: Toolbox | None = None
    room_job: Toolbox | None = None
    """What jobs have instead, where they have more: every talk would pay for it in its prompt."""

    def select(self, conversation: Conversation, job_turn: JobTurn | None) -> Toolbox:
        """The box of a conversation; a job may have chosen what it needs of it."""
        if conversation.is_private:
            box = self.private_job or self.private if job_turn else self.private
        else:
            box = self.room_job or self.room if job_turn else self.room
        return box.restrict_to(job_turn.tools) if job_turn and job_turn.tools else box


def policy_for(policy: ModelPolicy, job_turn: JobTurn | None) -> ModelPolicy:
    """How models are called; a job may name one of its own."""
    return replace(policy, model=job_turn.model) if job_turn and job_turn.model else policy


def limits_for(limits: Limits, job_turn: JobTurn | None) -> Limits:
    """What a turn may take; a job may not go beyond its own day either."""
    left = job_turn.micro_dollars if job_turn else None
    if left is None:
        return limits
    most = min(limits.micro_dollars, left) if limits.micro_dollars else left
    return replace(limits, micro_dollars=max(most, 1))
