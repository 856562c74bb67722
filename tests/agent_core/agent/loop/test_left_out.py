"""The part of a transcript that a server refuses is left out, and only that."""

from agent_core.agent.loop.left_out import propose, show
from agent_core.errors import ModelDeclined, ModelRejected
from agent_core.events import TurnEnded
from agent_core.transcript import Message, TextPart, user_message
from tests.agent_core.agent.loop.rig import Rig
from tests.fakes.model import say


def answer(text: str) -> Message:
    return Message(role="assistant", parts=(TextPart(text=text),))


TALK = (user_message("one"), answer("first"), user_message("two"), answer("notice"))
NEXT = user_message("three")


DONE = TurnEnded(ending="answered", text="Fine.", reason="left_out")


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
    assert (await rig.run((*TALK, NEXT)))[-1] == DONE
    assert texts(rig.model.requests[-1].messages) == ["one", "first", "three"]


async def test_a_declined_first_message_ends_as_declined_at_once() -> None:
    rig = Rig([ModelDeclined("filtered")])
    ended = await rig.end()
    assert (ended.ending, rig.journal.inputs) == ("refused", [])


async def test_nothing_is_recorded_if_no_try_is_accepted() -> None:
    rig = Rig(*[[ModelRejected("no")]] * 4)
    ended = (await rig.run((*TALK, NEXT)))[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.reason == "model_rejected"
    assert (rig.journal.inputs, rig.model.plays) == ([], [])


def test_a_note_holds_for_a_shortened_transcript_and_leaves_the_rest() -> None:
    notes = list(propose((*TALK, NEXT), is_declined=True))
    assert texts(show((*TALK, NEXT, notes[0]))) == ["one", "first", "three"]
    assert texts(show((*TALK, NEXT, notes[1]))) == ["three"]
    assert texts(show((*TALK[2:], NEXT, notes[0], TALK[2]))) == ["three", "two"]
    assert texts(show((TALK[0], NEXT, notes[0]))) == ["one", "three"]
