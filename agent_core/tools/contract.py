"""The contract of a tool: its spec, the effect of repeating a call, and `run`."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from agent_core.ids import CallId, ConversationId, PersonId, TurnId
from agent_core.state.people.people import PersonKind
from agent_core.tools.delegated_tasks import Helpers
from agent_core.tools.own_words.contract import NO_WORDS, OwnWords
from agent_core.transcript import ImagePart, Receipt, ToolCallPart, ToolSpec, UntrustedSource

Effect = Literal["read", "idempotent", "unsafe"]
"""Effect of repeating a call after a crash: none, the same result again, or harm."""

Cost = Literal["free", "time", "money"]
"""Cost of a call: nothing, because it is local and quick; time; or money for a paid service."""

RESULT_LIMIT = 20_000
"""Characters of one result that the model reads; about 5,000 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Properties of a tool besides its spec and its effect; the defaults fit most tools.

    A step with only `free` calls does not count towards the turn's budget. `time_limit` is in
    seconds; None means the toolbox's limit. With `waits_for_person`, waiting for a person costs the
    turn no time. `output_limit` is in characters: the rest of a longer result goes to a file.
    `is_untrusted` marks every result as untrusted; a tool that knows better names the `sources` of
    each result instead. With `has_receipts`, a result without a receipt changed nothing.
    """

    cost: Cost = "time"
    time_limit: float | None = None
    output_limit: int = RESULT_LIMIT
    is_untrusted: bool = False
    waits_for_person: bool = False
    has_receipts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOwner:
    """The owner of the memory that a conversation may change. `slug` names its folder.

    `blocks` are the labels of the blocks that may be changed here; None means every visible block.
    With `only_blocks`, nothing else may be changed.
    """

    person_id: PersonId
    slug: str
    kind: PersonKind = "human"
    blocks: tuple[str, ...] | None = None
    only_blocks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The person and the place of a call. Identity is always an argument, never global."""

    person_id: PersonId
    """The person who asks and pays."""
    owner_id: PersonId
    """The owner of the transcript: the same person, or a room that shares one."""
    memory_owner: MemoryOwner | None
    """The owner of the memory that may be changed here; None in a room that is still unknown."""
    conversation_id: ConversationId
    scope: str
    """The search scope of this conversation; see `state.search`."""
    turn_id: TurnId
    call_id: CallId
    now: int
    """Start of the call in milliseconds since the epoch, UTC."""
    evidence: str
    """The person's messages in this turn, as evidence for what is saved."""
    sources: tuple[UntrustedSource, ...] = ()
    """The untrusted sources whose words the model has read before this call."""
    own_words: Callable[[], OwnWords] = lambda: NO_WORDS
    """Finds what the person typed or spoke just now. After words of others, a change that these
    words state is made at once.
    """
    is_accepted: bool = False
    """True if a person has accepted exactly this call, so it needs no further confirmation."""
    is_offline: bool = False
    """True if a command of this call gets no network, because untrusted words may steer it."""
    is_from_code: bool = False
    """True if the code that `execute_code` runs makes the call."""
    helpers: Callable[[], Helpers] | None = None
    """Makes the runner of helpers for this turn; None if the turn may not have helpers."""
    call_tool: "CallTool | None" = None
    """Runs calls that code makes; None if no code can run, and for calls that code itself made."""
    show_plan: Callable[[int, int, str], None] = lambda number, total, title: None
    """Shows the current step of the plan in the status line; see `Host.show_plan`."""
    show_progress: Callable[[str], None] = lambda note: None
    """Shows a note on this call in the status line; see `Host.show_progress`."""
    pause: Callable[[], AbstractContextManager[None]] = nullcontext
    """Surrounds a wait for a person; that time does not count towards the turn's limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """Text, pictures and PDF files for the model. An error is a result, too, never an exception.

    `sources` names the origins of untrusted text in it; it is empty if Talaria wrote all of it.
    `image_data` holds the bytes of new `images` by key; they are stored together with the result.
    `pdf_text` is the whole text of the PDF files; `text` may hold only a part. No model sees it.
    `receipts` are what the call changed, for the person; empty if nothing changed.
    `due_at` is the time of a reminder that came too late to be set, in milliseconds.
    """

    text: str
    is_error: bool = False
    sources: tuple[UntrustedSource, ...] = ()
    images: tuple[ImagePart, ...] = ()
    image_data: Mapping[str, bytes] = field(default_factory=dict)
    pdf_text: str = ""
    receipts: tuple[Receipt, ...] = ()
    due_at: int | None = None


Pause = Callable[[], AbstractAsyncContextManager[None]]
"""Surrounds a wait before a call runs: the call is on disk before, and the turn's clock stops."""
CallTool = Callable[[ToolCallPart, tuple[UntrustedSource, ...]], Awaitable[ToolResult]]
"""Runs a tool call that the model's code makes, as a step of its own. The sources are those that
the code has read so far. Raises `QuestionPending`.
"""


class Tool(Protocol):
    """A tool that the model may call."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and schema; constant while the process runs."""

    @property
    def effect(self) -> Effect:
        """The effect of repeating a call."""

    @property
    def declaration(self) -> Declaration:
        """Cost, limits and trust of a call."""

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Run the tool. `arguments` fit the schema.

        Raises `ToolArgumentError` for faults that a schema can't express. May wait. Must tolerate
        cancellation at any await without leaving a partial effect.
        """


@runtime_checkable
class Proposable(Protocol):
    """A tool that changes stored state: after untrusted words, its calls are only proposed."""

    async def preview(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> str | ToolResult:
        """Describe the exact change of a call for the person who decides; change nothing.

        Return "" for a call that may run at once, because it changes nothing or asks by itself.
        Return a `ToolResult` for a call that can't succeed. Raises what `run` raises.
        """


@runtime_checkable
class HoldsPlace(Protocol):
    """A tool whose calls wait for a free place before they run."""

    def hold_place(
        self, arguments: Mapping[str, object], context: ToolContext, pause: Pause
    ) -> AbstractAsyncContextManager[None]:
        """Hold a place for a call; `pause` surrounds the wait, if there is one.

        The call begins afterwards, and only then its time limit. Raises nothing.
        """
