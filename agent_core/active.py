"""What the agent holds of a turn: what it is begun on, and the turn itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.compaction.space import TurnSpace
from agent_core.ids import CallId, SessionId, TurnId
from agent_core.journal import TurnJournal
from agent_core.loop.answers import is_answer
from agent_core.prompt.frozen import FrozenPrompt
from agent_core.prompt.scene import Scene
from agent_core.schedule.errand import Errand
from agent_core.state.folds import Fold
from agent_core.state.messages import StoredMessage
from agent_core.state.people import Person
from agent_core.state.sessions import Conversation, Session
from agent_core.state.usage import Total
from agent_core.tools.contract import Keeper, ToolResult
from agent_core.transcript import Message, ToolCallPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """All that a turn needs to know before it is begun."""

    scene: Scene
    session: Session | None
    prompt: FrozenPrompt
    history: tuple[StoredMessage, ...]
    fold: Fold | None = None
    """Under which calls see the history."""
    news: tuple[str, ...] = ()
    """Lines for the facts of the turn's first message; see `prompt.news`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
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


def find_own(transcript: Sequence[StoredMessage], fold: Fold | None, turn_id: TurnId) -> Own:
    """What a turn has added, out of its session's transcript."""
    own = [stored for stored in transcript if stored.turn_id == turn_id]
    folded = [stored.message for stored in own if fold and stored.id <= fold.folded_to]
    return Own(
        messages=tuple(stored.message for stored in own),
        shown=len(own) - len(folded),
        answers=tuple(message.text for message in folded if is_answer(message)),
    )


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
    space: TurnSpace
    prompt: FrozenPrompt
    messages: tuple[Message, ...]
    own: int
    """How many of the messages, counted from the end, this turn has added."""
    answers: tuple[str, ...] = ()
    """Those of this turn that stood before these, where its talk was made shorter."""
    outcomes: Mapping[CallId, ToolResult]
    begun: frozenset[CallId]
    evidence: str
    ground: Prepared | None = None
    """What it is begun on; None for one that an earlier process began."""
    errand: Errand | None = None
    """The run of a job that it is, if it is one."""
    spent: Total | None = None
    """What an earlier process spent on it; this counts against its limits."""
