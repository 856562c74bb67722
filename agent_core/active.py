"""What the agent holds of a turn: what it is begun on, and the turn itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.ids import CallId, SessionId, TurnId
from agent_core.journal import TurnJournal
from agent_core.prompt.frozen import FrozenPrompt
from agent_core.prompt.scene import Scene
from agent_core.state.messages import StoredMessage
from agent_core.state.people import Person
from agent_core.state.sessions import Conversation, Session
from agent_core.state.usage import Total
from agent_core.tools.contract import Keeper, ToolResult
from agent_core.transcript import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that a turn needs to know before it is begun."""

    scene: Scene
    session: Session | None
    prompt: FrozenPrompt
    history: tuple[StoredMessage, ...]
    news: tuple[str, ...] = ()
    """Lines for the facts of the turn's first message; see `prompt.news`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTurn:
    """A turn, from the moment on in which the agent takes it up; its journal begins it on disk.

    `person` is who asks, and pays. Whose transcript it is says the conversation; whose memory
    may be changed says `keeper`.
    """

    id: TurnId
    session_id: SessionId
    is_untitled: bool
    conversation: Conversation
    person: Person
    keeper: Keeper | None
    journal: TurnJournal
    prompt: FrozenPrompt
    messages: tuple[Message, ...]
    own: int
    """How many of the messages, counted from the end, this turn has added."""
    outcomes: Mapping[CallId, ToolResult]
    begun: frozenset[CallId]
    evidence: str
    ground: Prepared | None = None
    """What it is begun on; None for one that an earlier process began."""
    spent: Total | None = None
    """What an earlier process spent on it; this counts against its limits."""
