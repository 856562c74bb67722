"""What is left of a message whose words are gone; pure."""

from agent_core.transcript import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


def bury(message: Message, mark: str) -> tuple[Part, ...]:
    """The parts that stay: the mark instead of all words and files, and calls and results
    without what is in them, for a provider takes no call without its result.
    """
    calls = tuple(
        ToolCallPart(call_id=call.call_id, name=call.name, arguments="{}") for call in message.calls
    )
    results = tuple(
        ToolResultPart(call_id=part.call_id, name=part.name, text=mark, is_error=part.is_error)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    )
    words = () if results else (TextPart(text=mark),)
    return (*words, *calls, *results)
