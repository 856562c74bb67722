"""Take the messages of a turn apart, so that each wish is decided by itself; pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.agent.guided.transcript import PROVIDER
from agent_core.transcript import Message, Part, RawPart, ToolCallPart, ToolResultPart

_FEWEST = 3
"""Words of a wish that stands for itself; a shorter message belongs to the one after it."""
_OF = "of"
"""The field of a note that says to which wish of the turn it belongs."""
SAID = "said"
"""The field of a note that holds the words which answer a wish, until the turn ends."""


def split_wishes(messages: Sequence[Message]) -> dict[int, tuple[Message, ...]]:
    """Return a transcript for each wish of the present turn, which ends as if it were the newest.

    A wish sees everything before it, and after it only what was done for it. Its number is that of
    its message in the turn.
    """
    ends = (at + 1 for at in reversed(range(len(messages))) if _ends_turn(messages[at]))
    start = next(ends, 0)
    said = [at for at in range(start, len(messages)) if _is_said(messages[at])]
    return {
        number: (*messages[: at + 1], *_keep_own(messages[at + 1 :], number))
        for number, at in enumerate(said)
        if at == said[-1]
        or len(messages[at].text.split()) >= _FEWEST
        or find_note(messages, number)
    }


def note_wish(parts: Sequence[Part], number: int, model: str) -> tuple[Part, ...]:
    """Return the parts of a step with the number of their wish in front of each call."""
    noted: list[Part] = []
    given: dict[str, object] = {}
    for part in parts:
        if isinstance(part, RawPart):
            given = json.loads(part.payload)
        elif isinstance(part, ToolCallPart):
            noted += [make_note(model, number, **given), part]
            given = {}
    return tuple(noted)


def make_note(model: str, number: int, **given: object) -> RawPart:
    """Return a note about a wish of the turn."""
    payload = json.dumps({**given, _OF: number}, ensure_ascii=False)
    return RawPart(provider=PROVIDER, model=model, payload=payload)


def find_note(messages: Sequence[Message], number: int) -> Mapping[str, object] | None:
    """Return the note of a wish in the present turn; None if it was not decided."""
    for message in reversed(messages):
        if _ends_turn(message):
            break
        for part in message.parts:
            if isinstance(part, RawPart) and _read_number(part) == number:
                found: Mapping[str, object] = json.loads(part.payload)
                return found
    return None


def _ends_turn(message: Message) -> bool:
    return message.role == "assistant" and not message.calls


def _is_said(message: Message) -> bool:
    return message.role == "user" and bool(message.text.strip())


def _keep_own(messages: Sequence[Message], number: int) -> list[Message]:
    """Return the steps without those of other wishes, and without later words."""
    kept: list[Message] = []
    own: set[str] = set()
    for message in messages:
        if message.role == "user":
            kept += [] if message.text.strip() else [message]
            continue
        parts = tuple(_keep_parts(message, number, own))
        is_step = any(not isinstance(part, RawPart) for part in parts)
        kept += [replace(message, parts=parts)] if is_step else []
    return kept


def _keep_parts(message: Message, number: int, own: set[str]) -> list[Part]:
    kept: list[Part] = []
    of: int | None = None
    for part in message.parts:
        if isinstance(part, RawPart):
            of = _read_number(part)
        if isinstance(part, ToolResultPart) and part.call_id not in own:
            continue
        if of in (None, number):
            kept.append(part)
            own.update([part.call_id] if isinstance(part, ToolCallPart) else [])
        if isinstance(part, ToolCallPart):
            of = None
    return kept


def _read_number(part: RawPart) -> int | None:
    """Return the number of the wish that a note is about; older notes have none."""
    number: int | None = json.loads(part.payload).get(_OF) if part.provider == PROVIDER else None
    return number
