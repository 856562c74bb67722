"""Scripted judges of a review's claims. They see what a model would see: the text of the request.

A right judge looks up the message that a note rests on, with the note's words: a pair that is true
is stated, anything else is not. It knows that a frame turns a statement only if it is shown one.
"""

import json
import os
import random
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from agent_core.errors import ModelInterrupted
from agent_core.models.contract import Model, ModelAnswer, ModelRequest, TextDelta
from agent_core.models.openai import create
from agent_core.models.settings import OpenAISettings
from agent_core.transcript import ToolCallPart
from tests.fakes.model import Play, ask, call, say

Kind = Literal["right", "errs", "yes", "no", "dead", "nonsense", "none", "model"]
KINDS: tuple[Kind, ...] = ("right", "errs", "yes", "no", "dead", "nonsense")
_ERRS = 0.1
_MESSAGE = re.compile(r"^\S+ (?:\[(\d+)\] person|assistant): (\".*\")$", re.MULTILINE)
_NOTE = re.compile(r"^(\d+)\. rests on \[(\d+)\](?: at \".*?\")?: (\"(?:[^\"\\]|\\.)*\")$")
_KNOWN = re.compile(r"^   known line: (\".*\")$")
_CONTROLS = {("I have kept two donkeys since spring.", "Keeps two donkeys")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is so of a true note: the line that it changes, and its last day; "" for none.

    With a `topic`, it changes whatever other line begins with that.
    """

    replaces: str = ""
    topic: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNote:
    """A note as a judge sees it."""

    number: int
    message: str
    text: str
    known: tuple[str, ...]


def is_judged(request: ModelRequest) -> bool:
    """Return whether a request asks a judge."""
    return any(one.name == "judge" for one in request.tools)


def read_notes(shown: str) -> list[ShownNote]:
    """Read the notes of a request, each with the message that it rests on.

    Raises `ValueError` if a line can't be read, because a judge would be asked in vain.
    """
    messages = {int(n): _load(text) for n, text in _MESSAGE.findall(shown) if n}
    found: list[ShownNote] = []
    for line in shown.partition("<notes>\n")[2].removesuffix("\n</notes>").splitlines():
        if known := _KNOWN.match(line):
            last = found.pop()
            known_lines = (*last.known, _load(known[1]))
            found.append(
                ShownNote(
                    number=last.number, message=last.message, text=last.text, known=known_lines
                )
            )
        elif note := _NOTE.match(line):
            message = messages[int(note[2])]
            found.append(
                ShownNote(number=int(note[1]), message=message, text=_load(note[3]), known=())
            )
        else:
            raise ValueError(f"no judge can read {line!r}")
    return found


@dataclass(kw_only=True)
class Judge:
    """Answers looks at notes. `tell` returns what is so of a message and a note, None for a lie;
    `frames` are messages that turn a message's note into a lie.
    """

    kind: Kind
    tell: Callable[[str, str], Truth | None]
    frames: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    looks: int = 0

    def answer(self, request: ModelRequest) -> Play:
        """Answer one look."""
        self.looks += 1
        if self.kind == "dead":
            return [ModelInterrupted("the judge is dead")]
        if self.kind == "nonsense":
            return self.chance.choice(
                (say("42"), ask(call("judge", '{"notes": "all fine"}')), ask(call("judge", "[")))
            )
        shown = request.messages[0].text
        is_state = "stated" in request.tools[0].schema
        notes = [self._judge(one, shown, is_state=is_state) for one in read_notes(shown)]
        return ask(_write(notes))

    def _judge(self, note: ShownNote, shown: str, *, is_state: bool) -> dict[str, object]:
        key = (note.message, note.text)
        truth = self.tell(*key) or (Truth() if key in _CONTROLS else None)
        if truth is None and (frames := self.frames.get(key)):
            # Without the frame, the message states what the note says.
            seen = [_load(text) for _, text in _MESSAGE.findall(shown)]
            truth = None if all(one in seen for one in frames) else Truth()
        is_true = truth is not None
        if self.kind in ("yes", "no"):
            is_true = self.kind == "yes"
        elif self.kind == "errs" and self.chance.random() < _ERRS:
            is_true = not is_true
        if not is_state:
            return {"note": note.number, "objection": "none" if is_true else "absent"}
        found = truth or Truth()
        others = [one for one in note.known if found.topic and one.startswith(found.topic)]
        changed = [one for one in (found.replaces, *others) if one in note.known]
        return {
            "note": note.number,
            "stated": "yes" if is_true else "no",
            "more": False,
            "replaces": next((one for one in changed if one != note.text), ""),
            "until": found.until,
        }


@dataclass(kw_only=True)
class RealJudge:
    """A real model as the judge: `TALARIA_MODEL__NAME` at `OPENAI_BASE_URL`."""

    model: Model
    name: str
    looks: int = 0

    @classmethod
    def connect(cls) -> Self:
        """Make the judge that the environment names. Raises `KeyError` without one."""
        settings = OpenAISettings(base_url=os.environ["OPENAI_BASE_URL"], timeout=600)
        return cls(model=create(settings), name=os.environ["TALARIA_MODEL__NAME"])

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        """Answer one look."""
        self.looks += 1
        async for piece in self.model.stream(replace(request, model=self.name)):
            yield piece


def _write(notes: Sequence[Mapping[str, object]]) -> ToolCallPart:
    return call("judge", json.dumps({"notes": notes}, ensure_ascii=False))


def _load(text: str) -> str:
    return str(json.loads(text.replace("<\\/", "</")))
