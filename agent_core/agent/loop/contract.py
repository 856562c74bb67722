"""The loop's contract: a turn's journal, context window and reservations."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from agent_core.agent.budget import Budget
from agent_core.agent.claims.check import Held
from agent_core.agent.claims.course import Course
from agent_core.agent.claims.deeds import Deed
from agent_core.agent.claims.gate import Gate
from agent_core.events import Steer
from agent_core.models.contract import ModelAnswer, ModelRequest, Usage
from agent_core.tools.contract import ToolResult
from agent_core.tools.own_words.contract import OwnWords
from agent_core.tools.policy.approval_requests import ApprovalRequest
from agent_core.transcript import Message, ToolCallPart, UntrustedSource

LoadImages = Callable[[Sequence[Message]], Awaitable[Mapping[str, bytes]]]
"""Returns the bytes of the images in messages by key. Raises `StoreError`."""


class Journal(Protocol):
    """The durable record of one turn. Each awaited method returns once its data is on disk.

    Raises what its store raises; the loop lets that pass and ends without a last event.
    """

    @property
    def sources(self) -> tuple[UntrustedSource, ...]:
        """The untrusted sources of the session so far, even of messages that are not shown."""

    def read_own_words(self) -> OwnWords:
        """Return what the person typed or spoke in this turn's messages."""

    @property
    def evidence(self) -> str:
        """The person's words in the turn so far, also those that steered it."""

    @property
    def deeds(self) -> tuple[Deed, ...]:
        """The changes that the calls of the turn have made so far."""

    def note_answer(self, answer: ModelAnswer) -> None:
        """Note an answer when it arrives, so that it is billed even if the turn fails."""

    async def record_answer(self, answer: ModelAnswer) -> None:
        """Record an answer that does not end the turn; its calls run after this.

        The answer with a single call that begins late may wait for the next record, or for
        `record_held`.
        """

    async def record_held(self) -> None:
        """Record what was held back: before a person is asked, and before a call runs whose
        beginning is not recorded.
        """

    async def record_begin(
        self, call: ToolCallPart, request: ApprovalRequest | None = None
    ) -> bool:
        """Record that a call begins, and use up its approval; see `Begin` of the tools."""

    async def record_result(self, call: ToolCallPart, result: ToolResult) -> None:
        """Record a call's result right after it ended; calls of one answer end in any order.

        The last result of an answer's calls may wait for `record_input`, which follows at once.
        """

    async def record_input(self, added: Sequence[Message], steers: Sequence[Steer]) -> None:
        """Record the messages before the next model call: results of calls, one per steer."""

    async def record_outage(self, since: int) -> None:
        """Record that the turn waits for a model since `since`, in milliseconds since the epoch.

        The next recorded answer ends the outage.
        """

    def conclude(self, added: Sequence[Message]) -> None:
        """Keep the last messages of a turn, once; never for a suspended or cancelled turn."""


class Claims(Protocol):
    """Judges what an answer claims to have done."""

    def judge(self, text: str, course: Course) -> Held | None:
        """Return what to ask the model about an answer; None for an answer that may be shown."""

    def correct(self, text: str, course: Course) -> str:
        """Return an answer with the truth in place of what it claims."""

    def gate(self, course: Course) -> Gate:
        """Return the gate for the stream of the next answer."""


class ContextWindow(Protocol):
    """Keeps the requests of one turn within the model's context window."""

    async def fit(
        self, request: ModelRequest, budget: Budget, *, is_refused: bool = False
    ) -> tuple[Message, ...] | None:
        """Return shorter messages to send instead; None if the request fits. Called before every
        model call.

        `is_refused` means that the provider found the request too long. The cost of the compaction
        is charged to `budget`. Raises `ModelOverflow` if the messages can't be made short enough,
        and what its store raises.
        """

    async def shorten(self, request: ModelRequest, budget: Budget) -> tuple[Message, ...] | None:
        """Return shorter messages for a long request that was refused for no clear reason.

        None if it is short or can't be shortened. Raises what its store raises.
        """

    def limit_output(self, request: ModelRequest) -> ModelRequest:
        """Return the fitted request with an output limit that the model's window has left."""

    def learn(self, model: str, taken: Usage) -> None:
        """Calibrate the estimates by the tokens that the last request took."""


class Reservation(Protocol):
    """The amount set aside for one model call. Always finalized or closed."""

    @property
    def request(self) -> ModelRequest:
        """The request to send: the reserved one, or the same request for the cheap model."""

    @property
    def used_cheap_model(self) -> bool:
        """True if the cheap model is used because a quota is nearly exhausted."""

    def finalize(self, model: str, spent: Usage) -> int | None:
        """Replace the reserved amount by the usage of the call; return its cost, if known."""

    def close(self, *, streamed: int = 0) -> None:
        """Release the amount unless finalized, after `streamed` characters of the answer."""


class Reserve(Protocol):
    """Sets aside the most that a model call may cost."""

    async def __call__(self, request: ModelRequest, *, cheap: str) -> Reservation:
        """Reserve. Waits for other calls if need be. Raises `QuotaExceeded` and `StoreError`."""
