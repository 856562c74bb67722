"""The fitness test's thresholds, tasks and runs, with models from perfect to hopeless."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from math import floor

import pytest

from agent_core.errors import ModelUnreachable
from agent_core.fitness.card import LEAST, NEEDS, SLOW, Area, Card, TaskResult, make_card
from agent_core.fitness.checks import Says, find_language, find_oddity
from agent_core.fitness.run import (
    EVERY_TASK,
    RUN,
    Ask,
    FitnessRun,
    find_run,
    go_on,
    judge,
)
from agent_core.fitness.tasks import FitnessTask, count_areas
from agent_core.models import openai
from agent_core.models.contract import ModelAnswer, ModelRequest, Usage
from agent_core.models.profiles import ModelProfile
from agent_core.models.settings import OpenAISettings
from agent_core.transcript import Message, TextPart
from tests.agent_core.fitness.scripted_models import (
    answer_rightly,
    answer_wrongly,
    print_calls,
    script,
)
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.streaming import Answer, text_answer
from tests.tables import check_each

MODEL = "gpt-5-mini"
COUNTS = count_areas(EVERY_TASK)
TALK = ("language", "facts", "quotes", "honesty")


@dataclass(kw_only=True)
class Rig:
    """A model behind the emulator."""

    api: OpenAIEmulator
    ask: Ask

    async def run(self, answer: Callable[[FitnessTask], Answer]) -> FitnessRun:
        """A whole test of a scripted model."""
        self.api.answer = script(answer)
        run = FitnessRun()
        while task := run.next_task:
            run = await go_on(run, task, MODEL, self.ask)
        return run

    async def judge_all(self, answer: Callable[[FitnessTask], Answer]) -> list[TaskResult]:
        """The results of all tasks, also of those that a test would leave out."""
        self.api.answer = script(answer)
        asked = [replace(task.request, model=MODEL) for task in EVERY_TASK]
        return [
            judge(task, await self.ask(request))
            for task, request in zip(EVERY_TASK, asked, strict=True)
        ]


@asynccontextmanager
async def opened() -> AsyncIterator[Rig]:
    async with OpenAIEmulator() as api:
        model = openai.create(OpenAISettings(base_url=api.base_url))

        async def ask(request: ModelRequest) -> ModelAnswer:
            async with aclosing(model.stream(request)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, ModelAnswer):
                        return piece
            raise AssertionError("there is no answer")

        try:
            yield Rig(api=api, ask=ask)
        finally:
            await model.close()


def close(results: Iterable[TaskResult]) -> Card:
    return make_card(results, COUNTS, edition=1, identity="")


def spoil(area: Area, number: int, right: list[TaskResult], wrong: list[TaskResult]) -> Card:
    """The card of a model that fails in some tasks of an area, and in no others."""
    left = number
    results = []
    for good, bad in zip(right, wrong, strict=True):
        result = good
        if (
            left
            and area in (good.area, "odd", "speed")
            and (area == good.area or good.area in TALK)
        ):
            left -= 1
            slow, odd = replace(good, seconds=SLOW), replace(good, odd="it is odd")
            result = {"odd": odd, "speed": slow}.get(area, bad)
        results.append(result)
    assert not left
    return close(results)


async def test_each_threshold_has_a_model_above_and_one_below() -> None:
    async with opened() as rig:
        right = await rig.judge_all(answer_rightly)
        wrong = await rig.judge_all(answer_wrongly)
    assert not [one for one in right if one.fault or one.odd]
    assert not [one.task for one in wrong if not one.fault]
    assert set(close(right).fit) == set(NEEDS)

    def check(area: Area) -> None:
        number = (
            sum(COUNTS.get(one, 0) for one in TALK) if area in ("odd", "speed") else COUNTS[area]
        )
        most = floor(number * (1 - LEAST[area]) + 1e-9)
        needing = {use for use, areas in NEEDS.items() if area in areas}
        assert set(spoil(area, most, right, wrong).fit) == set(NEEDS)
        below = spoil(area, most + 1, right, wrong)
        assert set(below.fit) == set(NEEDS) - needing
        fallen = {"tools", "guided"} & needing
        mode = "tools" if "tools" not in fallen else "unfit" if "guided" in fallen else "guided"
        assert below.mode == mode

    check_each(LEAST, check)


async def test_models_from_perfect_to_hopeless_get_their_card() -> None:
    async with opened() as rig:
        perfect = await rig.run(answer_rightly)
        assert len(perfect.results) == len(EVERY_TASK) > 60
        card = perfect.close()
        assert (card.mode, card.faults) == ("tools", {})
        small = (await rig.run(print_calls)).close()
        assert small.fit == ("chat", "guided")
        assert small.mode == "guided"
        assert small.scores["calls"][1] < COUNTS["calls"], "what can't matter is left out"
        rig.api.requests.clear()
        hopeless = await rig.run(lambda _: text_answer("<|im_start|>" * 9))
        assert (hopeless.close().fit, hopeless.close().mode) == ((), "unfit")
        assert len(hopeless.results) < 20, "a hopeless model costs little time"


async def test_a_model_that_says_wrong_things_may_still_decide() -> None:
    """The real small model: it knows few facts, and its calls are bad, but its decisions fit."""

    def answer(task: FitnessTask) -> Answer:
        is_good = task.area in ("language", "decisions")
        return answer_rightly(task) if is_good else text_answer("Purple elephants sing below.")

    async with opened() as rig:
        card = (await rig.run(answer)).close()
    assert card.fit == ("guided",)
    assert card.mode == "guided"
    assert card.scores["odd"][1] == sum(COUNTS[area] for area in TALK), "all talk is judged"


async def test_a_run_is_kept_and_goes_on_where_it_stopped() -> None:
    async with opened() as rig:
        rig.api.answer = script(answer_rightly)
        run = FitnessRun(identity="sha256:1")
        for _ in range(3):
            assert run.next_task
            run = await go_on(run, run.next_task, MODEL, rig.ask)
        profile = ModelProfile(server="s", model=MODEL, values={RUN: run.dump()})
        assert find_run(profile) == run
        other = ModelProfile(server="s", model=MODEL, values={RUN: run.dump() | {"edition": 0}})
        assert find_run(other) is None
        assert run.next_task
        assert run.next_task.name == EVERY_TASK[3].name
        await rig.api.stop()
        with pytest.raises(ModelUnreachable):
            await go_on(run, run.next_task, MODEL, rig.ask)


def test_a_test_ends_after_its_time() -> None:
    slow = [TaskResult(task=task.name, area=task.area, seconds=44) for task in EVERY_TASK[:21]]
    run = FitnessRun(results=tuple(slow))
    assert run.next_task is None
    assert "chat" not in run.close().fit


def say(text: str, stop: str = "end") -> ModelAnswer:
    parts = (TextPart(text=text),) if text else ()
    message = Message(role="assistant", parts=parts)
    return ModelAnswer(message=message, stop=stop, usage=Usage(), model="m")  # type: ignore[arg-type]


def test_odd_answers_are_noticed() -> None:
    rows = {
        "": "it is empty",
        "Yes.<|im_end|>": "it shows <|im_end|>",
        "<facts>Now": "it shows <facts>",
        'Sure: {"name": "remind", "arguments": {}}': "it prints a call",
        "I am a small model. " * 6: "it repeats itself",
        "Yes. Yes. Yes. Yes. Yes. Yes.": "",
        "It is 14:05.": "",
    }
    check_each(rows, lambda text: _equal(find_oddity(say(text)), rows[text]))
    assert find_oddity(say("on and on", "length")) == "it never ends"


def test_people_can_read_what_is_lacking() -> None:
    fault = Says(each=(r"\bmarta\b",)).find_fault(say("Ida"))
    assert fault == "it does not say marta"
    assert Says(each=(r"\b(?:no|not)\b",)).find_fault(say("Ida")) == (
        "it does not say what it should"
    )


def _equal(found: str, wanted: str) -> None:
    assert found == wanted


def test_languages_are_told_apart() -> None:
    rows = {
        "Das ist ein Haus, und es hat eine Tür.": "de",
        "This is a house, and it has a door.": "en",
        "C'est une maison, et elle a une porte dans le mur.": "fr",
        "Es una casa y tiene una puerta en el muro.": "es",
        "È una casa con una porta, ed è nel bosco.": "it",
        "42": "",
        "Ok!": "",
    }
    check_each(rows, lambda text: _equal(find_language(text), rows[text]))
