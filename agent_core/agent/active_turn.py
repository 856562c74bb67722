"""A turn's data: its prompt, messages and journal, and the agent's configuration."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from agent_core.agent.budget import Limits
from agent_core.agent.caches import SessionCache
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.compaction.context_window import TurnContextWindow
from agent_core.agent.history import History
from agent_core.agent.journal import TurnJournal
from agent_core.agent.loop.messages import is_answer
from agent_core.agent.named.definition import NamedAgent
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.mail import AgentMail
from agent_core.agent.prompt.prompt_cache import FrozenPrompt, PromptConfig, store_prompt
from agent_core.agent.prompt.visibility import PromptContext
from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import AgentBroken
from agent_core.ids import CallId, InboxId, PersonId, SessionId, TurnId
from agent_core.memory.archive.conclusions import LocalUserModel
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.external.client import ExternalMemory
from agent_core.models.router import ModelPolicy
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import sessions, turns
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage, TranscriptPlace
from agent_core.state.conversations.sessions import Conversation, Session
from agent_core.state.conversations.turns import Step, TurnRequest
from agent_core.state.conversations.usage import Total
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox
from agent_core.tools.contract import MemoryOwner, ToolResult
from agent_core.tools.selection.call_rules import Caller
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import Message, ToolCallPart

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
    """Lines for the facts of the turn's first message; see `prompt.facts`."""
    has_searchable: bool = False
    """Whether the person said something earlier that the prompt does not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMessages:
    """The messages that a turn added.

    `shown` counts those that calls still see; `answers` are the turn's answers among the others.
    """

    messages: tuple[Message, ...]
    shown: int
    answers: tuple[str, ...]

    @property
    def open_calls(self) -> tuple[ToolCallPart, ...]:
        """The calls of the turn's last message, if nothing followed them."""
        return self.messages[-1].calls if self.messages else ()


