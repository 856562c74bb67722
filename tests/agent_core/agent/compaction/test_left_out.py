"""The part of a transcript that a server refuses is left out, and only that."""

import hashlib

from agent_core.agent.compaction.compacted_view import render_summary, shorten
from agent_core.agent.compaction.left_out import propose, show
from agent_core.errors import ModelDeclined, ModelRejected, ModelUnsupported
from agent_core.events import TurnEnded
from agent_core.ids import CallId
from agent_core.transcript import (
    DocumentPart,
    ImagePart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    dump_parts,
    mark_stood_in,
    user_message,
)
from tests.agent_core.agent.loop.rig import Rig
from tests.fakes.journal import FakeJournal
from tests.fakes.model import say


def answer(text: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=text),))


TALK = (user_message("one"), answer("first"), user_message("two"), answer("notice"))
NEXT = user_message("three")


DONE = TurnEnded(ending="answered", text="Fine.", reason="left_out_message")
EARLIER = TurnEnded(ending="answered", text="Fine.", reason="left_out_earlier")


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages if message.text]


async def test_the_newest_message_is_left_out_first_and_recorded() -> None:
    rig = Rig([ModelRejected("no")], say("Fine."))
    ended = (await rig.run((*TALK, NEXT)))[-1]
    assert ended == DONE
    assert texts(rig.model.requests[-1].messages) == ["one", "first", "two", "notice"]
    (note,) = rig.journal.inputs[-1]
    assert show((*TALK, NEXT, note)) == rig.model.requests[-1].messages


async def test_a_declined_message_before_the_newest_is_left_out() -> None:
    rig = Rig([ModelDeclined("filtered")], say("Fine."))
    assert (await rig.run((*TALK, NEXT)))[-1] == EARLIER
    assert texts(rig.model.requests[-1].messages) == ["one", "first", "three"]


async def test_a_declined_first_message_ends_as_declined_at_once() -> None:
    rig = Rig([ModelDeclined("filtered")])
    ended = await rig.end()
    assert (ended.ending, rig.journal.inputs) == ("refused", [])


async def test_a_refusal_of_the_form_leaves_nothing_out_and_is_told_to_the_owners_once() -> None:
    refusal = ModelUnsupported("answered 400: Unsupported parameter: 'temperature'")
    rig = Rig([refusal], [refusal])
    for _ in range(2):
        ended = (await rig.run((*TALK, NEXT)))[-1]
        assert isinstance(ended, TurnEnded)
        assert (ended.reason, len(rig.journal.inputs)) == ("model_rejected", 0)
        rig.journal = FakeJournal()
    assert [(one.reason, one.detail) for one in rig.host.faults] == [
        ("model_rejected", str(refusal))
    ]


async def test_a_declined_message_is_told_to_the_owners_once() -> None:
    rig = Rig([ModelDeclined("filtered: words")], say("Hi."), [ModelDeclined("filtered: other")])
    for _ in range(3):
        await rig.run((user_message("hello"),))
        rig.journal = FakeJournal()
    assert [one.reason for one in rig.host.faults] == ["model_declined"]


async def test_nothing_is_recorded_if_no_try_is_accepted() -> None:
    rig = Rig(*[[ModelRejected("no")]] * 4)
    ended = (await rig.run((*TALK, NEXT)))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.reason == "model_rejected"
    assert (rig.journal.inputs, rig.model.plays) == ([], [])


def test_a_note_holds_for_a_result_that_a_compaction_shortens() -> None:
    call = ToolCallPart(call_id=CallId("c"), name="fetch", arguments="{}")
    picture = ImagePart(file_key="k", media_type="image/png", size=3)
    for length in (5, 1590, 3000):
        result = ToolResultPart(call_id=CallId("c"), name="fetch", text="x" * length)
        results = Message(role="tool", parts=(result, picture))
        talk = (user_message("one"), Message(role="assistant", parts=(call,)), results)
        note = next(propose(talk, is_declined=False)).note
        shortened = tuple(shorten(one) for one in talk)
        assert shortened != talk
        assert show((*talk, note)) == (talk[0], note)
        assert show((*shortened, note)) == (talk[0], note)


def test_an_older_note_holds_for_a_long_result() -> None:
    """Notes named a message by its whole content before; those are stored."""
    result = ToolResultPart(call_id=CallId("c"), name="fetch", text="x" * 3000)
    long = Message(role="tool", parts=(result,))
    said = f"tool\n{dump_parts(long.parts)}"
    mark = hashlib.sha256(said.encode()).hexdigest()[:16]
    old = f"<facts>\nLeft out, {mark} to {mark}: the model's server refused it.\n</facts>"
    note = Message(role="user", parts=(TextPart(text=old, is_fact=True),))
    assert show((long, note)) == (note,)


def test_a_note_holds_for_a_shortened_transcript_and_leaves_the_rest() -> None:
    notes = [one.note for one in propose((*TALK, NEXT), is_declined=True)]
    assert texts(show((*TALK, NEXT, notes[0]))) == ["one", "first", "three"]
    assert texts(show((*TALK, NEXT, notes[1]))) == ["three"]
    assert texts(show((*TALK[2:], NEXT, notes[0], TALK[2]))) == ["three", "two"]
    assert texts(show((TALK[0], NEXT, notes[0]))) == ["one", "three"]


def stood_in(text: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=text), mark_stood_in("stand-in")))


def test_turns_in_which_the_stand_in_only_talked_are_left_out() -> None:
    file = DocumentPart(name="a.txt", text="<attached-file>a</attached-file>")
    picture = user_message("what is this?", parts=(file,))
    news = user_message("hello", facts='<facts>\nNew in memory: ["Likes tea"]\n</facts>')
    call = ToolCallPart(call_id=CallId("c1"), name="memory", arguments="{}")
    result = ToolResultPart(call_id=CallId("c1"), name="memory", text="Saved.")
    acted = (
        user_message("remember that I like tea"),
        Message(role="assistant", parts=(call,)),
        Message(role="tool", parts=(result,)),
    )
    none = stood_in("no language model is connected")
    talk = (*TALK, user_message("hi"), none, picture, none, news, none, *acted, none)
    ok = answer("OK.")
    assert show((*talk, NEXT)) == (*TALK, picture, ok, news, ok, *acted, ok, NEXT)
    assert show((*talk, NEXT), by_stand_in=True) == (*talk, NEXT)


def test_a_turn_that_failed_stays_before_a_turn_of_the_stand_in() -> None:
    failed = (user_message("two"), answer("The model didn't answer."))
    talk = (*TALK[:2], *failed, user_message("hi"), stood_in("no language model is connected"))
    assert show((*talk, NEXT)) == (*TALK[:2], *failed, NEXT)


def test_what_a_compaction_left_stays_before_a_turn_of_the_stand_in() -> None:
    plan = Message(role="user", parts=(TextPart(text="<facts>A plan</facts>", is_fact=True),))
    summary = render_summary("Ann's boiler leaks.")
    talk = (summary, plan, user_message("hi"), stood_in("no language model is connected"))
    assert show((*talk, NEXT)) == (summary, plan, NEXT)
