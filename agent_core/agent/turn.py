"""A turn: who asks and where, what the model reads, and what records it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from agent_core.agent.compaction.compactor import apply_compaction
from agent_core.agent.compaction.context_window import TurnContextWindow
from agent_core.agent.history import History
from agent_core.agent.journal import TurnJournal
from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.prompt.prompt_cache import FrozenPrompt
from agent_core.agent.prompt.visibility import PromptContext
from agent_core.agent.wishes import NO_WISHES, ProgramWishes
from agent_core.ids import CallId, SessionId, TurnId
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.sessions import Conversation, Session
from agent_core.state.conversations.usage import Total
from agent_core.state.people.people import Person
from agent_core.tools.contract import MemoryOwner, ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message

_TITLE_AFTER = 3
"""A session gets a title after this many messages of people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTurn:
    """The state that a new turn starts from."""

    context: PromptContext
    session: Session | None
    prompt: FrozenPrompt
    history: History
    toolbox: Toolbox
    compaction: Compaction | None = None
    """The compaction through which the next calls see the history."""
    news: tuple[str, ...] = ()
    """Lines for the facts of the turn's first message; see `prompt.message_facts`."""
    wishes: ProgramWishes = NO_WISHES
    """What the program that asks wishes of the turn."""
    has_searchable: bool = False
    """Whether the person said something earlier that the prompt does not show."""

    @property
    def shown(self) -> tuple[Message, ...]:
        """The history as the next calls see it."""
        return apply_compaction(self.history.messages, self.compaction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn to run or to resume: all that the loop knows of it.

    For the calls of the last message, `results` holds those that an earlier process recorded, and
    `started` those that it began without recording a result.
    """

    id: TurnId
    context: PromptContext
    """Who asks, and where."""
    memory_owner: MemoryOwner | None
    """The owner of the memory that tools may change; for a helper, that of its parent."""
    prompt: FrozenPrompt
    messages: tuple[Message, ...]
    """The transcript that the first call shows."""
    own_count: int = 0
    """The number of messages at the end of `messages` that this turn added."""
    earlier_answers: tuple[str, ...] = ()
    """Answers of this turn that a compaction removed from `messages`."""
    results: Mapping[CallId, ToolResult] = field(default_factory=dict)
    started: frozenset[CallId] = frozenset()
    wishes: ProgramWishes = NO_WISHES
    """What the program that asks wishes of the turn."""
    read_news: Callable[[Sequence[Message]], Awaitable[tuple[str, ...]]] | None = None
    """Returns lines for the facts of the next step, on blocks that changed since these messages."""
    waiting_since: int | None = None
    """The beginning of the outage in which an earlier process ended, in milliseconds since the
    epoch, UTC.
    """

    @property
    def conversation(self) -> Conversation:
        """The conversation; its person owns the transcript."""
        return self.context.conversation

    @property
    def person(self) -> Person:
        """The person who asks and pays."""
        return self.context.person

    @property
    def agent(self) -> NamedAgent | None:
        """The named agent that answers; None for the assistant itself."""
        return self.context.agent


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTurn(Turn):
    """A turn that the agent runs: the turn with what it runs on. Its journal writes it to disk."""

    session_id: SessionId
    is_untitled: bool = False
    journal: TurnJournal
    toolbox: Toolbox
    window: TurnContextWindow
    prepared: PreparedTurn | None = None
    """The state that the turn starts from; None if an earlier process began the turn."""
    job_turn: JobTurn | None = None
    """The job run that the turn belongs to, if any."""
    spent: Total | None = None
    """Usage of the turn in earlier processes; it counts against the turn's limits."""
    parent: "ActiveTurn | None" = None
    """The turn that started this one as its helper, if any."""

    @property
    def is_worth_a_title(self) -> bool:
        """Whether the session has no title yet, and enough messages of people to name it."""
        said = sum(message.role == "user" for message in self.messages) if self.is_untitled else 0
        return said >= _TITLE_AFTER

    @property
    def request(self) -> str:
        """The person's words that began the turn."""
        own = self.messages[-self.own_count :] if self.own_count else ()
        return "\n".join(one.text for one in takewhile(lambda one: one.role == "user", own))

    def for_parent(self, parent: "ActiveTurn") -> "ActiveTurn":
        """Return this turn as a helper of `parent`, with its memory owner, evidence and sources.

        A named agent that was asked changes nothing but the blocks that its teams share.
        """
        self.journal.inherit_sources(parent.journal.sources)
        self.journal.evidence = parent.journal.evidence
        owner = parent.memory_owner
        if owner and self.agent:
            owner = replace(owner, blocks=self.agent.shared, only_blocks=True)
        return replace(self, memory_owner=owner, parent=parent)


def make_place(context: PromptContext, session_id: SessionId, turn_id: TurnId) -> TranscriptPlace:
    """Return where the messages of a turn are stored."""
    conversation = context.conversation
    return TranscriptPlace(
        session_id=session_id,
        turn_id=turn_id,
        person_id=conversation.person_id,
        conversation_id=conversation.id,
        platform=context.platform,
        audience=context.audience,
        is_searchable=conversation.is_searchable,
    )
