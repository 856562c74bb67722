"""Word the loop's own messages, and check those of the model."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent_core.agent.budget import Exhausted
from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelMisplaced,
    ModelOverflow,
    ModelUnknown,
    ModelUnreachable,
)
from agent_core.ids import CallId
from agent_core.models.contract import StopReason
from agent_core.transcript import Message, Part, TextPart, ToolCallPart


def strip_calls(message: Message) -> Message:
    """Remove calls that are not run, and the provider's own blocks that belong to the calls."""
    if not message.calls:
        return message
    texts = tuple(part for part in message.parts if isinstance(part, TextPart))
    return replace(message, parts=texts)


def has_visible_text(text: str) -> bool:
    """True if a screen would show anything of a text."""
    return any(not letter.isspace() and unicodedata.category(letter) != "Cf" for letter in text)


def is_answer(message: Message) -> bool:
    """True for a message of the model that ends a turn.

    An answer that was only paused ends with a call or a provider's own block.
    """
    if message.role != "assistant" or message.calls or not message.parts:
        return False
    return isinstance(message.parts[-1], TextPart) and has_visible_text(message.text)


def list_call_ids(messages: Iterable[Message]) -> set[CallId]:
    """The ids of all calls in a transcript."""
    return {
        part.call_id
        for message in messages
        if message.role == "assistant"
        for part in message.parts
        if isinstance(part, ToolCallPart)
    }


def make_call_ids_unique(message: Message, taken: set[CallId]) -> Message:
    """Replace call ids that are empty, duplicate or `taken`; adds the ids to `taken`.

    Some OpenAI-compatible servers restart their count in every answer, or send no id at all.
    Results are stored by id, and some providers refuse a request with a duplicate id.
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


def join_answers(answers: Sequence[str]) -> str:
    """Join the answers of one turn into one text."""
    return "\n\n".join(answers)


_FAILURES: tuple[tuple[type[ModelError], str], ...] = (
    (ModelUnreachable, "model_unreachable"),
    (ModelBusy, "model_busy"),
    (ModelInterrupted, "model_cut"),
    (ModelOverflow, "overflow"),
    (ModelMisplaced, "model_misplaced"),
    (ModelUnknown, "model_unknown"),
    (ModelDenied, "model_denied"),
    (ModelError, "model_rejected"),
)
INCOMPLETE_REASONS: dict[StopReason, str] = {"length": "length", "unknown": "unknown_stop"}
"""Reasons of an ending whose answer may be incomplete."""


def describe_failure(error: ModelError) -> str:
    """The ending's reason for a failed model call."""
    return next(reason for kind, reason in _FAILURES if isinstance(error, kind))


UNKNOWN_OUTCOME = (
    "It is not known whether this call took effect: the process ended while it ran."
    " Check before repeating it."
)
"""The result of a call that a crash interrupted and that is not safe to repeat."""

_LIMITS: dict[Exhausted, str] = {
    "steps": "This turn has reached the number of steps it may take.",
    "tokens": "This turn has reached the number of tokens it may use.",
    "money": "This turn has reached the money it may cost.",
    "time": "This turn has reached the time it may take.",
}


def ask_for_summary(limit: Exhausted, circle: str) -> Message:
    """Ask for a last answer without tools; `circle` names the call that made no progress."""
    why = circle or _LIMITS[limit]
    return _fact(
        f"{why} No tool is run any more in this turn. Tell the person in a few sentences what"
        " was done, what is left, and how to go on."
    )


def ask_for_answer() -> Message:
    """Ask again after an answer without text."""
    return _fact("Your answer held no words. Answer the person now.")


def ask_for_tools(names: Sequence[str]) -> Message:
    """Ask for the calls that a rule requires before the end of a turn."""
    listed = " and ".join(f"`{name}`" for name in names)
    return _fact(f"Before this turn ends, {listed} must run. Call it now, then answer once more.")


def state_facts(lines: Sequence[str]) -> Message:
    """State what has changed while the turn runs."""
    return _fact("\n".join(lines))


def _fact(sentence: str) -> Message:
    text = f"<facts>\n{sentence}\n</facts>"
    return Message(role="user", parts=(TextPart(text=text, is_fact=True),))
