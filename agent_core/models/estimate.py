"""Estimates tokens where no provider counts them: four characters are a token; pure."""

from collections.abc import Collection

from agent_core.models.contract import ModelRequest, Usage
from agent_core.models.images import IMAGE_TOKENS, UNSEEN
from agent_core.transcript import ImagePart, Message, Part, RawPart, TextPart, ToolCallPart

_CHARACTERS = 4


def estimate_usage(request: ModelRequest, answer: Message) -> Usage:
    """What a call would about have cost in tokens; nothing is cached."""
    return Usage(
        input_tokens=estimate_input(request),
        output_tokens=-(-_measure(answer, ()) // _CHARACTERS),
    )


def estimate_input(request: ModelRequest) -> int:
    """How many tokens a request about is."""
    sent = len(request.system)
    sent += sum(len(tool.name) + len(tool.description) + len(tool.schema) for tool in request.tools)
    sent += sum(_measure(message, request.images) for message in request.messages)
    return -(-sent // _CHARACTERS)


def _measure(message: Message, shown: Collection[str]) -> int:
    return sum(_length(part, shown) for part in message.parts)


def _length(part: Part, shown: Collection[str]) -> int:
    if isinstance(part, ImagePart):
        return IMAGE_TOKENS * _CHARACTERS if part.file_key in shown else len(UNSEEN)
    if isinstance(part, ToolCallPart):
        return len(part.name) + len(part.arguments)
    if isinstance(part, RawPart):
        return len(part.payload)
    return len(part.text) if isinstance(part, TextPart) else len(part.name) + len(part.text)
