"""Put the results that a program sent where the model expects them: behind their calls; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.ids import CallId
from agent_core.tools.client_tools import is_passed
from agent_core.transcript import Message, Part, TextPart, ToolResultPart


def join_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with each result in the tool message that answers its call.

    A program sends its results with a later message. Those whose calls are no longer shown stay
    there, as facts.
    """
    sent = {
        part.call_id: part
        for message in messages
        if message.role == "user"
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    if not sent:
        return tuple(messages)
    joined: set[CallId] = set()
    shown = []
    for message in messages:
        if message.role == "tool":
            message = _fill(message, sent, joined)  # noqa: PLW2901 - the same message, filled
        elif message.role == "user":
            parts = tuple(kept for part in message.parts if (kept := _keep(part, joined)))
            if not parts and message.parts:
                continue
            message = replace(message, parts=parts)  # noqa: PLW2901
        shown.append(message)
    return tuple(shown)


def _fill(message: Message, sent: Mapping[CallId, ToolResultPart], joined: set[CallId]) -> Message:
    """Return a tool message with the results that were sent; notes them in `joined`."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResultPart) and is_passed(part) and part.call_id in sent:
            joined.add(part.call_id)
            parts.append(replace(sent[part.call_id], name=part.name))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))


def _keep(part: Part, joined: set[CallId]) -> Part | None:
    """Return a part of a user message as it is shown; None for a result shown elsewhere."""
    if not isinstance(part, ToolResultPart):
        return part
    if part.call_id in joined:
        return None
    lines = "\n".join(f"| {line}" for line in part.text.splitlines())
    text = (
        f"<from-program>\nThe result of an earlier call, which ran there:\n{lines}\n</from-program>"
    )
    return TextPart(text=text, is_fact=True)
