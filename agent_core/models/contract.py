"""The contract of a model provider: stream one answer to one request."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol, runtime_checkable

from agent_core.models.profiles import ModelProfile
from agent_core.state.conversations.usage import TokenCounts
from agent_core.transcript import Message, ToolSpec, user_message

StopReason = Literal["end", "tools", "length", "pause", "refusal", "overflow", "unknown"]
"""Reason for an answer's end: complete; tool calls follow; output limit; must be sent back
unchanged to continue; declined; context window full; anything else.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(TokenCounts):
    """Token counts of one call."""

    @property
    def total_tokens(self) -> int:
        """The sum of input and output tokens."""
        return self.read_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """A program's wishes for how words are chosen and where they stop; unset leaves the default."""

    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    effort: str = ""
    """How much to think; replaces the provider's option of that name."""

    def list_set(self) -> dict[str, object]:
        """Return the wishes that are set, by their names."""
        return {name: value for name, value in asdict(self).items() if value not in (None, (), "")}

    def list_rendered(self) -> dict[str, object]:
        """Return the wishes that are set by their names in most APIs, without the effort."""
        return {name: value for name, value in self.list_set().items() if name != "effort"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A model call. `system` and `tools` are frozen and must stay byte-identical.

    `images` are the bytes of the images to show, by the keys of their parts. If an image is missing
    or not supported, the model reads a note instead. `caches_messages` is False if no later request
    begins with these messages: writing them to the cache costs extra. `shape` is whatever else
    shapes the bytes of the request; see `agent_core.models.shapes`. A provider adds its dialect.

    `response_schema` is a JSON schema, as JSON text, that the answer's text has to fit; a server
    that can't force it is asked in words. `tool_choice` is "required" or the name of a tool to call
    first; otherwise the model chooses. `is_background` means that nobody waits for the answer, so
    that a server of this machine may let people go first. `has_client_tools` is True if a program
    brought some of the tools.
    """

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_output_tokens: int
    images: Mapping[str, bytes] = field(default_factory=dict)
    caches_messages: bool = True
    shape: str = ""
    response_schema: str | None = None
    sampling: Sampling = Sampling()
    tool_choice: str = ""
    is_background: bool = False
    has_client_tools: bool = False


def make_question(
    model: str, system: str, text: str, *, tools: tuple[ToolSpec, ...] = (), most_tokens: int
) -> ModelRequest:
    """Return the request of a single question, which no conversation continues."""
    return ModelRequest(
        model=model,
        system=system,
        tools=tools,
        messages=(user_message(text),),
        max_output_tokens=most_tokens,
        caches_messages=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer's text, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The identity of a request: SHA-256 in hex, the requested model, the limit in tokens, and the
    request's shape.
    """

    hash: str
    model: str
    output_limit: int
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The whole answer; always the last item of a stream.

    The calls in `message` are complete and may run only with `stop == "tools"`. `model` is the name
    that answered. `refusal` is the provider's category of a refusal, if any. `shape` is that of the
    request as it was sent, "" if the provider added nothing to it. The caller sets `fingerprint`
    and `micro_dollars`, not the provider; the cost is None without a known price.
    """

    message: Message
    stop: StopReason
    usage: Usage
    model: str
    refusal: str = ""
    shape: str = field(default="", compare=False)
    fingerprint: Fingerprint | None = field(default=None, compare=False)
    micro_dollars: int | None = field(default=None, compare=False)


class Model(Protocol):
    """A model provider."""

    @property
    def provider(self) -> str:
        """The name of the provider's package; raw parts carry it."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call once, without retries.

        Raises any `ModelError`. Closing or cancelling the iterator ends the call.
        """

    async def check(self, model: str) -> None:
        """Verify key and model with the provider. Raises any `ModelError`."""

    async def close(self) -> None:
        """Close connections."""


@runtime_checkable
class HasProfiles(Protocol):
    """Optional ability: tell what is known of a model."""

    def profile(self, model: str) -> ModelProfile:
        """Return what is known of a model at this provider's server, now."""


@runtime_checkable
class LoadsModels(Protocol):
    """Optional ability: a server that loads a model when it is first asked, and can be warmed."""

    def is_loaded(self, model: str) -> bool:
        """Return whether a model has answered already; before, its server may be loading it."""

    async def keep_warm(self, first: ModelRequest | None) -> None:
        """Let the server read the newest conversation whenever it may have forgotten it.

        `first` is read before anybody writes. Runs until cancelled.
        """

    def forget(self) -> None:
        """Forget the newest conversation, because personal data was removed."""


@runtime_checkable
class CountsTokens(Protocol):
    """Optional ability: count a request's tokens before it is made, free of charge."""

    async def count(self, request: ModelRequest) -> int | None:
        """Return the input tokens; None if they can't be counted. Raises any `ModelError`."""


@runtime_checkable
class Prepares(Protocol):
    """Optional ability: load the code for a call before the first call."""

    def prepare(self) -> None:
        """Begin to load it on a thread; the first call reports any failure."""


@runtime_checkable
class Batches(Protocol):
    """Optional ability: answer a request within a day, at half the price.

    A `mark` is the caller's own name for a request: at most 64 letters, digits, `-` and `_`.
    """

    async def submit(self, request: ModelRequest, mark: str) -> str | None:
        """Submit a request; return its batch id, None if its model does not support batches.

        Raises any `ModelError`. After `ModelBusy`, the request may have arrived: see `find_batch`.
        """

    async def find_batch(self, model: str, mark: str, since: int) -> str | None:
        """Find the batch of a request that may have been submitted, at `since` or later.

        `since` is in milliseconds since the epoch. Raises `ModelBusy` while this is uncertain.
        """

    async def collect(self, model: str, batch_id: str, mark: str) -> ModelAnswer | None:
        """Return the answer; None while there is none yet.

        Raises `ModelRejected` if there will be none: it failed, expired or was cancelled.
        """

    async def cancel(self, model: str, batch_id: str) -> None:
        """Cancel a batch. Raises any `ModelError`."""
