"""What has changed in shared memory since a talk was told: lines for the facts of its next turn.

A prompt shows shared lists as they were when it was frozen. What is added to them rides in the
facts, once a talk; so the prompt, and all that its provider has kept of the talk, stands. What is
taken out or reworded makes the prompt fall out of use instead; see `sight.keeps_to`.
"""

import json
import re
from collections.abc import Iterable, Sequence

from agent_core.memory.shared import SharedList
from agent_core.prompt.sight import Marks, mark
from agent_core.tools.quoting import escape
from agent_core.transcript import Message, TextPart

MOST_CHARACTERS = 1500
"""More than this is not put into facts: a fresh prompt shows it better."""

_NEW, _GONE = "New in", "Gone from"
_TOLD = re.compile(rf"({_NEW}|{_GONE}) (team|block:[\w-]+): (\[.*\])")


def find_news(
    shown: Marks, shared: Sequence[SharedList], said: Iterable[Message]
) -> tuple[str, ...]:
    """One line for each list with entries that the talk was not told of, or told too much of.

    `shown` is what the talk's prompt shows, `said` all messages of the talk, oldest first: what
    was told already stands in the facts of these. Pure.
    """
    told = _read_told(said)
    lines: list[str] = []
    for one in shared:
        known = told.get(one.target, {})
        now = {escape(entry): mark(one, entry) for entry in one.entries}
        new = [text for text, its_mark in now.items() if not known.get(text, its_mark in shown)]
        gone = [text for text, stands in known.items() if stands and text not in now]
        lines += [_write(_NEW, one, new)] if new else []
        lines += [_write(_GONE, one, gone)] if gone else []
    return tuple(lines)


def _read_told(said: Iterable[Message]) -> dict[str, dict[str, bool]]:
    """For each list the entries that facts have told of, and whether the last word was that
    they are there.
    """
    # All facts of a talk are looked at before each of its turns, and most tell of nothing.
    facts = [
        part.text
        for message in said
        if message.role == "user"
        for part in message.parts[:1]
        if type(part) is TextPart and part.is_fact and (_NEW in part.text or _GONE in part.text)
    ]
    told: dict[str, dict[str, bool]] = {}
    for found in (_TOLD.fullmatch(line) for text in facts for line in text.split("\n")):
        if found:
            texts = dict.fromkeys(json.loads(found[3]), found[1] == _NEW)
            told.setdefault(found[2], {}).update(texts)
    return told


def _write(what: str, shared: SharedList, texts: Sequence[str]) -> str:
    return f"{what} {shared.target}: {json.dumps(texts, ensure_ascii=False)}"
