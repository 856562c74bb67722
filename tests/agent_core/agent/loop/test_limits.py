"""Turns that reach a limit or go in circles, and turns whose process wants to end."""

from collections.abc import Mapping
from typing import Any

import pytest

from agent_core.errors import ModelBusy, ModelRejected
from agent_core.events import TextReset, TurnEnded
from agent_core.ids import CallId
from agent_core.models.contract import Usage
from agent_core.tools.contract import Declaration, ToolContext, ToolResult
from agent_core.transcript import TextPart
from tests.agent_core.agent.loop.rig import Rig, fact_of, result_texts, shown
from tests.fakes.model import Play, ask, call, finish, say
from tests.fakes.tool import FakeTool


def look(n: int, usage: Usage | None = None) -> Play:
    asked = call("look", f'{{"n":{n}}}', f"c{n}")
    return ask(asked, usage=usage) if usage else ask(asked)


async def test_the_last_call_of_a_turn_without_steps_left_sums_up() -> None:
    rig = Rig(look(1), look(2), say("Two ", "looked at"), tools=[FakeTool("look")], steps=2)
    events = await rig.run()
    assert events[-1] == TurnEnded(ending="exhausted", text="Two looked at", reason="steps")
    assert shown(events) == "Two looked at"
    last = rig.model.requests[-1]
    assert "number of steps" in fact_of(last.messages[-1])
    assert last.tools == rig.model.requests[0].tools
    assert [message.role for message in rig.journal.last_words or ()] == ["user", "assistant"]
    assert len(rig.journal.unpaid) == 1


async def test_calls_in_the_last_answer_are_ignored() -> None:
    tool = FakeTool("look")
    last = [finish(TextPart(text="more to do"), call("look"), stop="tools")]
    rig = Rig(look(1), last, tools=[tool], steps=1)
    assert await rig.end() == TurnEnded(ending="exhausted", text="more to do", reason="steps")
    assert len(tool.asked) == 1


async def test_a_last_answer_of_calls_only_leaves_no_words() -> None:
    rig = Rig(look(1), look(2), tools=[FakeTool("look")], steps=1)
    assert await rig.end() == TurnEnded(ending="exhausted", text="", reason="steps")
    assert rig.journal.last_words == ()
    assert len(rig.journal.unpaid) == 1


async def test_a_last_answer_that_is_refused_leaves_no_words() -> None:
    rig = Rig(look(1), say("I", stop="refusal"), tools=[FakeTool("look")], steps=1)
    assert (await rig.end()).text == ""
    assert rig.journal.last_words == ()


async def test_a_last_call_that_fails_ends_the_turn_and_says_why() -> None:
    refused = [ModelRejected("no credit")]
    rig = Rig(look(1), refused, refused, tools=[FakeTool("look")], steps=1)
    assert await rig.end() == TurnEnded(
        ending="exhausted", text="", reason="steps", detail="no credit"
    )


@pytest.mark.parametrize(
    ("limits", "reason", "words"),
    [
        ({"tokens": 100}, "tokens", "number of tokens"),
        ({"micro_dollars": 14}, "money", "the money"),
        ({"seconds": 10}, "time", "the time"),
    ],
)
async def test_tokens_money_and_time_end_a_turn(
    limits: dict[str, Any], reason: str, words: str
) -> None:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        rig.time += 5
        return ToolResult(text=f"{arguments}")

    usage = Usage(input_tokens=20, cache_read_tokens=20, cache_write_tokens=5, output_tokens=5)
    plays = [look(1, usage), look(2, usage), say("so far")]
    rig = Rig(*plays, tools=[FakeTool("look", act)], **limits)
    assert await rig.end() == TurnEnded(ending="exhausted", text="so far", reason=reason)
    assert words in fact_of(rig.model.requests[-1].messages[-1])


async def test_the_last_call_is_not_waited_for_when_time_is_up() -> None:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        rig.time += 60
        return ToolResult(text="slow")

    rig = Rig(look(1), [ModelBusy("busy")], tools=[FakeTool("look", act)], seconds=10)
    assert await rig.end() == TurnEnded(ending="exhausted", text="", reason="time", detail="busy")
    assert rig.pauses == []


async def test_what_is_written_at_the_limit_is_left_for_a_turn_of_its_own() -> None:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        rig.host.speak("and this?")
        return ToolResult(text="found")

    rig = Rig(look(1), say("so far"), tools=[FakeTool("look", act)], steps=1)
    await rig.run()
    assert len(rig.host.waiting) == 1


