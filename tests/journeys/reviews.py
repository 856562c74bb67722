"""Reviews that learn what a test plans."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from tests.emulators.streaming import Json, Reply, text_answer
from tests.journeys.stage import TIMINGS, Harness, Stage, call, calls, system_of

SOON = replace(TIMINGS, task_poll=0.05)


class Teacher:
    """Answers the calls of reviews: each keeps what was planned for words of the person."""

    def __init__(self, stage: Stage) -> None:
        self.planned: dict[str, tuple[str, str]] = {}
        self.more: dict[str, str] = {}
        self.merges: list[tuple[list[int], str]] = []
        assert stage.model.answer
        self._answer = stage.model.answer
        stage.model.answer = self.answer

    def plan(self, said: str, text: str, old: str = "") -> None:
        """Let the review that reads these words want to remember a text."""
        self.planned[said] = (text, old)

    def answer(self, body: Json) -> Reply:
        if self.merges and "judge" in names_of(body):
            return agree(body["messages"][0]["content"][0]["text"])
        if not system_of(body).startswith("You review"):
            return self._answer(body)
        shown = body["messages"][0]["content"][0]["text"]
        found = []
        if self.merges and "merge" in names_of(body):
            found = [call("merge", lines=lines, text=text) for lines, text in self.merges]
        for said, (text, old) in self.planned.items():
            line = next((one for one in shown.splitlines() if json.dumps(said) in one), "")
            if line.startswith("["):
                number = int(line[1:].partition("]")[0])
                asked = {"target": "user", "text": text, "message": number, "quote": said}
                more = {"action": "replace", "old": old} if old else {}
                found.append(call("memory", **asked, **more))
                if said in self.more:
                    found.append(call("memory", **{**asked, "text": self.more[said]}))
        return calls(*found) if found else text_answer("nothing")


def agree(shown: str) -> Reply:
    """Find every note right, and see through the two that are made up."""
    numbers = [int(one) for one in re.findall(r"^(\d+)\. ", shown, re.MULTILINE)]
    notes = [
        {"note": one, "stated": "no" if one == 102 else "yes", "objection": "none"}
        for one in numbers
    ]
    return calls(call("judge", notes=notes))


@asynccontextmanager
async def learning(stage: Stage) -> AsyncIterator[tuple[Harness, Teacher]]:
    """Open a gateway that reviews each answer."""
    teacher = Teacher(stage)
    async with stage.open(
        timings=SOON,
        TALARIA_LEARNING__TURNS="1",
        TALARIA_LEARNING__STEPS="0",
        TALARIA_LEARNING__CONCLUSIONS="false",
        TALARIA_MEMORY__USER_LIMIT="200",
    ) as harness:
        yield harness, teacher


def names_of(body: Json) -> set[str]:
    """Return the names of the tools of a request; turns have many, reviews have few."""
    return {one["name"] for one in body["tools"]}
