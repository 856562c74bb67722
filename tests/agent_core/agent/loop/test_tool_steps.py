"""Tool calls inside a turn: order, overlap, what is recorded when."""

import asyncio
from collections.abc import Mapping

import pytest

from agent_core.events import Event, TextGrew, TextReset, ToolEnded, ToolStarted, TurnEnded
from agent_core.ids import CallId, PersonId
from agent_core.tools.contract import MemoryOwner, ToolContext, ToolResult
from agent_core.tools.results import add_image
from agent_core.transcript import ImagePart, ToolCallPart, ToolResultPart
from tests.agent_core.agent.loop.rig import Rig, result_texts
from tests.emulators.pictures import make_png
from tests.fakes.journal import Kind
from tests.fakes.model import ask, call, finish, say
from tests.fakes.tool import FakeTool
from tests.patience import PATIENCE


async def test_results_go_back_to_the_model_before_it_answers() -> None:
    look = FakeTool("look")
    rig = Rig(ask(call("look", '{"where":"here"}')), say("seen"), tools=[look])
    assert await rig.run() == [
        ToolStarted(call_id=CallId("c1"), name="look"),
        ToolEnded(call_id=CallId("c1"), name="look", is_error=False),
        TextGrew(delta="seen"),
        TurnEnded(ending="answered", text="seen"),
    ]
    assert look.asked[0][0] == {"where": "here"}
    asked, results = rig.model.requests[1].messages[-2:]
    assert asked.calls[0].name == "look"
    assert result_texts(results) == ["look done 1"]


async def test_a_tool_is_told_on_whose_behalf_it_runs() -> None:
    look = FakeTool("look")
    rig = Rig(ask(call("look")), say("seen"), tools=[look])
    await rig.run()
    context = look.asked[0][1]
    assert (context.person_id, context.owner_id, context.conversation_id) == (1, 1, 2)
    assert context.memory_owner == MemoryOwner(person_id=PersonId(1), slug="ada")
    assert (context.scope, context.turn_id, context.call_id) == ("p1", 3, "c1")
    assert (context.now, context.evidence) == (1_000, "hello")


async def test_answers_are_recorded_before_calls_run_and_results_before_the_next_answer() -> None:
    order: list[str] = []

    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        order.append("ran")
        return ToolResult(text="ok")

    async def note(kind: Kind) -> None:
        order.append(kind)

    async def called() -> None:
        order.append("called")

    rig = Rig(ask(call("look")), [called, *say("seen")], tools=[FakeTool("look", act)])
    rig.journal.before = note
    await rig.run()
    assert order == ["answer", "ran", "result", "input", "called"]


