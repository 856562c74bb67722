"""What a person writes while a turn runs."""

from collections.abc import Mapping

from agent_core.errors import ModelInterrupted, ModelRejected
from agent_core.events import TextGrew, TextReset, TurnEnded
from agent_core.models.contract import TextDelta
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.transcript import TextPart
from tests.agent_core.agent.loop.rig import HELLO, Rig, result_texts, shown
from tests.fakes.model import Play, ask, call, finish, say
from tests.fakes.tool import FakeTool


async def test_a_steer_stands_behind_the_results_and_before_the_next_call() -> None:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        rig.host.speak("the left one", facts="<facts>\nNow: one\n</facts>")
        rig.host.speak("hurry")
        return ToolResult(text="two found")

    rig = Rig(ask(call("look")), say("left it is"), tools=[FakeTool("look", act)])
    await rig.run()
    results, first, second = rig.model.requests[1].messages[-3:]
    assert result_texts(results) == ["two found"]
    assert [message.text for message in (first, second)] == ["the left one", "hurry"]
    assert first.parts[0] == TextPart(text="<facts>\nNow: one\n</facts>", is_fact=True)
    assert rig.journal.inputs == [(results, first, second)]
    assert rig.journal.steers == rig.host.taken


async def test_what_was_written_before_the_first_call_goes_into_it() -> None:
    rig = Rig(say("both, then"))
    rig.host.speak("and another thing")
    await rig.run()
    assert [message.text for message in rig.model.requests[0].messages] == [
        "hello",
        "and another thing",
    ]
    assert rig.journal.kinds == ["input", "conclude"]


async def test_a_steer_during_the_final_answer_is_answered_too_and_both_are_told() -> None:
    async def interrupt() -> None:
        rig.host.speak("and tomorrow?")

    rig = Rig([interrupt, *say("Sunny today")], say("Rain ", "tomorrow"))
    events = await rig.run()
    assert events == [
        TextGrew(delta="Sunny today"),
        TextGrew(delta="\n\n"),
        TextGrew(delta="Rain "),
        TextGrew(delta="tomorrow"),
        TurnEnded(ending="answered", text="Sunny today\n\nRain tomorrow"),
    ]
    assert rig.journal.kinds == ["answer", "input", "conclude"]
    assert [message.text for message in rig.model.requests[1].messages] == [
        "hello",
        "Sunny today",
        "and tomorrow?",
    ]
    assert [message.text for message in rig.journal.last_words or ()] == ["Rain tomorrow"]
    assert len(rig.journal.unpaid) == 1


async def test_an_answer_that_stands_is_shown_again_when_the_next_one_breaks_off() -> None:
    async def interrupt() -> None:
        rig.host.speak("and tomorrow?")

    broken: Play = [TextDelta(text="Ra"), ModelInterrupted("broke off")]
    rig = Rig([interrupt, *say("Sunny")], broken, say("Rain"))
    events = await rig.run()
    assert shown(events[:4]) == ""
    assert events[3] == TextReset()
    assert shown(events) == "Sunny\n\nRain"


async def test_interim_words_between_two_answers_are_taken_back() -> None:
    async def interrupt() -> None:
        rig.host.speak("and tomorrow?")

    plays = [[interrupt, *say("Sunny")], ask(call("look"), text="Looking"), say("Rain")]
    rig = Rig(*plays, tools=[FakeTool("look")])
    events = await rig.run()
    assert shown(events) == "Sunny\n\nRain"
    assert events[-1] == TurnEnded(ending="answered", text="Sunny\n\nRain")


async def test_answers_that_were_not_streamed_are_on_display_with_the_next_one() -> None:
    async def interrupt() -> None:
        rig.host.speak("more")

    unstreamed: Play = [interrupt, finish(TextPart(text="two"))]
    rig = Rig([interrupt, *say("one")], unstreamed, say("three"))
    assert shown(await rig.run()) == "one\n\ntwo\n\nthree"


async def test_what_was_answered_is_not_lost_when_the_next_answer_fails() -> None:
    async def interrupt() -> None:
        rig.host.speak("and tomorrow?")

    refused = [ModelRejected("no credit")]
    rig = Rig([interrupt, *say("Sunny")], refused, refused, refused)
    assert await rig.end() == TurnEnded(
        ending="failed", text="Sunny", reason="model_rejected", detail="no credit"
    )


async def test_a_message_written_while_draining_is_left_for_a_turn_of_its_own() -> None:
    async def interrupt() -> None:
        rig.host.speak("and tomorrow?")
        rig.host.draining = True

    rig = Rig([interrupt, *say("Sunny")])
    assert await rig.end() == TurnEnded(ending="answered", text="Sunny")
    assert len(rig.host.waiting) == 1


async def test_a_message_written_at_the_limit_is_left_for_a_turn_of_its_own() -> None:
    async def interrupt() -> None:
        rig.host.speak("and tomorrow?")

    rig = Rig([interrupt, *say("Sunny")], steps=1)
    assert await rig.end() == TurnEnded(ending="answered", text="Sunny")
    assert len(rig.host.waiting) == 1


async def test_a_cut_answer_followed_by_a_steer_goes_on_without_its_calls() -> None:
    async def interrupt() -> None:
        rig.host.speak("shorter!")

    cut = finish(TextPart(text="Well, firstly"), call("look", "{"), stop="length")
    rig = Rig([interrupt, cut], say("Yes."), tools=[FakeTool("look")])
    assert (await rig.end()).text == "Well, firstly\n\nYes."
    assert rig.journal.answers[0].message.calls == ()
    assert rig.model.requests[1].messages[0] == HELLO
