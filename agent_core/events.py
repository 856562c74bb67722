"""The events that a running turn emits, and the requests that it makes to its host."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent_core.errors import ReachedQuota
from agent_core.ids import CallId, InboxId
from agent_core.transcript import Part

Ending = Literal["answered", "stopped", "refused", "exhausted", "failed", "suspended"]
"""The ways in which a turn ends. `suspended` turns continue at the next start."""

PASSED = "passed"
"""The reason of an answer that ends with calls for the program that asked."""

UNMET = "unmet"
"""The reason of an answer that says what did not happen, in place of what the model claimed."""
RULE_UNMET = "rule_unmet"
"""The reason of an answer before which a tool did not run that a rule requires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGrew:
    """More of the answer arrived; `delta` is the new text."""

    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReset:
    """The answer shown so far is void.

    Either the call failed and is repeated, or tools run before the final answer.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A tool call starts."""

    call_id: CallId
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded:
    """A tool call returned."""

    call_id: CallId
    name: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFault:
    """A model can't answer: an owner has to fix its key or its name, or should know a refusal.

    `reason` is `model_denied`, `model_unknown`, `model_misplaced`, `model_rejected` or
    `model_declined`; `detail` is the provider's message, for owners.
    """

    model: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutage:
    """No model answers; the turn waits and tries again.

    `reason` is the code with which the turn would end. `since` is when the outage began, `until`
    when the turn gives up. Both are in milliseconds since the epoch, UTC.
    """

    reason: str
    since: int
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The end of a turn. `text` is the answer, or empty.

    For endings other than `answered`, `reason` is a code that the gateway turns into a sentence,
    for instance `max_tokens`, `money` or `model_busy`. `quota` names the quota that was reached.
    `used_cheap_model` says that the cheap model answered because a quota was nearly used up.
    """

    ending: Ending
    text: str
    reason: str = ""
    detail: str = ""
    quota: ReachedQuota | None = None
    used_cheap_model: bool = False


Event = TextGrew | TextReset | ToolStarted | ToolEnded | ModelOutage

Emit = Callable[[Event], Awaitable[None]]
"""Takes the events of a turn, one at a time. The turn waits for it; what it raises ends the turn.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """A message that the person sent while the turn was running.

    `inbox_ids` names its events: the message and any edits. `parts` are its attachments.
    """

    inbox_ids: tuple[InboxId, ...]
    facts: str
    text: str
    parts: tuple[Part, ...] = ()


class Host(Protocol):
    """The side of the gateway that a running turn sees. Only `pause` and `note_fault` block."""

    def take_steers(self) -> Sequence[Steer]:
        """Return the messages that arrived since the last call; this turn has to answer them."""

    def is_draining(self) -> bool:
        """Return whether the process is shutting down; if so, the turn stops at its next step."""

    async def pause(self, seconds: float) -> None:
        """Wait during an outage of the model; return early if the process is shutting down.

        Other turns may run meanwhile.
        """

    async def note_fault(self, fault: ModelFault) -> None:
        """Report a fault of a model to the owners. Raises `StoreError`."""

    def show_loading(self) -> None:
        """Show that the model is being loaded, until its first words."""

    def show_helpers(self, call_id: CallId, done: int, total: int) -> None:
        """Show how many helpers of a tool call are done."""

    def show_progress(self, call_id: CallId, note: str) -> None:
        """Show a one-line note on a running tool call."""

    def show_plan(self, number: int, total: int, title: str) -> None:
        """Show the current step of the plan.

        An empty `title` means that all steps are done; `number` 0 means that there is no plan.
        """
