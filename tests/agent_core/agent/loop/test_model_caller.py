"""Failing model calls: what is tried again, when, and with which model."""

import pytest

from agent_core.agent.loop.contract import ModelPolicy
from agent_core.errors import (
    ModelBusy,
    ModelDenied,
    ModelError,
    ModelInterrupted,
    ModelOverflow,
    ModelRejected,
    ModelUnknown,
)
from agent_core.events import TextGrew, TextReset, TurnEnded
from agent_core.models.contract import TextDelta
from tests.agent_core.agent.loop.rig import Rig, shown
from tests.fakes.model import Play, ask, call, say
from tests.fakes.tool import FakeTool

BUSY = [ModelBusy("overloaded")]
TWO = ModelPolicy(model="fake-1", fallback="fake-2", retries=2)


@pytest.mark.parametrize("error", [ModelBusy("overloaded"), ModelInterrupted("broke off")])
async def test_a_passing_failure_is_tried_again(error: ModelError) -> None:
    rig = Rig([error], say("there"))
    assert await rig.end() == TurnEnded(ending="answered", text="there")
    assert rig.model.requests[0] == rig.model.requests[1]


async def test_text_of_a_broken_call_is_taken_back_at_once() -> None:
    rig = Rig([TextDelta(text="Once upon"), ModelInterrupted("broke off")], say("Once upon a time"))
    assert await rig.run() == [
        TextGrew(delta="Once upon"),
        TextReset(),
        TextGrew(delta="Once upon a time"),
        TurnEnded(ending="answered", text="Once upon a time"),
    ]


async def test_nothing_is_taken_back_where_nothing_was_shown() -> None:
    rig = Rig(BUSY, say("there"))
    assert TextReset() not in await rig.run()


async def test_a_stream_that_ends_without_an_answer_is_a_cut() -> None:
    rig = Rig([TextDelta(text="Once")], say("Once more"))
    assert shown(await rig.run()) == "Once more"


async def test_pauses_double_with_jitter_up_to_thirty_seconds() -> None:
    rig = Rig(*[BUSY] * 8, say("there"), policy=ModelPolicy(model="fake-1", retries=8))
    await rig.run()
    for pause, full in zip(rig.pauses, [1, 2, 4, 8, 16, 30, 30, 30], strict=True):
        assert full / 2 <= pause <= full


async def test_a_provider_that_says_when_is_waited_for_that_long() -> None:
    rig = Rig([ModelBusy("rate limited", retry_after=45.0)], say("there"))
    await rig.run()
    assert rig.pauses == [45.0]


async def test_a_provider_that_asks_for_too_long_is_not_waited_for() -> None:
    rig = Rig([ModelBusy("rate limited", retry_after=61.0)])
    assert (await rig.end()).reason == "model_busy"
    assert rig.pauses == []


async def test_retries_end_with_the_failure() -> None:
    rig = Rig(*[BUSY] * 5)
    assert await rig.end() == TurnEnded(
        ending="failed", text="", reason="model_busy", detail="overloaded"
    )
    assert len(rig.pauses) == 4


async def test_an_answer_that_breaks_off_every_time_says_so() -> None:
    rig = Rig(*[[ModelInterrupted("broke off")]] * 5)
    assert (await rig.end()).reason == "model_cut"


async def test_the_fallback_gets_retries_of_its_own() -> None:
    rig = Rig(*[BUSY] * 5, say("there"), policy=TWO)
    assert (await rig.end()).text == "there"
    assert [request.model for request in rig.model.requests] == ["fake-1"] * 3 + ["fake-2"] * 3


async def test_a_fallback_that_fails_too_ends_the_turn() -> None:
    rig = Rig(*[BUSY] * 6, policy=TWO)
    assert (await rig.end()).reason == "model_busy"


@pytest.mark.parametrize(
    "error",
    [
        ModelRejected("no"),
        ModelUnknown("no"),
        ModelDenied("no"),
        ModelBusy("later", retry_after=600),
    ],
)
async def test_what_no_repeat_mends_goes_to_the_fallback_at_once(error: ModelError) -> None:
    rig = Rig([error], say("there"), policy=TWO)
    assert (await rig.end()).text == "there"
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2"]
    assert sum(rig.pauses) == 0


async def test_an_overflow_goes_to_no_fallback() -> None:
    rig = Rig([ModelOverflow("too long")], policy=TWO)
    assert (await rig.end()).reason == "overflow"


async def test_a_turn_stays_with_the_fallback_once_it_went_there() -> None:
    plays = [[ModelDenied("no")], ask(call("look")), say("seen")]
    rig = Rig(*plays, tools=[FakeTool("look")], policy=TWO)
    await rig.run()
    assert [request.model for request in rig.model.requests] == ["fake-1", "fake-2", "fake-2"]


async def test_retries_are_counted_anew_for_every_step() -> None:
    plays = [*[BUSY] * 4, ask(call("look")), *[BUSY] * 4, say("seen")]
    rig = Rig(*plays, tools=[FakeTool("look")])
    assert (await rig.end()).text == "seen"


async def test_a_cut_after_tools_repeats_the_call_and_not_the_tools() -> None:
    look = FakeTool("look")
    broken: Play = [TextDelta(text="It is"), ModelInterrupted("broke off")]
    rig = Rig(ask(call("look")), broken, say("It is here"), tools=[look])
    assert shown(await rig.run()) == "It is here"
    assert len(look.asked) == 1
    assert rig.model.requests[1].messages == rig.model.requests[2].messages


async def test_a_turn_whose_time_is_up_waits_for_no_retry() -> None:
    rig = Rig(*[BUSY] * 4, policy=ModelPolicy(model="fake-1", retries=50), seconds=2)
    assert (await rig.end()).reason == "model_busy"
    assert 2 <= rig.time <= 6


async def test_a_repeated_call_is_one_step_of_the_budget() -> None:
    rig = Rig(*[BUSY] * 3, say("there"), steps=1)
    assert (await rig.end()).ending == "answered"


async def test_every_stream_is_closed() -> None:
    rig = Rig(BUSY, ask(call("look")), say("there"), tools=[FakeTool("look")])
    await rig.run()
    assert rig.model.streaming == 0
