"""Leave out of a transcript what a model server refuses, and what the stand-in answered."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.agent.compaction.client_results import join_results
from agent_core.agent.compaction.compacted_view import shorten
from agent_core.agent.prompt.visibility import read_reported
from agent_core.transcript import Message, TextPart, dump_parts, is_stood_in

LeftOutPart = Literal["results", "message", "earlier"]
"""What a note leaves out: the last calls with their results, the person's newest message, or
messages before it.
"""

_NOTE = re.compile(r"<facts>\nLeft out, ([0-9a-f]{16}) to ([0-9a-f]{16}): ")
_STOOD_IN = Message(role="assistant", parts=(TextPart(text="OK."),))
"""Stands for an answer of the stand-in in a turn that did something."""
_EXCHANGES = (1, 4, 1_000_000)
"""Exchanges before the newest message that the tries leave out, one number after the other."""
_WORDS: dict[LeftOutPart, str] = {
    "results": (
        "your last tool calls and their results are hidden from you, because the model's server"
        " refused them. The calls did run: don't repeat them. Say that you could not read what"
        " they returned, and answer as far as you can."
    ),
    "message": (
        "the person's newest message is hidden from you, because the model's server refused it."
        " Don't guess what it said. Tell them that you could not read it, and ask them to put it"
        " in other words or to leave out the file."
    ),
    "earlier": (
        "messages before the person's newest one are hidden from you, because the model's server"
        " refused something in them. Answer the newest message. If it refers to what is hidden,"
        " say that you can't see it any more, and ask."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A note that leaves a part out, for the model and for the transcript."""

    part: LeftOutPart
    note: Message


def show(messages: Sequence[Message], *, by_stand_in: bool = False) -> tuple[Message, ...]:
    """Return the messages as requests show them.

    The results of a program stand with their calls. Missing is what a note leaves out, and what
    the stand-in answered for want of a model, unless it is asked itself.
    """
    messages = join_results(messages)
    hidden = find_left_out(messages)
    shown = tuple(one for place, one in enumerate(messages) if place not in hidden)
    return shown if by_stand_in else _leave_out_stand_in(shown)


def _leave_out_stand_in(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages without turns in which the stand-in only talked.

    A model that reads "no model is connected" repeats it. In a turn with a call, a file or news,
    one neutral word takes the answer's place, so that the turn stays answered. What a compaction
    left in front of the turn stays.
    """
    shown: list[Message] = []
    start = 0
    for message in messages:
        if not is_stood_in(message):
            start += start == len(shown) and _is_added(message)
            shown.append(message)
        elif all(_is_only_words(one) for one in shown[start:]):
            del shown[start:]
        else:
            shown.append(_STOOD_IN)
        if message.role == "assistant" and not message.calls:
            start = len(shown)
    return tuple(shown)


def _is_added(message: Message) -> bool:
    """True for a message of Talaria's own, such as a summary or a plan."""
    facts = (isinstance(part, TextPart) and part.is_fact for part in message.parts)
    return message.role == "user" and all(facts)


def _is_only_words(message: Message) -> bool:
    """True for a person's message without a file, and without news in its facts."""
    is_text = all(isinstance(part, TextPart) for part in message.parts)
    return message.role == "user" and is_text and not read_reported((message,))


def find_left_out(messages: Sequence[Message]) -> frozenset[int]:
    """Return the places of the messages that a note in them leaves out.

    A note names them by their content, so it holds for a shortened transcript, too.
    """
    hidden: set[int] = set()
    for place, message in enumerate(messages):
        if found := _read(message):
            shown = [one for one in range(place) if one not in hidden]
            hidden.update(_find_span(messages, shown, *found))
    return frozenset(hidden)


def propose(messages: Sequence[Message], *, is_declined: bool) -> Iterator[LeftOut]:
    """Propose notes for the tries after a refusal: the newest part first, then what is before it.

    Proposes nothing for a first message: no request before it was accepted. A content filter's
    refusal of the newest message stands.
    """
    newest = len(messages)
    while newest and not (messages[newest - 1].role == "user" and messages[newest - 1].text):
        newest -= 1
    first = newest - 1
    last = messages[-1]
    if last.role == "tool" and len(messages) > 1:
        yield _leave_out("results", messages[-2:])
    elif first > 0 and not is_declined:
        yield _leave_out("message", messages[first:newest])
    starts = [at for at in range(max(first, 0)) if messages[at].role == "user"]
    given = 0
    for count in _EXCHANGES:
        if starts and given < len(starts):
            given = min(count, len(starts))
            yield _leave_out("earlier", messages[starts[-given] : first])


def is_note(message: Message) -> bool:
    """True for a note that leaves messages out."""
    return _read(message) is not None


def _leave_out(part: LeftOutPart, hidden: Sequence[Message]) -> LeftOut:
    span = f"{_digest(hidden[0])} to {_digest(hidden[-1])}"
    text = f"<facts>\nLeft out, {span}: {_WORDS[part]}\n</facts>"
    note = Message(role="user", parts=(TextPart(text=text, is_fact=True),))
    return LeftOut(part=part, note=note)


def _read(message: Message) -> tuple[str, str] | None:
    part = message.parts[0] if message.role == "user" and len(message.parts) == 1 else None
    if not isinstance(part, TextPart) or not part.is_fact:
        return None
    found = _NOTE.match(part.text)
    return (found[1], found[2]) if found else None


def _find_span(
    messages: Sequence[Message], shown: Sequence[int], first: str, last: str
) -> Sequence[int]:
    """Return the places from `first` to `last` among the `shown` ones, the newest such messages."""
    names = [_name(messages[place]) for place in shown]
    stop = next((at for at in reversed(range(len(names))) if last in names[at]), None)
    if stop is None:
        return ()
    start = next((at for at in range(stop, -1, -1) if first in names[at]), stop)
    return shown[start : stop + 1]


def _name(message: Message) -> frozenset[str]:
    """Return the digests that a note may hold of a message: older notes took it as it is."""
    return frozenset((_digest(message), _hash(message)))


def _digest(message: Message) -> str:
    """Return a digest that stays the same when a compaction shortens the message."""
    return _hash(shorten(shorten(message)))


def _hash(message: Message) -> str:
    said = f"{message.role}\n{dump_parts(message.parts)}"
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]
