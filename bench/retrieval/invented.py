"""Invented conversations of other shapes, from `sentences.json` and a seed.

A person states facts about many subjects, changes some, and talks of other things in between. A
question asks for one fact with other words around the subject. Sentences of the same fact about
other subjects, and of other facts about the same subject, stand in its way.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from bench.retrieval.samples import Question, Said, Sample

_SEED = 14
_SAMPLES = 4
_FACTS = 60
_PER_SESSION = 6
_BEGIN, _DAY_MS, _MINUTE_MS = 1_735_725_600_000, 86_400_000, 60_000
_CHANGED = 0.25
"""The share of facts that change later; the evidence is the newest statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    """One statement, and the question that it answers."""

    speaker: str
    subject: str
    kind: Mapping[str, Any]
    values: Sequence[str]
    """The present value, with the former one before it if the fact changed."""


def invent() -> dict[str, Callable[[], list[Sample]]]:
    """Return, by the name of its shape, the function that invents a set's samples."""
    shapes = json.loads(Path(__file__).with_name("sentences.json").read_text(encoding="utf-8"))
    return {name: partial(_invent_set, name, shape) for name, shape in shapes.items()}


def _invent_set(name: str, shape: Mapping[str, Any]) -> list[Sample]:
    return [
        _Inventor(random.Random(f"{name} {_SEED} {number}"), shape).invent(f"{name}-{number}")
        for number in range(_SAMPLES)
    ]


class _Inventor:
    """One sample; everything follows from the random source."""

    def __init__(self, chance: random.Random, shape: Mapping[str, Any]) -> None:
        self._chance = chance
        self._shape = shape
        self._speakers: list[str] = shape["speakers"]
        self._messages: list[Said] = []
        self._session = 0
        self._at = _BEGIN

    def invent(self, name: str) -> Sample:
        facts = list(self._pick_facts())
        stated = [(fact, value) for fact in facts for value in fact.values[:1]]
        changed = [(fact, value) for fact in facts for value in fact.values[1:]]
        self._chance.shuffle(stated)
        self._chance.shuffle(changed)
        newest: dict[int, str] = {}
        for number, (fact, value) in enumerate([*stated, *changed]):
            if number % _PER_SESSION == 0:
                self._session += 1
                self._at += _DAY_MS * self._chance.randint(1, 5)
            for _ in range(self._chance.randint(0, 2)):
                self._talk()
            is_change = len(fact.values) > 1 and value == fact.values[-1]
            newest[id(fact)] = self._state(fact, value, is_change=is_change)
        questions = [
            Question(
                text=_fill(fact.kind["ask"], fact, ""),
                evidence=frozenset((newest[id(fact)],)),
                category="changed" if len(fact.values) > 1 else "stated",
            )
            for fact in facts
        ]
        return Sample(
            name=name,
            is_room=len(self._speakers) > 1,
            messages=self._messages,
            questions=questions,
        )

    def _pick_facts(self) -> Iterator[_Fact]:
        """Yield facts, each a pair of a kind and a subject; in rooms also of a speaker."""
        places = list(product(self._shape["facts"], self._shape["subjects"], self._speakers))
        for kind, subject, speaker in self._chance.sample(places, min(_FACTS, len(places))):
            count = 2 if self._chance.random() < _CHANGED and "change" in kind else 1
            values = self._chance.sample(kind["values"], count)
            yield _Fact(speaker=speaker, subject=subject, kind=kind, values=values)

    def _state(self, fact: _Fact, value: str, *, is_change: bool) -> str:
        """Write the message that states a fact, and what follows; return its id."""
        text = _fill(fact.kind["change" if is_change else "say"], fact, value)
        if "answer" in fact.kind:
            self._say(fact.speaker, "user", text)
            answer = _fill(fact.kind["answer"], fact, value)
            points = [*self._advise(fact.subject), answer, *self._advise(fact.subject)]
            return self._say("assistant", "assistant", "\n\n".join(points))
        asides = self._chance.sample(self._shape["asides"], self._chance.randint(0, 2))
        place = self._chance.randint(0, len(asides))
        text = " ".join([*asides[:place], text, *asides[place:]])
        message_id = self._say(fact.speaker, "user", text)
        self._reply(fact.subject)
        return message_id

    def _talk(self) -> None:
        """Write something beside the point that mentions a subject."""
        subject = self._chance.choice(self._shape["subjects"])
        text = self._chance.choice(self._shape["talk"]).replace("{subject}", subject)
        self._say(self._chance.choice(self._speakers), "user", text)
        self._reply(subject)

    def _reply(self, subject: str) -> None:
        if self._shape["has_assistant"]:
            self._say("assistant", "assistant", "\n\n".join(self._advise(subject)))

    def _advise(self, subject: str) -> list[str]:
        advice = self._shape["advice"]
        some = self._chance.sample(advice, self._chance.randint(1, len(advice)))
        return [one.replace("{subject}", subject) for one in some]

    def _say(self, speaker: str, role: str, text: str) -> str:
        self._at += _MINUTE_MS
        said = Said(
            id=str(len(self._messages)),
            session=str(self._session),
            speaker=speaker,
            role="user" if role == "user" else "assistant",
            at=self._at,
            text=text,
        )
        self._messages.append(said)
        return said.id


def _fill(template: str, fact: _Fact, value: str) -> str:
    return (
        template.replace("{subject}", fact.subject)
        .replace("{value}", value)
        .replace("{speaker}", fact.speaker)
    )
