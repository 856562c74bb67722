"""Estimated tokens of requests and answers."""

from collections.abc import Collection, Iterable
from functools import lru_cache

from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.images import UNSEEN, UNSEEN_PDF, list_shown
from agent_core.transcript import (
    ImagePart,
    Message,
    Part,
    PdfPart,
    RawPart,
    TextPart,
    ToolCallPart,
    ToolSpec,
)

IMAGE_TOKENS = 1600
"""Approximate tokens of the largest image; Anthropic scales larger ones down."""
PAGE_TOKENS = 3000
"""Approximate tokens of a page; models get it as text and as a picture (PDF support guide)."""
_EIGHTHS = 8
"""Tokens are summed in eighths: a character counts two eighths, so four characters are a token."""
_EXTRA = 3
"""Eighths for each further UTF-8 byte of a character. A three-byte Chinese character counts as a
token, a two-byte Cyrillic one as five eighths.
"""


def estimate_usage(request: ModelRequest, answer: Message) -> Usage:
    """Estimate the usage of a call without any caching."""
    return Usage(
        input_tokens=estimate_input(request),
        output_tokens=estimate_messages((answer,), ()),
    )


def estimate_input(request: ModelRequest) -> int:
    """Estimate the input tokens of a request."""
    sent = _measure_frozen(request.system, request.tools)
    shown = list_shown(request.model, request.images.keys(), request.messages)
    sent += _measure(request.messages, shown)
    return -(-sent // _EIGHTHS)


def estimate_messages(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Estimate the tokens of messages; `shown` are the keys of the images that are sent."""
    return -(-_measure(messages, shown) // _EIGHTHS)


@lru_cache(maxsize=64)
def _measure_frozen(system: str, tools: tuple[ToolSpec, ...]) -> int:
    """Return the eighths of tokens in the parts that every call of a conversation repeats."""
    return _size(system) + sum(
        _size(tool.name) + _size(tool.description) + _size(tool.schema) for tool in tools
    )


def _measure(messages: Iterable[Message], shown: Collection[str]) -> int:
    """Return the eighths of tokens in messages.

    Text is checked first, because this runs over the whole transcript before every call.
    """
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
    if isinstance(part, PdfPart):
        return part.pages * PAGE_TOKENS * _EIGHTHS if part.file_key in shown else _size(UNSEEN_PDF)
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
