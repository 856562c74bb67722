"""A model that breaks off and then begins differently, and the check of what people see of it."""

import hashlib
import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.emulators.streaming import Answer, Fault, Reply, text_answer
from tests.faults.findings import squeeze
from tests.faults.script import (
    LINES,
    SUMMARY,
    Asked,
    Script,
    called_since_answer,
    is_turn,
    said_since_answer,
)

PIECES = 250
"""Pieces of an answer: it streams for a second, so that kills and faults meet its live message."""
_OPENINGS = ("Once upon a time", "The short of it is", "Well, now", "To begin with", "Listen")
_BREAKS = 3
"""The most times that one request breaks off, so that every turn ends."""
_BEGIN = re.compile(r"begin(\d+)end")


class Tales(Script):
    """Answers that break off at random; each further generation begins differently."""

    def __init__(self, chance: Random, *, breaking: float) -> None:
        """`breaking` is the part of the calls that break off."""
        super().__init__()
        self.breaking = breaking
        self.broken = 0
        """How many calls broke off after some of their text."""
        self.summaries = 0
        """How many conversations were compacted."""
        self._chance = chance
        self._breaks: Counter[str] = Counter()

    def answer(self, body: dict[str, Any]) -> Reply:
        """Return the reply to one request."""
        if not is_turn(body):
            is_summary = "Sum it up" in str(body.get("system"))
            self.summaries += is_summary
            return text_answer(SUMMARY if is_summary else "A talk")
        answer_id = next(self.ids)
        said = list(said_since_answer(body["messages"]))
        fetched = set(called_since_answer(body["messages"]))
        to_fetch = [mark for verb, mark in said if verb == "fetch" and mark not in fetched]
        key = " ".join(mark for _, mark in said) + "".join(sorted(fetched))
        digest = hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()
        self.asked.append(Asked(key=f"{digest} {answer_id}", answer_id=answer_id, text=key))
        opening = _open(answer_id)
        if to_fetch:
            calls = [{"type": "tool_use", "name": "fetch", "input": {"what": m}} for m in to_fetch]
            whole = Answer(blocks=[_text(opening), *calls], stop="tool_use", deltas=PIECES)
        else:
            words = "\n\n".join(_respond(verb, mark) for verb, mark in said)
            whole = Answer(blocks=[_text(f"{opening}\n\n{words}")], deltas=PIECES)
        if self._chance.random() >= self.breaking or self._breaks[key] >= _BREAKS:
            return whole
        self._breaks[key] += 1
        self.broken += 1
        return self._break(whole)

    def _break(self, whole: Answer) -> Fault:
        place, then = self._chance.randrange(2, PIECES), self._chance.choice(_WAYS)
        error = "overloaded_error" if then == "error" else "api_error"
        return Fault(answer=whole, after_events=place, then=then, error=error)


_WAYS: Sequence[Any] = ("cut", "cut", "end", "error", "error", "hang")


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _open(answer_id: int) -> str:
    """Return a beginning that no other generation has: some 600 characters."""
    first = _OPENINGS[answer_id % len(_OPENINGS)]
    told = " ".join(f"Word{answer_id} of {word} was told and heard." for word in range(16))
    return f"{first}, begin{answer_id}end. {told}"


def _respond(verb: str, mark: str) -> str:
    if verb == "long":
        words = "of a long answer to a short question about nothing"
        return "\n".join(f"{mark}.{line} {words}" for line in range(1, LINES + 1))
    return f"This was heard {mark}"


Words = tuple[str, bool]
"""One of the model's messages, and whether a call follows its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What people see at the end, compared with the transcript."""

    stumps: list[str]
    """Messages that are neither a part of an answer nor the whole words before a call: the chat of
    each, and its beginning.
    """
    doubled: list[int]
    """Answers whose beginning is visible more than once."""
    missing: list[int]
    """Answers whose beginning is not visible."""

    def assert_flawless(self) -> None:
        """Fail the test if anything but the answers is visible."""
        found = (self.stumps, self.doubled, self.missing)
        assert not any(found), f"stumps, doubled, missing: {found}"


def look_at_world(home: Path, shown: Mapping[int, Sequence[str]]) -> World:
    """Compare what people see with the transcript. No gateway may run."""
    with closing(sqlite3.connect(home / "state.db")) as connection:
        rows = connection.execute(
            "SELECT turn_id, text, parts LIKE '%\"fetch\"%' FROM messages"
            " WHERE role = 'assistant' ORDER BY id"
        ).fetchall()
    told: defaultdict[int, list[Words]] = defaultdict(list)
    for turn_id, text, is_call in rows:
        told[turn_id].append((squeeze(text), bool(is_call)))
    visible = [(chat, squeeze(text)) for chat, texts in shown.items() for text in texts]
    begun = Counter(number for _, text in visible for number in _begun(text))
    return World(
        stumps=[
            f"{chat}: {text}"
            for chat, text in visible
            if not any(_is_recorded(text, words) for words in told.values())
        ],
        doubled=[number for number, count in begun.items() if count > 1],
        missing=[
            number
            for turn in told.values()
            for words, is_call in turn
            for number in _begun(words)
            if not (is_call or begun[number])
        ],
    )


def _is_recorded(text: str, turn: Sequence[Words]) -> bool:
    """Return whether a message is a run of a turn's words, without a cut in those before a call.

    Answers are split at the platform's limit; the words before a call are short enough.
    """
    if text in "".join(words for words, is_call in turn if not is_call):
        return True
    start = "".join(words for words, _ in turn).find(text)
    end, here = start + len(text), 0
    for words, is_call in turn:
        there = here + len(words)
        if is_call and (here < start < there or here < end < there):
            return False
        here = there
    return start >= 0


def _begun(text: str) -> list[int]:
    return [int(number) for number in _BEGIN.findall(text)]
