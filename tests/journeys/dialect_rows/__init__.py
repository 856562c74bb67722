"""The rows of the dialect table: what a server did, where that is reported, and the right value.

Each source was looked up. `OWN` marks a form for which no public report could be found.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.emulators.dialects import NEXT, Rule, Wire, chat
from tests.emulators.streaming import Json

GH = "https://github.com/"
OWN = "our own trial; no public report found"
TEA = '{"query": "tea"}'
COFFEE = '{"query": "coffee"}'
TOLD = "It is tea."
LOOKED = "Done"
"""How the server answers once it got a result."""
THOUGHT = "The person asks for tea."


@dataclass(frozen=True, slots=True)
class Row:
    """One form. `said` must be in the answer, `asked` are the queries of the calls that ran.

    `TOLD` and `NEXT` must be the whole answer.
    """

    title: str
    source: str
    script: Sequence[Wire]
    said: str
    asked: Sequence[str | None] = ()
    hidden: str = ""
    rule: Rule = field(default=lambda _: "")

    def judge(self, answer: str) -> str:
        """Return what is wrong with an answer, or ""."""
        is_whole = self.said in (TOLD, NEXT)
        if answer != self.said if is_whole else self.said not in answer:
            return f"answer: {answer[:200]!r}"
        return f"shown: {answer[:200]!r}" if self.hidden and self.hidden in answer else ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A refusal that only an owner can end; `told` is what the owner reads."""

    title: str
    source: str
    wire: Wire
    told: str


def body(value: object, media_type: str = "application/json", status: int = 200) -> Wire:
    """Return a response that is no event stream."""
    text = value if isinstance(value, str) else json.dumps(value)
    return Wire(body=text, media_type=media_type, status=status)


def whole(message: Json, finish: str | None = "stop") -> Json:
    """Return a chat completion in one piece."""
    return {"object": "chat.completion", "choices": [{"message": message, "finish_reason": finish}]}


def says(title: str, source: str, *deltas: Json | str, finish: str | None = "stop") -> Row:
    """Return a row whose deltas are words."""
    return Row(title, source, [chat(*deltas, finish=finish)], TOLD)


def again(title: str, source: str, *script: Wire) -> Row:
    """Return a row whose responses hold nothing to use; asking again gets an answer."""
    return Row(title, source, script, NEXT)
