"""Estimates tokens where no provider counts them, by the bytes of a text; pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.images import IMAGE_TOKENS, UNSEEN
from agent_core.transcript import (
    ImagePart,
    Message,
    Part,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolSpec,
)

_EIGHTHS = 8
"""Tokens are summed up in eighths: a character is two of them, four characters a token."""
_EXTRA = 3
"""Eighths for each byte of UTF-8 beyond one a character: a Chinese character, of three bytes,
is a token then, and a Cyrillic one, of two, five eighths."""


def estimate_usage(request: ModelRequest, answer: Message) -> Usage:
    """What a call would about have cost in tokens; nothing is cached."""
    return Usage(
        input_tokens=estimate_input(request),
        output_tokens=estimate_messages((answer,), ()),
    )


def estimate_input(request: ModelRequest) -> int:
    """How many tokens a request about is."""
    sent = _measure_frozen(request.system, request.tools)
    sent += _measure(request.messages, request.images)
    return -(-sent // _EIGHTHS)


def estimate_messages(messages: Iterable[Message], shown: Collection[str]) -> int:
    """How many tokens messages about are; `shown` are the keys of pictures that are shown."""
    return -(-_measure(messages, shown) // _EIGHTHS)


@lru_cache(maxsize=64)
def _measure_frozen(system: str, tools: tuple[ToolSpec, ...]) -> int:
    """Eighths of tokens of what comes again in every call of a talk."""
    return _size(system) + sum(
        _size(tool.name) + _size(tool.description) + _size(tool.schema) for tool in tools
    )


def _measure(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Eighths of tokens. Words come first: this runs over the whole talk before every call."""
    size = 0
    for message in messages:
        for part in message.parts:
            if type(part) is TextPart:
                text = part.text
                size += 2 * len(text) if text.isascii() else _size(text)
            else:
                size += _length(part, shown)
    return size


def _length(part: Part, shown: Collection[str]) -> int:
    if isinstance(part, ImagePart):
        return IMAGE_TOKENS * _EIGHTHS if part.file_key in shown else _size(UNSEEN)
    if isinstance(part, ToolCallPart):
        return _size(part.name) + _size(part.arguments)
    if isinstance(part, RawPart):
        return _size(part.payload)
    return _size(part.text) + (0 if isinstance(part, TextPart) else _size(part.name))


def _size(text: str) -> int:
    size = 2 * len(text)
    if text.isascii():
        return size
    return size + _EXTRA * (len(text.encode(errors="surrogatepass")) - len(text))


AS_OF = "2026-11-21"
SOURCE = "the descriptions that the providers gave of their models, as known on `AS_OF`"

WINDOWS: Mapping[str, int] = {
    "claude-opus-5-5": 1_000_000,
    "claude-sonnet-5-5": 1_000_000,
    "claude-haiku-5-5": 1_000_000,
    "claude-fable-5-2": 1_000_000,
    "gpt-5-mini": 400_000,
    "gpt-5": 400_000,
    "stand-in": 1_000_000,
}
"""Tokens of input and answer together."""

UNKNOWN = 128_000
"""What is assumed of a model that is not listed. One that reads less says so when it is asked,
and the talk is made shorter then."""

_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


def find_window(model: str) -> int:
    """How many tokens a model, whose name may carry a release date, takes in one call."""
    return WINDOWS.get(model) or WINDOWS.get(_DATE.sub("", model), UNKNOWN)