async def test_a_step_of_cheap_tools_is_given_back() -> None:
    tools = [FakeTool("look", cost="free")]
    rig = Rig(look(1), look(2), say("done"), tools=tools, steps=2)
    assert (await rig.end()).ending == "answered"


async def test_a_step_with_one_tool_that_counts_is_not_given_back() -> None:
    tools = [FakeTool("look", cost="free"), FakeTool("fetch")]
    both = ask(call("look"), call("fetch", call_id="f"))
    rig = Rig(both, say("so far"), tools=tools, steps=1)
    assert (await rig.end()).reason == "steps"


async def test_cheap_tools_without_end_come_to_an_end() -> None:
    tools = [FakeTool("look", cost="free")]
    rig = Rig(*[look(n) for n in range(6)], say("enough"), tools=tools, steps=3)
    assert await rig.end() == TurnEnded(ending="exhausted", text="enough", reason="steps")
    assert rig.model.plays == []


async def test_a_call_that_fails_again_is_warned_of_and_then_stopped() -> None:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(text="no such file", is_error=True)

    again = [ask(call("look", '{"n": 1}', f"c{n}")) for n in range(4)]
    rig = Rig(*again, say("I can't find it"), tools=[FakeTool("look", act)])
    assert await rig.end() == TurnEnded(
        ending="exhausted", text="I can't find it", reason="no_progress"
    )
    given = [result_texts(request.messages[-1])[0] for request in rig.model.requests[1:4]]
    assert given[0] == "no such file"
    assert given[1].startswith("no such file\n\nThis same call of `look` has failed 2 times")
    assert "failed 4 times" in fact_of(rig.model.requests[4].messages[-1])
    assert rig.journal.results[CallId("c1")].text == "no such file"


async def test_a_call_that_gives_the_same_again_is_warned_of_and_then_stopped() -> None:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(text="nothing new")

    again = [ask(call("look", call_id=f"c{n}")) for n in range(5)]
    rig = Rig(*again, say("nothing"), tools=[FakeTool("look", act)])
    assert (await rig.end()).reason == "no_progress"
    given = [result_texts(request.messages[-1])[0] for request in rig.model.requests[1:5]]
    assert given[:2] == ["nothing new"] * 2
    assert "same result 3 times" in given[2]


async def test_one_call_many_times_in_one_answer_is_not_a_circle_yet() -> None:
    same = ask(*(call("look", call_id=f"c{n}") for n in range(6)))

    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(text="no", is_error=True)

    rig = Rig(same, say("sorry"), tools=[FakeTool("look", act)])
    assert (await rig.end()).ending == "answered"


async def test_a_draining_process_suspends_a_turn_before_its_first_call() -> None:
    rig = Rig()
    rig.host.draining = True
    rig.host.speak("wait")
    assert await rig.run() == [TurnEnded(ending="suspended", text="")]
    assert rig.journal.kinds == []
    assert len(rig.host.waiting) == 1


async def test_a_draining_process_lets_running_tools_end_and_then_suspends() -> None:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        rig.host.draining = True
        return ToolResult(text="done")

    rig = Rig(look(1), tools=[FakeTool("look", act)])
    assert (await rig.end()).ending == "suspended"
    assert rig.journal.kinds == ["answer", "result", "input"]


async def test_a_draining_process_takes_the_answer_that_is_there() -> None:
    async def drain() -> None:
        rig.host.draining = True

    rig = Rig([drain, *say("done")])
    assert await rig.end() == TurnEnded(ending="answered", text="done")


async def test_interim_words_make_room_for_the_summary() -> None:
    rig = Rig(ask(call("look"), text="Looking"), say("So far"), tools=[FakeTool("look")], steps=1)
    events = await rig.run()
    assert TextReset() in events
    assert shown(events) == "So far"


@pytest.mark.parametrize(("is_patient", "ending"), [(True, "answered"), (False, "exhausted")])
async def test_time_in_which_a_person_is_waited_for_is_not_the_turns(
    is_patient: bool, ending: str
) -> None:
    async def wait(_: Mapping[str, object], __: ToolContext) -> ToolResult:
        rig.time += 500
        return ToolResult(text="Blue")

    tool = FakeTool("ask", wait)
    if is_patient:
        tool.declaration = Declaration(time_limit=660.0, waits_for_person=True)
    rig = Rig(ask(call("ask")), say("Blue."), tools=[tool], seconds=10)
    assert (await rig.end()).ending == ending