def find_own_messages(
    transcript: Sequence[StoredMessage], compaction: Compaction | None, turn_id: TurnId
) -> OwnMessages:
    """Select a turn's messages from its session's transcript."""
    own = [stored for stored in transcript if stored.turn_id == turn_id]
    result = [
        stored.message for stored in own if compaction and stored.id <= compaction.summarized_to
    ]
    return OwnMessages(
        messages=tuple(stored.message for stored in own),
        shown=len(own) - len(result),
        answers=tuple(message.text for message in result if is_answer(message)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTurn:
    """A turn that the agent runs. Its journal writes it to disk.

    `person` asks and pays. The transcript belongs to the conversation's person; memory changes
    apply to `memory_owner`.
    """

    id: TurnId
    session_id: SessionId
    is_untitled: bool
    conversation: Conversation
    person: Person
    memory_owner: MemoryOwner | None
    journal: TurnJournal
    toolbox: Toolbox
    window: TurnContextWindow
    prompt: FrozenPrompt
    messages: tuple[Message, ...]
    own_count: int
    """The number of messages at the end of `messages` that this turn added."""
    earlier_answers: tuple[str, ...] = ()
    """Answers of this turn that a compaction removed from `messages`."""
    results: Mapping[CallId, ToolResult]
    started: frozenset[CallId]
    prepared: PreparedTurn | None = None
    """The state that the turn starts from; None if an earlier process began the turn."""
    job_turn: JobTurn | None = None
    """The job run that the turn belongs to, if any."""
    spent: Total | None = None
    """Usage of the turn in earlier processes; it counts against the turn's limits."""
    parent: "ActiveTurn | None" = None
    """The turn that started this one as its helper, if any."""
    agent: NamedAgent | None = None
    """The named agent that answers; None for the assistant itself."""

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
        """Return this turn as a helper of `parent`, with its memory owner, evidence and sources."""
        self.journal.inherit_sources(parent.journal.sources)
        self.journal.evidence = parent.journal.evidence
        return replace(self, memory_owner=parent.memory_owner, parent=parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """The agent's configuration."""

    prompts: PromptConfig
    sessions: SessionCache
    """Shared with the other code that writes turns, because ids are allocated in one sequence."""
    policy: ModelPolicy
    models: tuple[str, ...] = ()
    """The models that people and jobs may choose."""
    job_patience: float = 86_400.0
    """Seconds that the turn of a job waits while no model answers."""
    limits: Limits
    quotas: Quotas
    """Daily quotas, shared with everything else that calls models."""
    compactor: Compactor
    """Shared with the `/compact` command."""
    recall_tokens: int = 0
    """Most tokens of past messages in the facts of a turn that refers to them."""
    external_memory: ExternalMemory | None = None
    """The external memory provider, if one is configured."""
    user_model: LocalUserModel | None = None
    """Conclusions about people, unless an external memory knows them."""
    agents: AgentFolder
    """The named agents."""
    agent_mail: AgentMail
    """Messages between agents that do not wait for an answer."""
    note_end: Callable[[Connection, TurnId, PersonId, int], None] | None = None
    """Called in the transaction that ends a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolboxes:
    """The tools by place: a room's toolbox has no tool that shows private data."""

    private: Toolbox
    room: Toolbox
    inventory: Inventory
    """Counts of what the search tools can find."""
    helper: Toolbox | None = None
    """The toolbox of helpers: nothing that asks, remembers, schedules, sends or delegates."""
    asked: Toolbox | None = None
    """The toolbox of a named agent that another agent asks: the helpers' tools, and messages."""
    private_job: Toolbox | None = None
    room_job: Toolbox | None = None
    """Toolboxes for jobs; separate, because every conversation pays for the tools in its prompt."""
    purposes: Mapping[str, Toolbox] = field(default_factory=dict)
    """Toolboxes of private jobs whose commands run elsewhere, by `job:TITLE` or `skill:NAME`."""

    def open(
        self, context: PromptContext, job_turn: JobTurn | None, steps: Sequence[Step] = ()
    ) -> Toolbox:
        """Make the toolbox of one turn; a job may restrict it further.

        Leaves out the tools that the person has switched off or, in a group or channel, those
        switched off there. A named agent gets only the tools that it may use. `steps` are the
        turn's calls so far.
        """
        conversation = context.conversation
        room = None if conversation.is_private else context.room
        off, agent = (room or context.person).tools_off, context.agent
        earlier = ((step.name, step.outcome is not None and not step.is_error) for step in steps)
        box = self.select(conversation, job_turn, agent)
        if agent:
            off = (*off, *agent.disabled)
        return box.open(_name_caller(conversation, job_turn), off, earlier)

    def select(
        self,
        conversation: Conversation,
        job_turn: JobTurn | None,
        agent: NamedAgent | None = None,
    ) -> Toolbox:
        """Choose the tools of a conversation; a job and a named agent may restrict them further."""
        box = self._choose(conversation, job_turn)
        if agent is None:
            return box
        usable = [name for name in box.names if agent.may_use(name)]
        return box.restrict_to(usable, keeps_sources=agent.tools is None)

    def _choose(self, conversation: Conversation, job_turn: JobTurn | None) -> Toolbox:
        if conversation.is_helper:
            return (self.asked if conversation.agent else self.helper) or self.room.restrict_to(())
        if conversation.is_private:
            box = self._choose_for_job(job_turn) if job_turn else self.private
        else:
            box = self.room_job or self.room if job_turn else self.room
        return box.restrict_to(job_turn.tools) if job_turn and job_turn.tools else box

    def _choose_for_job(self, job_turn: JobTurn) -> Toolbox:
        names = (f"job:{job_turn.title}", *(f"skill:{name}" for name in job_turn.skills))
        found = next((name for name in names if name in self.purposes), "")
        return self.purposes[found] if found else self.private_job or self.private


async def load_agent(
    agents: AgentFolder,
    conversation: Conversation,
    job_turn: JobTurn | None,
    *,
    is_begun: bool = False,
) -> NamedAgent | None:
    """Load the named agent of a job or of the conversation; None if neither names one.

    Raises `AgentBroken` if the agent can't be used. If `is_begun`, its turn continues without tools
    instead.
    """
    name = (job_turn.agent if job_turn else "") or conversation.agent
    if not name:
        return None
    try:
        return await asyncio.to_thread(agents.find, name)
    except AgentBroken:
        if is_begun:
            return NamedAgent(name=name, soul="", tools=())
        raise


def _name_caller(conversation: Conversation, job_turn: JobTurn | None) -> Caller:
    if conversation.is_helper:
        return "helper"
    if job_turn:
        return "job"
    return "direct" if conversation.is_private else "group"


def policy_for(config: AgentConfig, turn: ActiveTurn) -> ModelPolicy:
    """Apply the model of a job, of a named agent, or that a person chose for private conversations.

    A choice that is no longer configured counts as none. A room keeps one model, because each
    change of it would void the provider's cache.
    """
    own = turn.agent.model if turn.agent else ""
    if turn.parent:  # which waits out an outage itself
        policy = policy_for(config, turn.parent)
        return replace(policy, model=own or policy.model, patience=None)
    policy, job_turn = config.policy, turn.job_turn
    if job_turn:
        wanted = job_turn.model or own
        model = wanted if wanted in config.models else policy.model
        return replace(policy, model=model, patience=config.job_patience)
    chosen = own or (turn.person.model if turn.conversation.is_private else "")
    return replace(policy, model=chosen) if chosen in config.models else policy


def limits_for(limits: Limits, job_turn: JobTurn | None) -> Limits:
    """Cap a turn's money by what the job may still spend today."""
    left = job_turn.micro_dollars if job_turn else None
    if left is None:
        return limits
    most = min(limits.micro_dollars, left) if limits.micro_dollars else left
    return replace(limits, micro_dollars=max(most, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """The values that `insert_turn` writes.

    They refer to no running turn, because its journal refers to them.
    """

    prepared: PreparedTurn
    said: tuple[Message, ...]
    now: int
    inbox_ids: Sequence[InboxId] = ()
    """The inbound events that the turn answers."""


def insert_turn(
    connection: Connection, journal: TurnJournal, new: NewTurn, asked: TurnRequest
) -> None:
    """Insert a created turn within the caller's transaction, and claim the events it answers."""
    place, context, now = journal.shelf, new.prepared.context, new.now
    asked = replace(asked, turn_id=place.turn_id, ending=journal.ending)
    is_first = _open_session(connection, place, new, asked)
    turns.insert(
        connection,
        conversation=context.conversation,
        session_id=place.session_id,
        request=asked,
        prompt_hash=new.prepared.prompt.hash,
        now=now,
    )
    for name in context.agent.skills if context.agent and is_first else ():
        skill_uses.note(connection, name=name, turn_id=place.turn_id, now=now)
    # After the messages, the full-text index would flush for this update, and again at the end.
    is_over = asked.ending is not None
    inbox.claim(connection, inbox_ids=new.inbox_ids, turn_id=place.turn_id, is_over=is_over)
    journal.append(connection, new.said, now)


def _open_session(
    connection: Connection, place: TranscriptPlace, new: NewTurn, asked: TurnRequest
) -> bool:
    """Open the turn's session and store its prompt, unless both exist.

    Return whether the prompt is fresh, which is a use of the skills that a named agent preloads.
    """
    session, prompt, now = new.prepared.session, new.prepared.prompt, new.now
    if session is None:
        sessions.insert(
            connection,
            conversation_id=place.conversation_id,
            session_id=place.session_id,
            account_id=asked.account_id,
            now=now,
        )
    is_fresh = session is None or session.prompt_hash != prompt.hash
    if is_fresh:
        store_prompt(prompt, now, connection)
        sessions.touch(connection, session_id=place.session_id, prompt_hash=prompt.hash, now=now)
    return is_fresh


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


def list_results(steps: Sequence[Step]) -> dict[CallId, ToolResult]:
    """Return the recorded results of a turn's calls."""
    return {
        step.call_id: ToolResult(
            text=step.outcome, is_error=step.is_error, sources=step.sources, images=step.images
        )
        for step in steps
        if step.outcome is not None
    }
