"""What a transcript takes of a model's answer."""

import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from agent_core.ids import CallId
from agent_core.transcript import Message, Part, TextPart, ToolCallPart


def strip_calls(message: Message) -> Message:
    """An answer whose calls are not run. Without them only its words can stand: a
    provider's own blocks belong to the calls after them.
    """
    if not message.calls:
        return message
    words = tuple(part for part in message.parts if isinstance(part, TextPart))
    return replace(message, parts=words)


def shows_words(text: str) -> bool:
    """True if there is something in a text that a screen would show."""
    return any(not letter.isspace() and unicodedata.category(letter) != "Cf" for letter in text)


def is_answer(message: Message) -> bool:
    """True for words of the model that end a turn.

    An answer that was only paused has a call or a provider's own block at its end.
    """
    if message.role != "assistant" or message.calls or not message.parts:
        return False
    return isinstance(message.parts[-1], TextPart) and shows_words(message.text)


def list_call_ids(messages: Iterable[Message]) -> set[CallId]:
    """The ids of all calls in a transcript."""
    return {
        part.call_id
        for message in messages
        if message.role == "assistant"
        for part in message.parts
        if isinstance(part, ToolCallPart)
    }


def name_calls_apart(message: Message, taken: set[CallId]) -> Message:
    """The message with no call id that is empty, used twice or `taken`; adds its ids to that.

    Some servers count calls anew in every answer, or give no id. Results are kept by id,
    and a request with one id twice is refused by some providers.
    """
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            name, number = part.call_id, 1
            while not name or name in taken:
                number += 1
                name = CallId(f"{part.call_id or 'call'}-{number}")
            taken.add(name)
            parts.append(part if name == part.call_id else replace(part, call_id=name))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))
