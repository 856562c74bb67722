"""Estimates tokens where no provider counts them, by the bytes of a text; pure."""

from collections.abc import Collection, Iterable
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