async def test_parallel_calls_overlap_and_results_keep_the_order_of_calls() -> None:
    both_run = asyncio.Barrier(2)  # times out unless both calls run at once
    quick_has_ended = asyncio.Event()

    async def slow(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await both_run.wait()
        await quick_has_ended.wait()
        return ToolResult(text="slow")

    async def quick(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await both_run.wait()
        return ToolResult(text="quick")

    calls = (call("slow", call_id="a"), call("quick", call_id="b"))
    rig = Rig(ask(*calls), say("ok"), tools=[FakeTool("slow", slow), FakeTool("quick", quick)])
    ended: list[str] = []

    async def emit(event: Event) -> None:
        if isinstance(event, ToolEnded):
            assert event.call_id in rig.journal.results  # recorded before it is told
            ended.append(event.call_id)
            quick_has_ended.set()

    async with asyncio.timeout(PATIENCE):
        await rig.loop(rig.turn(), emit).run()
    assert ended == ["b", "a"]
    assert result_texts(rig.model.requests[1].messages[-1]) == ["slow", "quick"]


async def test_a_turn_waits_for_its_watcher_and_tells_one_thing_at_a_time() -> None:
    calls = [call("look", call_id=name) for name in "abc"]
    rig = Rig(ask(*calls), say("ok"), tools=[FakeTool("look")])
    telling: list[Event] = []
    told: list[Event] = []

    async def emit(event: Event) -> None:
        telling.append(event)
        for _ in range(5):
            await asyncio.sleep(0)
            assert telling == [event]
        told.append(telling.pop())

    async with asyncio.timeout(PATIENCE):
        ended = await rig.loop(rig.turn(), emit).run()
    assert [type(event) for event in told] == [ToolStarted] * 3 + [ToolEnded] * 3 + [TextGrew]
    assert ended == TurnEnded(ending="answered", text="ok")


async def test_a_failed_call_is_a_result_and_the_turn_goes_on() -> None:
    rig = Rig(ask(call("lok")), say("sorry"), tools=[FakeTool("look")])
    events = await rig.run()
    assert ToolEnded(call_id=CallId("c1"), name="lok", is_error=True) in events
    (text,) = result_texts(rig.model.requests[1].messages[-1])
    assert "Did you mean `look`?" in text
    assert events[-1] == TurnEnded(ending="answered", text="sorry")


async def test_words_before_a_call_stay_on_display_until_the_next_words_come() -> None:
    rig = Rig(
        ask(call("look"), text="Let me look"), say("It is ", "here"), tools=[FakeTool("look")]
    )
    events = await rig.run()
    assert [event for event in events if not isinstance(event, ToolStarted | ToolEnded)] == [
        TextGrew(delta="Let me look"),
        TextReset(),
        TextGrew(delta="It is "),
        TextGrew(delta="here"),
        TurnEnded(ending="answered", text="It is here"),
    ]
    assert events[-2] == TextGrew(delta="here")


@pytest.mark.parametrize("name", ["c1", ""])
async def test_call_ids_that_a_server_uses_again_are_named_apart(name: str) -> None:
    look = FakeTool("look")
    again = ask(call("look", '{"n":1}', name), call("look", '{"n":2}', name))
    rig = Rig(again, again, say("ok"), tools=[look])
    await rig.run()
    ids = [asked.call_id for answer in rig.journal.answers for asked in answer.message.calls]
    assert len(set(ids)) == 4
    assert all(ids)
    assert [arguments["n"] for arguments, _ in look.asked] == [1, 2, 1, 2]
    assert rig.model.requests[-1].messages[1].calls == rig.journal.answers[0].message.calls


async def test_a_call_id_of_an_earlier_turn_is_not_used_again() -> None:
    earlier = Rig(ask(call("look")), say("seen"), tools=[FakeTool("look")])
    await earlier.run()
    rig = Rig(ask(call("look")), say("seen"), tools=[FakeTool("look")])
    await rig.run([*earlier.turn().messages, *earlier.journal.transcript, *rig.turn().messages])
    assert rig.journal.answers[0].message.calls[0].call_id != "c1"


async def test_a_bug_in_a_tool_ends_the_other_calls_and_is_raised() -> None:
    class Bug(Exception):
        pass

    async def fail(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        raise Bug

    async def hang(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    hanging = FakeTool("hang", hang)
    rig = Rig(
        ask(call("hang", call_id="a"), call("fail", call_id="b")),
        tools=[hanging, FakeTool("fail", fail)],
    )
    with pytest.raises(Bug):
        await rig.run()
    assert len(hanging.asked) == 1
    assert hanging.running == 0


async def test_a_bug_while_being_stopped_is_logged_and_does_not_hide_the_first(
    caplog: pytest.LogCaptureFixture,
) -> None:
    started = asyncio.Event()

    async def fail(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await started.wait()
        raise KeyError("first")

    async def fail_later(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise KeyError("second")

    tools = [FakeTool("fail", fail), FakeTool("later", fail_later)]
    rig = Rig(ask(call("fail", call_id="a"), call("later", call_id="b")), tools=tools)
    with pytest.raises(KeyError, match="first"):
        await rig.run()
    assert "KeyError: 'second'" in caplog.text


async def test_many_steps_grow_one_transcript() -> None:
    rig = Rig(
        *[ask(call("look", f'{{"n":{n}}}', f"c{n}")) for n in range(10)],
        say("done"),
        tools=[FakeTool("look")],
    )
    assert (await rig.end()).text == "done"
    sent = [len(request.messages) for request in rig.model.requests]
    assert sent == list(range(1, 22, 2))
    for shorter, longer in zip(rig.model.requests, rig.model.requests[1:], strict=False):
        assert longer.messages[: len(shorter.messages)] == shorter.messages


async def test_an_answer_with_a_call_keeps_its_parts_unchanged() -> None:
    asked: ToolCallPart = call("look")
    answer = finish(asked, stop="tools")
    rig = Rig([answer], say("ok"), tools=[FakeTool("look")])
    await rig.run()
    assert rig.journal.answers == [answer]


async def test_a_picture_of_a_result_stands_behind_it() -> None:
    shown = add_image(ToolResult(text="A picture."), make_png(), "image/png")

    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return shown

    rig = Rig(
        ask(call("look"), call("hear", call_id="c2")),
        say("seen"),
        tools=[FakeTool("look", act), FakeTool("hear")],
    )
    await rig.run()
    first = rig.model.requests[1].messages[-1]
    assert [type(part) for part in first.parts] == [ToolResultPart, ImagePart, ToolResultPart]
    assert first.images == shown.images
