"""A talk that is too long for its next call is made shorter first, and the turn goes on."""

from collections.abc import Sequence
from dataclasses import replace

from agent_core.errors import ModelOverflow
from agent_core.models.contract import Usage
from agent_core.transcript import Message, user_message
from tests.agent_core.agent.loop.fake_space import SHORT, FakeSpace
from tests.agent_core.agent.loop.rig import HELLO, Rig, shown
from tests.fakes.model import ask, call, say
from tests.fakes.tool import FakeTool

TOO_LONG = [ModelOverflow("too long")]


def sent(rig: Rig) -> list[Sequence[Message]]:
    return [request.messages for request in rig.model.requests]


async def test_what_fits_is_sent_as_it_is_and_what_it_took_is_learned() -> None:
    usage = Usage(input_tokens=70, output_tokens=3)
    rig = Rig(say("hi", usage=usage))
    rig.window = window = FakeSpace()
    await rig.end()
    assert sent(rig) == [(HELLO,)]
    assert window.asked == [(1, False)]
    assert window.learned == [("fake-1", usage)]


async def test_a_shorter_transcript_takes_the_place_of_the_long_one_for_all_calls_to_come() -> None:
    rig = Rig(ask(call("look")), say("done"), tools=[FakeTool("look")])
    rig.window = FakeSpace((SHORT,))
    await rig.end([HELLO, HELLO, HELLO])
    first, second = sent(rig)
    assert list(first) == [SHORT]
    assert list(second[:1]) == [SHORT]
    assert [message.role for message in second] == ["user", "assistant", "tool"]


async def test_a_call_that_is_refused_for_its_length_is_made_again_shorter() -> None:
    rig = Rig(TOO_LONG, TOO_LONG, say("there"))
    rig.window = window = FakeSpace(None, (HELLO, SHORT), (SHORT,))
    events = await rig.run([HELLO, HELLO, HELLO])
    assert [len(messages) for messages in sent(rig)] == [3, 2, 1]
    assert window.asked == [(3, False), (3, True), (2, True)]
    assert shown(events) == "there"


async def test_a_window_that_was_full_before_the_answer_was_whole_is_made_room_in() -> None:
    rig = Rig(say("and th", stop="overflow"), say("and then"))
    rig.window = window = FakeSpace(None, (SHORT,))
    events = await rig.run()
    assert shown(events) == "and then"
    assert window.asked == [(1, False), (1, True)]
    assert len(rig.journal.unpaid) == 2, "both answers are paid for"


async def test_what_can_not_be_made_shorter_ends_the_turn() -> None:
    rig = Rig(TOO_LONG)
    rig.window = FakeSpace(None, None)
    ended = await rig.end()
    assert (ended.ending, ended.reason, ended.detail) == ("failed", "overflow", "too long")


async def test_a_space_that_gives_up_ends_the_turn_without_a_call() -> None:
    rig = Rig()
    rig.window = FakeSpace(ModelOverflow("no room"))
    ended = await rig.end()
    assert (ended.ending, ended.reason, ended.detail) == ("failed", "overflow", "no room")
    assert rig.model.requests == []


async def test_a_provider_that_refuses_whatever_is_sent_is_not_asked_for_ever() -> None:
    rig = Rig(*[TOO_LONG] * 4)
    rig.window = FakeSpace(*[(SHORT,)] * 9)
    ended = await rig.end()
    assert (ended.ending, ended.reason) == ("failed", "overflow")
    assert rig.model.plays == []


async def test_the_question_for_a_summary_is_put_behind_the_shorter_transcript() -> None:
    rig = Rig(ask(call("look")), say("so far"), tools=[FakeTool("look")], steps=1)
    rig.window = window = FakeSpace(None, (SHORT,))
    await rig.end()
    _, last = sent(rig)
    assert list(last[:1]) == [SHORT]
    assert len(last) == 2
    assert window.asked == [(1, False), (4, False)]


async def test_ids_of_calls_that_are_compacted_are_not_given_twice() -> None:
    rig = Rig(
        ask(call("look", call_id="same")),
        ask(call("look", '{"again": 1}', call_id="same")),
        say("done"),
        tools=[FakeTool("look")],
    )
    rig.window = FakeSpace(None, (SHORT,))
    await rig.end()
    assert set(rig.journal.results) == {"same", "same-2"}


async def test_answers_that_the_transcript_does_not_show_any_more_are_told_all_the_same() -> None:
    rig = Rig(say("second"))
    turn = rig.turn([SHORT, user_message("and?")], own=1)
    events = await rig.play(replace(turn, earlier_answers=("first",)))
    assert shown(events) == "first\n\nsecond"
