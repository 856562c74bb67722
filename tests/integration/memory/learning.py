"""A gateway that reviews what people said."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state.engine.database import now
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Play, agree, say
from tests.integration.harness import Harness, quick, running
from tests.patience import PATIENCE

SOON = replace(quick(), task_poll=0.02)
SAID = "I prefer metric units"
KEPT = "Prefers metric units"
TWICE = ("How far is Oslo?", "No, I meant in kilometres", "And Rome?", "No, I meant in kilometres!")
NOTE = "Give distances in kilometres"


class Learner(FakeModel):
    """Answers each turn alike, plays a review for each review, and names no talk."""

    def __init__(self, *reviews: Play, answer: str = "Fine.") -> None:
        super().__init__()
        self._reviews, self._answer = list(reviews), answer

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        is_review = request.system.startswith("You review")
        self.plays = [self._reviews.pop(0) if is_review and self._reviews else say(self._answer)]
        async for piece in super().stream(request):
            yield piece


def remember(text: str, quote: str, message: int = 1, **more: object) -> str:
    """Return the arguments of a call of `memory` in a review."""
    return json.dumps({"target": "user", "text": text, "message": message, "quote": quote, **more})


def read_profile(home: Path) -> str:
    """Return the USER.md of the only person."""
    return next(home.glob("memories/people/*/USER.md")).read_text()


@asynccontextmanager
async def learning(
    home: Path,
    *plays: Sequence[object],
    turns: int = 1,
    chat: FakeChat | None = None,
    concludes: bool = False,
    clock: Callable[[], int] = now,
    settings: Mapping[str, str] = MappingProxyType({}),
    model: FakeModel | None = None,
    judge: Callable[[ModelRequest], Play] = agree,
) -> AsyncIterator[Harness]:
    """Run a gateway that reviews after each answer; the plays of answers and reviews alternate."""
    model = model or FakeModel(*plays)  # type: ignore[arg-type]
    model.judge = judge
    environ = {
        "TALARIA_LEARNING__TURNS": str(turns),
        "TALARIA_LEARNING__STEPS": "0",
        "TALARIA_LEARNING__CONCLUSIONS": str(concludes).lower(),
        **settings,
    }
    async with running(home, model, timings=SOON, chat=chat, now=clock, **environ) as harness:
        yield harness


async def reviewed(harness: Harness, count: int = 1) -> None:
    """Return once `count` reviews are done."""

    def done(connection: object) -> int:
        execute = connection.execute  # type: ignore[attr-defined]
        query = "SELECT COUNT(*) FROM tasks WHERE kind = 'review' AND state = 'done'"
        return int(execute(query).fetchone()[0])

    async with asyncio.timeout(PATIENCE):
        while await harness.read(done) < count:
            await asyncio.sleep(0.01)
    await harness.at_rest()


async def converse(harness: Harness, *said: str, first: int = 1) -> None:
    """Say things one after another, and wait for the review of each."""
    for number, words in enumerate(said, first):
        await harness.chat.says(words)
        await reviewed(harness, number)


def answering(*answers: str) -> list[object]:
    """Return plays of answers and reviews that keep nothing; the third turn also names the talk."""
    plays: list[object] = []
    for number, answer in enumerate(answers):
        plays += [say(answer), *[say("nothing")] * (2 if number == 2 else 1)]
    return plays
