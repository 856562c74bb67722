"""Indicators while a turn runs: eyes, typing, one silent status line; and what notifies."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from gateway.turns.presenter import PresenterTimings
from tests.emulators.telegram_cast import ANNA
from tests.integration.processes import running
from tests.journeys.accounts import Account, texts
from tests.journeys.model_answers import OVERLOADED
from tests.journeys.oven import Oven
from tests.journeys.platforms import everywhere
from tests.journeys.stage import PATIENCE, TIMINGS, Stage, call, calls


@everywhere
async def test_eyes_and_typing_appear_at_once_and_end_with_the_answer(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    deployment.slack.is_assistant = True
    async with deployment.open() as harness:
        released = deployment.hold()
        said = await anna.says("hello")
        await harness.until(lambda: anna.indicators(said))
        if platform != "slack":  # which shows indicators in threads only
            await harness.until(anna.typed)
        assert not anna.seen()
        released.set()
        await harness.until(lambda: texts(anna) == ["echo: hello"])
        await harness.until(lambda: not anna.indicators(said))


@everywhere
async def test_a_quick_answer_has_neither_eyes_nor_edits(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        await harness.hears(anna, "hello")
        (answer,) = anna.seen()
        assert set(answer.history) == {"echo: hello"}
        assert answer.rings


@everywhere
async def test_after_a_crash_the_turn_removes_the_eyes_of_all_its_messages(
    deployment: Stage, platform: str
) -> None:
    """The first message, one that steered the turn, and one that still waited."""
    anna = deployment.account(platform, ANNA)
    deployment.slack.is_assistant = True
    settings = deployment.environ()
    del settings["TALARIA_HOME"]
    released = deployment.hold()
    async with running(deployment.home, **settings) as process:
        said = [await anna.says("paint my room")]
        await _until(lambda: anna.indicators(said[0]))
        await _until(lambda: len(deployment.turns) == 1)  # its first call loads the model's SDK
        said.append(await anna.says("in blue"))
        await _until(lambda: anna.indicators(said[1]))
        deployment.plan(calls(call("recall", query="paint")))
        released.set()
        released = deployment.hold()
        await _until(lambda: len(deployment.turns) == 2)
        said.append(await anna.says("or green"))
        await _until(lambda: anna.indicators(said[2]))
        process.process.kill()
        await process.process.wait()
    assert all(anna.indicators(one) for one in said)
    released.set()
    async with running(deployment.home, **settings):
        await _until(lambda: texts(anna) and "or green" in texts(anna)[-1])
        await _until(lambda: not any(anna.indicators(one) for one in said))


async def _until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():
            await asyncio.sleep(0.01)


async def test_after_a_while_a_silent_status_line_shows_until_the_answer(
    deployment: Stage,
) -> None:
    accounts = deployment.accounts(ANNA)
    oven = Oven()
    timings = replace(TIMINGS, display=PresenterTimings(first_status=1.0))
    async with deployment.open(tools=(oven,), timings=timings) as harness:
        deployment.plan(*[calls(call("bake"))] * 3, *["Bread."] * 3)
        started = asyncio.get_running_loop().time()
        for account in accounts:
            await harness.notes(account.says("bake bread"))
        for account in accounts:
            await harness.until(lambda a=account: a.seen())  # type: ignore[misc]
        assert asyncio.get_running_loop().time() - started >= 0.9
        await harness.until(lambda: all(_reports_bake(account) for account in accounts))
        for account in accounts:
            (line,) = account.seen()
            assert not line.rings or account.platform == "slack"
        oven.done.set()
        await harness.at_rest()
        for account in accounts:
            await harness.until(lambda a=account: texts(a) == ["Bread."])  # type: ignore[misc]
            (answer,) = account.seen()
            assert answer.rings


def _reports_bake(account: Account) -> bool:
    return any("bake" in text for text in texts(account))


@everywhere
async def test_verbose_shows_each_step_and_its_end(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    oven = Oven()
    async with deployment.open(tools=(oven,)) as harness:
        assert "What you see of my work: Every step" in await harness.hears(anna, "/verbose")
        deployment.plan(calls(call("recall", query="bread")), calls(call("bake")), "Bread.")
        await harness.notes(anna.says("bake bread"))
        await harness.until(lambda: _reports_bake(anna))
        shown = texts(anna)[-1]
        assert "✓ Searching conversations" in shown
        assert "⏳ Using bake" in shown
        oven.done.set()
        await harness.at_rest()
        await harness.until(lambda: texts(anna)[1:] == ["Bread."])
        assert "Progress if it takes long" in await harness.hears(anna, "/verbose off")
        deployment.plan(calls(call("recall", query="bread")), "Cake.")
        await harness.hears(anna, "bake a cake")
        assert set(anna.seen()[-1].history) == {"Cake."}


async def test_answers_only_shows_nothing_else(deployment: Stage) -> None:
    oven = Oven()
    anna = deployment.account("discord", ANNA)
    async with deployment.open(tools=(oven,)) as harness:
        await harness.hears(anna, "/settings verbosity quiet")
        before = len(anna.seen())
        deployment.plan(calls(call("bake")), "Bread.")
        await harness.notes(anna.says("bake bread"))
        await harness.until(lambda: len(deployment.turns) == 1)
        oven.done.set()
        await harness.at_rest()
        assert texts(anna)[before:] == ["Bread."]


@everywhere
async def test_a_failure_is_one_calm_sentence_with_the_turns_number(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(TALARIA_MODEL__PATIENCE="0") as harness:
        deployment.plan(OVERLOADED)
        reported = await harness.hears(anna, "hello")
        assert reported.startswith("The model stayed overloaded")
        assert reported.endswith("/retry tries again.")
        assert "\n" not in reported
        assert await harness.hears(anna, "/retry") == "echo: hello"
        assert len((await harness.hears(anna, "/help")).splitlines()) < 32
