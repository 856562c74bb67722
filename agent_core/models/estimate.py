"""Estimates tokens where no provider counts them: four characters are a token; pure."""

from agent_core.models.contract import ModelRequest, Usage
from agent_core.transcript import Message, Part, RawPart, TextPart, ToolCallPart


def estimate_usage(request: ModelRequest, answer: Message) -> Usage:
    """What a call would about have cost in tokens; nothing is cached."""
    sent = len(request.system)
    sent += sum(len(tool.name + tool.description + tool.schema) for tool in request.tools)
    sent += sum(_measure(message) for message in request.messages)
    return Usage(input_tokens=-(-sent // 4), output_tokens=-(-_measure(answer) // 4))


def _measure(message: Message) -> int:
    return sum(_length(part) for part in message.parts)


def _length(part: Part) -> int:
    if isinstance(part, ToolCallPart):
        return len(part.name) + len(part.arguments)
    if isinstance(part, RawPart):
        return len(part.payload)
    return len(part.text) if isinstance(part, TextPart) else len(part.name) + len(part.text)
