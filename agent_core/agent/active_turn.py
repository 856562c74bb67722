"""What the agent holds of a turn: what it is begun on, and the turn itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.context_window import TurnContextWindow
from agent_core.agent.journal import TurnJournal
from agent_core.agent.loop.contract import ModelPolicy
from agent_core.agent.loop.guards import Limits
from agent_core.agent.loop.messages import is_answer
from agent_core.agent.prompt.context import PromptContext
from agent_core.agent.prompt.prompt_cache import FrozenPrompt
from agent_core.agent.quotas.reservations import Quotas
from agent_core.ids import CallId, SessionId, TurnId
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.external.client import ExternalMemory
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.sessions import Conversation, Session
from agent_core.state.conversations.usage import Total
from agent_core.state.people.people import Person
from agent_core.tools.contract import MemoryOwner, ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, ToolCallPart


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTurn:
    """All that a turn needs to know before it is begun."""

    scene: PromptContext
    session: Session | None
    prompt: FrozenPrompt
    history: tuple[StoredMessage, ...]
    fold: Compaction | None = None
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
    transcript: Sequence[StoredMessage], fold: Compaction | None, turn_id: TurnId
) -> OwnMessages:
    """What a turn has added, out of its session's transcript."""
    own = [stored for stored in transcript if stored.turn_id == turn_id]
    folded = [stored.message for stored in own if fold and stored.id <= fold.summarized_to]
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
    space: TurnContextWindow
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
    course: ModelPolicy
    limits: Limits
    ceilings: Quotas
    """What may be spent in a day; shared with all else that calls models."""
    folding: Compactor
    """Makes long talks shorter; shared with the command for it."""
    cache_ttl: str
    context_folder: Path | None
    context_files: tuple[str, ...]
    context_limit: int
    outside: ExternalMemory | None = None
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

    def of(self, conversation: Conversation, job_turn: JobTurn | None) -> Toolbox:
        """The box of a conversation; a job may have chosen what it needs of it."""
        if conversation.is_private:
            box = self.private_job or self.private if job_turn else self.private
        else:
            box = self.room_job or self.room if job_turn else self.room
        return box.only(job_turn.tools) if job_turn and job_turn.tools else box


def policy_for(course: ModelPolicy, job_turn: JobTurn | None) -> ModelPolicy:
    """How models are called; a job may name one of its own."""
    return replace(course, model=job_turn.model) if job_turn and job_turn.model else course


def limits_for(limits: Limits, job_turn: JobTurn | None) -> Limits:
    """What a turn may take; a job may not go beyond its own day either."""
    left = job_turn.micro_dollars if job_turn else None
    if left is None:
        return limits
    most = min(limits.micro_dollars, left) if limits.micro_dollars else left
    return replace(limits, micro_dollars=max(most, 1))
