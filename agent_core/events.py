"""What a running turn tells whoever watches it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent_core.ids import CallId, InboxId
from agent_core.transcript import Part

Ending = Literal["answered", "stopped", "refused", "exhausted", "failed", "suspended"]
"""How a turn ended. `suspended` means not at all: it goes on at the next start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGrew:
    """More of the answer arrived. `delta` is what is new."""

    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReset:
    """What was shown of the current answer no longer stands: the call is made again,
    or tools run before the real answer.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A tool call begins."""

    call_id: CallId
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded:
    """A tool call gave its result."""

    call_id: CallId
    name: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedQuota:
    """The ceiling of the day that left no room for a call; see `QuotaExceeded`."""

    subject: str
    unit: str
    limit: int
    resets_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The last event of every turn. `text` is the answer, or empty.

    `reason` names, for endings other than `answered`, what happened: a word that the
    hall turns into a sentence (for instance `max_tokens`, `money`, `model_busy`). For
    `ceiling`, `quota` tells which. `used_cheap_model` says that the cheap model gave the answer,
    because a ceiling is near.
    """

    ending: Ending
    text: str
    reason: str = ""
    detail: str = ""
    quota: ReachedQuota | None = None
    used_cheap_model: bool = False


Event = TextGrew | TextReset | ToolStarted | ToolEnded | TurnEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """A message that the person wrote while the turn was running.

    `inbox_ids` names the events it came in: the message itself and any edits of it. `parts`
    came along with the words.
    """

    inbox_ids: tuple[InboxId, ...]
    facts: str
    text: str
    parts: tuple[Part, ...] = ()


class Host(Protocol):
    """The side of the hall that a running turn can see. Neither method blocks."""

    def take_steers(self) -> Sequence[Steer]:
        """Messages written since the last call; they are the turn's from now on."""

    def is_draining(self) -> bool:
        """True once the process wants to end: the turn stops at the next step boundary."""
