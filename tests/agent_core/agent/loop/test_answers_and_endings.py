"""Every way in which an answer can end, and what comes of it."""

import pytest

from agent_core.errors import ModelError, ModelOverflow, ModelRejected
from agent_core.events import TextGrew, TextReset, TurnEnded
from agent_core.models.contract import TextDelta
from agent_core.tools.selection.call_rules import CallRule
from agent_core.transcript import RawPart, TextPart
from tests.agent_core.agent.loop.rig import HELLO, Rig, fact_of, shown
from tests.fakes.model import ask, call, finish, say
from tests.fakes.tool import FakeTool

THOUGHT = RawPart(provider="fake", model="fake-1", payload='{"type":"thinking"}')


async def test_an_answer_streams_and_ends_the_turn() -> None:
    rig = Rig(say("Good ", "day"))
    assert await rig.run() == [
        TextGrew(delta="Good "),
        TextGrew(delta="day"),
        TurnEnded(ending="answered", text="Good day"),
    ]


async def test_a_plain_answer_is_left_to_whoever_settles_the_turn() -> None:
    rig = Rig(say("Good day"))
    await rig.run()
    assert rig.journal.kinds == ["conclude"]
    assert [message.text for message in rig.journal.last_words or ()] == ["Good day"]
    assert len(rig.journal.unpaid) == 1


async def test_a_request_carries_the_frozen_part_and_the_transcript() -> None:
    rig = Rig(say("Good day"), tools=[FakeTool("look")])
    await rig.run()
    (request,) = rig.model.requests
    assert (request.model, request.system) == ("fake-1", "be kind")
    assert request.tools == rig.toolbox.specs
    assert request.messages == (HELLO,)
    assert request.max_output_tokens == 8000


async def test_an_answer_that_was_not_streamed_still_counts() -> None:
    rig = Rig([finish(TextPart(text="all at once"))])
    assert await rig.run() == [TurnEnded(ending="answered", text="all at once")]


async def test_empty_deltas_are_not_shown() -> None:
    rig = Rig([TextDelta(text=""), *say("a")])
    assert [event for event in await rig.run() if isinstance(event, TextGrew)] == [
        TextGrew(delta="a")
    ]


async def test_an_answer_cut_by_its_length_is_an_answer_with_a_reason() -> None:
    rig = Rig(say("half of it", stop="length"))
    assert await rig.end() == TurnEnded(ending="answered", text="half of it", reason="length")


async def test_a_length_stop_without_words_is_a_failure() -> None:
    rig = Rig([finish(THOUGHT, stop="length")])
    assert await rig.end() == TurnEnded(ending="failed", text="", reason="length")
    assert rig.journal.last_words == ()
    assert len(rig.journal.unpaid) == 1


async def test_a_truncated_call_is_neither_run_nor_kept() -> None:
    look = FakeTool("look")
    cut = call("look", '{"where": "/ho')
    rig = Rig([finish(THOUGHT, TextPart(text="I will look"), cut, stop="length")], tools=[look])
    assert (await rig.end()).text == "I will look"
    assert look.asked == []
    (message,) = rig.journal.last_words or ()
    assert message.parts == (TextPart(text="I will look"),)
    assert len(rig.journal.unpaid) == 1


async def test_calls_without_the_stop_that_says_they_are_whole_are_not_run() -> None:
    look = FakeTool("look")
    rig = Rig([finish(TextPart(text="done"), call("look"), stop="end")], tools=[look])
    assert await rig.end() == TurnEnded(ending="answered", text="done")
    assert look.asked == []


async def test_a_tools_stop_without_a_call_is_an_answer() -> None:
    rig = Rig([finish(TextPart(text="done"), stop="tools")])
    assert await rig.end() == TurnEnded(ending="answered", text="done")


async def test_a_paused_answer_is_sent_back_unchanged_and_continued() -> None:
    paused = finish(TextPart(text="searching"), THOUGHT, stop="pause")
    rig = Rig([TextDelta(text="searching"), paused], say("found"))
    events = await rig.run()
    assert rig.journal.answers == [paused]
    assert rig.model.requests[1].messages == (HELLO, paused.message)
    assert events == [
        TextGrew(delta="searching"),
        TextReset(),
        TextGrew(delta="found"),
        TurnEnded(ending="answered", text="found"),
    ]


