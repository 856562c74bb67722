"""Requests and answers of the operations on turns. Quick to import."""

from dataclasses import dataclass, field
from typing import Any, Literal

from agent_core.agent.replay.formats import TrajectoryFormat
from agent_core.ids import TurnId

_NO_NUMBER = "Give the number of a turn."
Verdict = Literal["good", "bad", "none"]
"""What a person thinks of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListTurns:
    """Asks for everyone's newest turns."""

    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLine:
    """A turn in a list, with its times in milliseconds UTC; a running turn has no end."""

    id: TurnId
    person: str
    platform: str
    state: str
    reason: str
    started_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnList:
    """The turns, newest first."""

    turns: tuple[TurnLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PickTurn:
    """Names a turn."""

    id: TurnId = field(metadata={"refusal": _NO_NUMBER})


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStep:
    """A call of a tool; the outcome is None until it is known."""

    name: str
    outcome: str | None
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTotal:
    """The calls of models in a turn, with their tokens."""

    calls: int
    input_tokens: int
    cache_read_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn with its words, steps and cost; `why` and `detail` explain a failure."""

    line: TurnLine
    attempts: int
    why: str
    detail: str
    said: str
    steps: tuple[TurnStep, ...]
    total: TurnTotal
    price: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTool:
    """A tool of a request; the schema is JSON Schema as text."""

    name: str
    description: str
    schema: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestMessage:
    """A message that the model read; `parts` have the format of the transcript."""

    role: str
    parts: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A request to the model. Its first `same` messages equal those of the request before.

    `messages` leaves those out. `doubt` says why the request can't be proved to be exact; "" if it
    is proved.
    """

    model: str
    limit: int | None
    hash: str | None
    doubt: str
    is_known: bool
    read: int
    from_cache: int
    written: int
    pictures: tuple[str, ...]
    same: int
    messages: tuple[RequestMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequests:
    """The prompt and the requests of a turn. A deleted prompt is None."""

    id: TurnId
    system: str | None
    tools: tuple[RequestTool, ...] | None
    calls: tuple[TurnRequest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedTurn:
    """Says how a replay compares with the recorded requests.

    `compared` counts the equal requests of `calls`. The verdict is about the next request, if any;
    `lines` show its difference as far as it is known.
    """

    id: TurnId
    calls: int
    attempts: int
    verdict: Literal["identical", "differs", "fewer", "not_noted"]
    compared: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOfNow:
    """The difference between a turn's prompt and the one for today's memory; empty if equal.

    `is_rest_same` says whether the other messages of its `calls` could be rebuilt.
    """

    id: TurnId
    calls: int
    is_rest_same: bool
    prompt: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTurns:
    """Asks to write conversations to a new file at an absolute path, one per line.

    `person` is a name, None for everybody; `since` is in milliseconds UTC.
    """

    target: str
    format: TrajectoryFormat = "jsonl"
    person: str | None = None
    since: int | None = None
    redact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedTurns:
    """The file that was written, and how many conversations it has."""

    target: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListUndelivered:
    """Asks for the newest messages that could not be delivered."""

    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeliveredMessage:
    """A message that could not be delivered, and why."""

    id: int
    turn: TurnId | None
    platform: str
    chat: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeliveredList:
    """The messages, newest first."""

    undelivered: tuple[UndeliveredMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTurn:
    """Says what a person, named by their folder, thinks of the answer of their turn."""

    person: str
    id: TurnId = field(metadata={"refusal": _NO_NUMBER})
    verdict: Verdict = field(metadata={"refusal": "The verdict is good, bad or none."})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTurn:
    """Says what counts for the skills of an answer now."""

    verdict: Verdict
