"""Keeps what a watcher shows in step with what of the answer still stands."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent_core.agent.loop.guards import Exhausted
from agent_core.errors import (
    ModelBusy,
    ModelCut,
    ModelDenied,
    ModelError,
    ModelOverflow,
    ModelUnknown,
    QuotaExceeded,
)
from agent_core.events import ReachedQuota, TextGrew, TextReset
from agent_core.ids import CallId
from agent_core.models.contract import StopReason
from agent_core.transcript import Message, Part, TextPart, ToolCallPart


def strip_calls(message: Message) -> Message:
    """An answer whose calls are not run. Without them only its words can stand: a
    provider's own blocks belong to the calls after them.
    """
    if not message.calls:
        return message
    words = tuple(part for part in message.parts if isinstance(part, TextPart))
    return replace(message, parts=words)


def has_visible_text(text: str) -> bool:
    """True if there is something in a text that a screen would show."""
    return any(not letter.isspace() and unicodedata.category(letter) != "Cf" for letter in text)


def is_answer(message: Message) -> bool:
    """True for words of the model that end a turn.

    An answer that was only paused has a call or a provider's own block at its end.
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


def join_answers(answers: Sequence[str]) -> str:
    """Answers of one turn as one text."""
    return "\n\n".join(answers)


class Display:
    """What a watcher sees of one turn: the answers given so far, then the text of now."""

    def __init__(self, answers: Sequence[str]) -> None:
        """`answers` are those of an earlier process, which nobody has been shown yet."""
        self._kept = "".join(f"{answer}\n\n" for answer in answers)
        self._lead = self._kept
        """Text that has to come before the next text."""
        self._is_stale = False
        """What is on display has to go before the next text."""
        self._is_empty = True
        self._has_text = False
        """The present call has put text on display."""

    def grow(self, delta: str) -> Sequence[TextReset | TextGrew]:
        """More text of the present call."""
        self._has_text, self._is_empty = True, False
        if not (self._is_stale or self._lead):
            return (TextGrew(delta=delta),)
        events: list[TextReset | TextGrew] = [TextReset()] if self._is_stale else []
        if self._lead:
            events.append(TextGrew(delta=self._lead))
        events.append(TextGrew(delta=delta))
        self._is_stale, self._lead = False, ""
        return events

    def wipe(self) -> Sequence[TextReset]:
        """The text of the present call is void: it goes now."""
        if not self._has_text:
            return ()
        self._has_text, self._is_empty, self._lead = False, True, self._kept
        return (TextReset(),)

    def outdate(self) -> None:
        """The text of the present call was interim: it goes when the next text comes."""
        if self._has_text:
            self._has_text, self._is_stale, self._lead = False, True, self._kept

    def keep(self, answer: str) -> None:
        """The text of the present call is an answer, and there is more to come after it."""
        self._kept += f"{answer}\n\n"
        if self._has_text:
            self._lead = "\n\n"
        else:  # it came whole at the end of its stream and was never on display
            self._lead, self._is_stale = self._kept, not self._is_empty
        self._has_text = False


_FAILURES: tuple[tuple[type[ModelError], str], ...] = (
    (ModelBusy, "model_busy"),
    (ModelCut, "model_cut"),
    (ModelOverflow, "overflow"),
    (ModelUnknown, "model_unknown"),
    (ModelDenied, "model_denied"),
    (ModelError, "model_rejected"),
)
INCOMPLETE_REASONS: dict[StopReason, str] = {"length": "length", "unknown": "unknown_stop"}
"""Why an answer may not be whole, as an ending's reason."""


def describe_failure(error: ModelError) -> str:
    """What a model call ended in, as an ending's reason."""
    return next(word for kind, word in _FAILURES if isinstance(error, kind))


def describe_quota(reached: QuotaExceeded) -> ReachedQuota:
    """The ceiling that has no room for a turn any more."""
    return ReachedQuota(
        subject=reached.subject,
        unit=reached.unit,
        limit=reached.limit,
        resets_at=reached.resets_at,
    )


UNKNOWN_OUTCOME = (
    "It is not known whether this call took effect: the process ended while it ran."
    " Check before repeating it."
)
"""The result of a call that a crash cut off and that must not simply be made again."""

_LIMITS: dict[Exhausted, str] = {
    "steps": "This turn has reached the number of steps it may take.",
    "tokens": "This turn has reached the number of tokens it may use.",
    "money": "This turn has reached the money it may cost.",
    "time": "This turn has reached the time it may take.",
}


def ask_for_summary(limit: Exhausted, circle: str) -> Message:
    """What leads the last call of a turn that has to end; `circle` says what went in circles."""
    why = circle or _LIMITS[limit]
    return _fact(
        f"{why} No tool is run any more in this turn. Tell the person in a few sentences what"
        " was done, what is left, and how to go on."
    )


def ask_for_answer() -> Message:
    """What follows an answer without words."""
    return _fact("Your answer held no words. Answer the person now.")


def _fact(sentence: str) -> Message:
    text = f"<facts>\n{sentence}\n</facts>"
    return Message(role="user", parts=(TextPart(text=text, is_fact=True),))
