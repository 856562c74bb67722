"""A turn that an earlier process left, at every point where it could have ended."""

from typing import Literal

import pytest

from agent_core.events import TextGrew, TextReset, ToolEnded, ToolStarted, TurnEnded
from agent_core.ids import CallId
from agent_core.tools.contract import Effect, ToolResult
from agent_core.transcript import Message, RawPart, TextPart, ToolResultPart, user_message
from tests.agent_core.agent.loop.rig import HELLO, Rig, result_texts, shown
from tests.fakes.model import ask, call, say
from tests.fakes.tool import FakeTool

ASKED = Message(role="assistant", parts=(TextPart(text="Looking"), call("look")))
RESULTS = Message(
    role="tool", parts=(ToolResultPart(call_id=CallId("c1"), name="look", text="seen"),)
)


def answer(text: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=text),))


async def test_a_result_that_is_known_is_used_and_not_got_again() -> None:
    look = FakeTool("look", effect="unsafe")
    rig = Rig(say("there"), tools=[look])
    events = await rig.run(
        [HELLO, ASKED], own=2, outcomes={CallId("c1"): ToolResult(text="seen", is_error=True)}
    )
    assert look.asked == []
    part = rig.model.requests[0].messages[-1].parts[0]
    assert part == ToolResultPart(call_id=CallId("c1"), name="look", text="seen", is_error=True)
    assert rig.journal.kinds == ["input", "conclude"]
    assert events == [
        TextGrew(delta="Looking"),
        TextReset(),
        TextGrew(delta="there"),
        TurnEnded(ending="answered", text="there"),
    ]


@pytest.mark.parametrize("effect", ["read", "idempotent"])
async def test_a_call_that_was_begun_is_made_again_where_that_does_no_harm(effect: Effect) -> None:
    look = FakeTool("look", effect=effect)
    rig = Rig(say("there"), tools=[look])
    await rig.run([HELLO, ASKED], own=2, begun=["c1"])
    assert len(look.asked) == 1
    assert result_texts(rig.model.requests[0].messages[-1]) == ["look done 1"]


async def test_an_unsafe_call_that_was_begun_is_told_as_unsure() -> None:
    look = FakeTool("look", effect="unsafe")
    rig = Rig(say("I will check"), tools=[look])
    await rig.run([HELLO, ASKED], own=2, begun=["c1"])
    assert look.asked == []
    (text,) = result_texts(rig.model.requests[0].messages[-1])
    assert text.startswith("It is not known whether this call took effect")
    assert rig.journal.results[CallId("c1")].is_error


@pytest.mark.parametrize("effect", ["read", "idempotent", "unsafe"])
async def test_a_call_that_was_never_begun_is_run(effect: Effect) -> None:
    look = FakeTool("look", effect=effect)
    rig = Rig(say("there"), tools=[look])
    await rig.run([HELLO, ASKED], own=2)
    assert len(look.asked) == 1


async def test_a_begun_call_of_a_tool_that_is_gone_has_an_unknown_outcome() -> None:
    rig = Rig(say("there"), tools=[FakeTool("other")])
    await rig.run([HELLO, ASKED], own=2, begun=["c1"])
    assert "not known whether" in result_texts(rig.model.requests[0].messages[-1])[0]


async def test_known_unsure_and_open_calls_of_one_answer_keep_their_order() -> None:
    calls = [call("send", call_id=f"c{n}") for n in range(3)]
    send = FakeTool("send", effect="unsafe")
    rig = Rig(say("there"), tools=[send])
    events = await rig.run(
        [HELLO, Message(role="assistant", parts=tuple(calls))],
        own=2,
        outcomes={CallId("c1"): ToolResult(text="sent")},
        begun=["c0"],
    )
    unsure, known, ran = result_texts(rig.model.requests[0].messages[-1])
    assert "not known" in unsure
    assert (known, ran) == ("sent", "send done 1")
    reported = [event.call_id for event in events if isinstance(event, ToolStarted | ToolEnded)]
    assert reported == ["c2", "c2"]


async def test_results_that_are_there_already_are_followed_by_a_model_call() -> None:
    look = FakeTool("look")
    rig = Rig(say("there"), tools=[look])
    await rig.run([HELLO, ASKED, RESULTS], own=3)
    assert look.asked == []
    assert rig.model.requests[0].messages == (HELLO, ASKED, RESULTS)
    assert rig.journal.kinds == ["conclude"]


async def test_an_answer_that_is_there_already_ends_the_turn_without_a_call() -> None:
    rig = Rig()
    assert await rig.run([HELLO, answer("Sunny")], own=2) == [
        TurnEnded(ending="answered", text="Sunny")
    ]
    assert rig.journal.last_words == ()
    assert rig.journal.unpaid == []


async def test_an_answer_that_is_there_is_followed_by_what_was_written_since() -> None:
    rig = Rig(say("Rain"))
    rig.host.speak("and tomorrow?")
    events = await rig.run([HELLO, answer("Sunny")], own=2)
    assert events[-1] == TurnEnded(ending="answered", text="Sunny\n\nRain")
    assert shown(events) == "Sunny\n\nRain"


async def test_answers_before_the_crash_are_told_with_the_one_after_it() -> None:
    earlier = [user_message("yesterday?"), answer("Fog")]
    own = [HELLO, answer("Sunny"), user_message("and tomorrow?")]
    rig = Rig(say("Rain"))
    events = await rig.run([*earlier, *own], own=len(own))
    assert events[-1] == TurnEnded(ending="answered", text="Sunny\n\nRain")
    assert shown(events) == "Sunny\n\nRain"


async def test_a_paused_answer_is_continued() -> None:
    searching = RawPart(provider="fake", model="fake-1", payload='{"type":"server_tool_use"}')
    paused = Message(role="assistant", parts=(TextPart(text="Searching"), searching))
    rig = Rig(say("found"))
    events = await rig.run([HELLO, paused], own=2)
    assert events[-1] == TurnEnded(ending="answered", text="found")


State = Literal["nothing", "answer", "result", "input"]


@pytest.mark.parametrize("died_after", ["nothing", "answer", "result", "input"])
async def test_wherever_a_process_dies_the_unsafe_tool_runs_at_most_once_and_the_turn_ends(
    died_after: State,
) -> None:
    """The first process is cut off right after a record; the second one has only that."""

    class Dead(Exception):
        pass

    async def die(kind: str) -> None:
        kinds = first.journal.kinds
        if died_after == "nothing" or (kinds and kinds[-1] == died_after):
            raise Dead

    send = FakeTool("send", effect="unsafe")
    plays = [ask(call("send")), say("sent")]
    first = Rig(*plays, tools=[send])
    first.journal.before = die
    if died_after == "input":
        first.model.plays[1] = []  # the record is there, the answer never came
        first.policy = type(first.policy)(model="fake-1", patience=0)
        await first.run()
    else:
        with pytest.raises(Dead):
            await first.run()

    transcript = [HELLO, *first.journal.transcript]
    open_calls = transcript[-1].calls
    outcomes = {i: r for i, r in first.journal.results.items() if open_calls}
    begun = [c.call_id for c in open_calls if c.call_id not in outcomes]
    plays = [ask(call("send")), say("sent")] if died_after == "nothing" else [say("sent")]
    second = Rig(*plays, tools=[send])
    events = await second.run(transcript, own=len(transcript), outcomes=outcomes, begun=begun)
    assert events[-1] == TurnEnded(ending="answered", text="sent")
    assert len(send.asked) == 1