async def test_a_pause_without_parts_is_paid_for_and_not_recorded() -> None:
    rig = Rig([finish(stop="pause")], say("found"))
    assert (await rig.end()).text == "found"
    assert rig.model.requests[1].messages == (HELLO,)
    assert len(rig.journal.unpaid) == 2


async def test_endless_pauses_come_to_an_end() -> None:
    rig = Rig(*[[finish(THOUGHT, stop="pause")]] * 3, say("I gave up"), steps=3)
    assert await rig.end() == TurnEnded(ending="exhausted", text="I gave up", reason="steps")


async def test_a_refusal_is_told_with_its_category_and_leaves_no_words() -> None:
    rig = Rig(say("Well, ", stop="refusal", refusal="cyber"))
    assert await rig.end() == TurnEnded(ending="refused", text="", reason="cyber")
    assert rig.journal.last_words == ()
    assert len(rig.journal.unpaid) == 1


async def test_a_window_that_filled_up_while_answering_is_a_failure() -> None:
    rig = Rig(say("and then", stop="overflow"))
    ended = await rig.end()
    assert (ended.ending, ended.text, ended.reason) == ("failed", "", "overflow")
    assert len(rig.journal.unpaid) == 1


async def test_an_unknown_stop_with_words_is_an_answer_with_a_reason() -> None:
    rig = Rig(say("hm", stop="unknown"))
    assert await rig.end() == TurnEnded(ending="answered", text="hm", reason="unknown_stop")


async def test_an_unknown_stop_without_words_is_a_failure() -> None:
    rig = Rig(say(stop="unknown"))
    assert await rig.end() == TurnEnded(ending="failed", text="", reason="unknown_stop")


async def test_an_empty_answer_is_asked_for_once_more() -> None:
    rig = Rig(ask(call("look")), say(), say("there"), tools=[FakeTool("look")])
    assert await rig.end() == TurnEnded(ending="answered", text="there")
    nudge = rig.model.requests[2].messages[-1]
    assert "no words" in fact_of(nudge)
    assert rig.journal.inputs[-1] == (nudge,)
    assert len(rig.journal.unpaid) == 2


async def test_an_answer_of_white_space_is_empty() -> None:
    rig = Rig(say(" \n"), say("there"))
    events = await rig.run()
    assert shown(events) == "there"


async def test_a_second_empty_answer_is_a_failure() -> None:
    rig = Rig(say(), say())
    assert await rig.end() == TurnEnded(ending="failed", text="", reason="empty")
    assert len(rig.journal.unpaid) == 2
    assert rig.journal.last_words == ()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelRejected("no"), "model_rejected"),
        (ModelOverflow("no"), "overflow"),
        (ModelError("no"), "model_rejected"),
    ],
)
async def test_an_error_that_no_repeat_mends_ends_the_turn(error: ModelError, reason: str) -> None:
    rig = Rig([error])
    assert await rig.end() == TurnEnded(ending="failed", text="", reason=reason, detail="no")
    assert rig.pauses == []
    assert rig.journal.last_words == ()


async def test_what_was_paid_for_and_not_recorded_is_handed_over_with_a_failure() -> None:
    rig = Rig(say(), [ModelRejected("no credit")])
    assert (await rig.end()).reason == "model_rejected"
    assert len(rig.journal.unpaid) == 1


async def test_an_answer_waits_for_the_tool_that_must_run_before_it() -> None:
    rig = Rig(say("All sent."), ask(call("save")), say("Saved."), tools=[FakeTool("save")])
    rule = CallRule(tool="save", must_run_before_end=True)
    rig.toolbox = rig.toolbox.open(rules=[rule])
    assert await rig.end() == TurnEnded(ending="answered", text="Saved.")
    demanded = rig.model.requests[1].messages[-1]
    assert "Before this turn ends, `save` must run." in fact_of(demanded)


async def test_a_model_that_ignores_the_rule_is_asked_twice_and_the_answer_says_so() -> None:
    rig = Rig(say("One."), say("Two."), say("Three."), tools=[FakeTool("save")])
    rig.toolbox = rig.toolbox.open(rules=[CallRule(tool="save", must_run_before_end=True)])
    assert await rig.end() == TurnEnded(ending="answered", text="Three.", reason="rule_unmet")
    assert len(rig.model.requests) == 3
