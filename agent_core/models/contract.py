"""What a model provider must do: stream one answer to one request."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from agent_core.transcript import Message, ToolSpec

StopReason = Literal["end", "tools", "length", "pause", "refusal", "overflow", "unknown"]
"""Why an answer ended: done, tool calls follow, cut by the output limit, to be sent back
unchanged and continued, declined by the model, no room left in the window, anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call. The four numbers are disjoint: their sum is what was processed."""

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def read_tokens(self) -> int:
        """The whole input, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.read_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call. `system` and `tools` are the frozen part and must stay byte-identical.

    `images` are the bytes of the pictures to show, by the keys of their parts. In the place of
    one that is not in it, or that a model can't take, the model reads that it can't be shown.
    """

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    max_output_tokens: int
    images: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer's text, as it arrives."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What a request was made of, so that a rebuilt one can be held against it.

    `hash` is SHA-256 in hex, see `agent_core.models.fingerprint`; `model` is the name that was
    asked; the answer could be `output_limit` tokens long.
    """

    hash: str
    model: str
    output_limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The whole answer; always the last thing a stream gives.

    Only with `stop == "tools"` are the calls in `message` whole and may be run. `model` is
    the name that answered. `refusal` is the provider's category of a refusal, if it names one.
    `asked` is set by whoever made the call, not by the provider.
    """

    message: Message
    stop: StopReason
    usage: Usage
    model: str
    refusal: str = ""
    fingerprint: Fingerprint | None = field(default=None, compare=False)


class Model(Protocol):
    """A provider."""

    @property
    def provider(self) -> str:
        """The folder's name; also the mark on raw parts."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Make the call. Makes no retries of its own.

        Raises any `ModelError`. Closing or cancelling the iterator ends the call.
        """

    async def check(self, model: str) -> None:
        """Ask the provider whether key and model are good. Raises any `ModelError`."""

    async def close(self) -> None:
        """Let go of connections."""


@runtime_checkable
class CountsTokens(Protocol):
    """What a provider may do besides: tell how long a request is, before it is made."""

    async def count(self, request: ModelRequest) -> int:
        """The tokens of a request's input; costs nothing. Raises any `ModelError`."""
