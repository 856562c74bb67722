"""Leave out the part of a transcript that a model server refuses."""

import hashlib
import re
from collections.abc import Iterator, Sequence

from agent_core.agent.loop.client_results import join_results
from agent_core.transcript import Message, TextPart, dump_parts

_NOTE = re.compile(r"<facts>\nLeft out, ([0-9a-f]{16}) to ([0-9a-f]{16}): ")
_EXCHANGES = (1, 4, 1_000_000)
"""Exchanges before the newest message that the tries leave out, one number after the other."""


def show(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages as requests show them.

    The results of a program stand with their calls. Missing is what a note leaves out, which names
    the messages by their content, so it holds for a shortened transcript, too.
    """
    messages = join_results(messages)
    shown = list(messages)
    for note in messages:
        if found := _read(note):
            _remove(shown, shown.index(note), *found)
    return tuple(shown)


def propose(messages: Sequence[Message], *, is_declined: bool) -> Iterator[Message]:
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
        yield _note(messages[-2:], "your last tool calls with their results. Don't repeat them")
    elif first > 0 and not is_declined:
        yield _note(messages[first:newest], "the person's newest message. Tell them so")
    starts = [at for at in range(max(first, 0)) if messages[at].role == "user"]
    given = 0
    for count in _EXCHANGES:
        if starts and given < len(starts):
            given = min(count, len(starts))
            what = "messages before the person's newest message. Earlier answers may be missing"
            yield _note(messages[starts[-given] : first], what)


def is_note(message: Message) -> bool:
    """True for a note that leaves messages out."""
    return _read(message) is not None


def _note(hidden: Sequence[Message], what: str) -> Message:
    text = (
        f"<facts>\nLeft out, {_digest(hidden[0])} to {_digest(hidden[-1])}: the model's server"
        f" refused {what}.\n</facts>"
    )
    return Message(role="user", parts=(TextPart(text=text, is_fact=True),))


def _read(message: Message) -> tuple[str, str] | None:
    part = message.parts[0] if message.role == "user" and len(message.parts) == 1 else None
    if not isinstance(part, TextPart) or not part.is_fact:
        return None
    found = _NOTE.match(part.text)
    return (found[1], found[2]) if found else None


def _remove(shown: list[Message], end: int, first: str, last: str) -> None:
    """Remove the messages from `first` to `last`, which are before `end`."""
    digests = [_digest(message) for message in shown[:end]]
    if last not in digests:
        return
    stop = len(digests) - digests[::-1].index(last)
    before = digests[:stop]
    start = stop - 1 - before[::-1].index(first) if first in before else stop - 1
    del shown[start:stop]


def _digest(message: Message) -> str:
    said = f"{message.role}\n{dump_parts(message.parts)}"
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]
