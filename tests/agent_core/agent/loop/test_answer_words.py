"""What a model writes as words, and people must not read: calls and blocks of facts."""

import pytest

from agent_core.agent.loop.echoes import EchoFilter
from agent_core.events import TextGrew, TurnEnded
from tests.agent_core.agent.loop.rig import Rig
from tests.fakes.model import say
from tests.fakes.tool import FakeTool

CALL = '```json\n{"name": "look", "arguments": {}}\n```'
ECHOES = [
    ("Hello.", "Hello."),
    ("<facts>\nNow: noon\n</facts>\n\nHello.", "Hello."),
    ("Hello.\n<facts>\nNow: noon\n</facts>", "Hello.\n"),
    ("One. <facts>Now: noon</facts> Two.", "One. Two."),
    ("<facts>\nNow: noon\nPlace: here\n\nHello.", "Hello."),
    ("<facts>\nNow: noon", ""),
    ("The `<facts>` block is mine.", "The `<facts>` block is mine."),
    ("2 < 3 and <b>bold</b> <fac", "2 < 3 and <b>bold</b> <fac"),
]


@pytest.mark.parametrize(("said", "expected"), ECHOES)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_an_echo_is_stripped_in_every_cut(said: str, expected: str, size: int) -> None:
    echoes = EchoFilter()
    shown = "".join(echoes.feed(said[at : at + size]) for at in range(0, len(said), size))
    assert shown + echoes.finish() == expected


async def test_nobody_reads_a_block_of_facts() -> None:
    rig = Rig(say("<facts>\nNow: ", "noon\n</facts>\n", "Good day"))
    events = await rig.run()
    assert events == [TextGrew(delta="Good day"), TurnEnded(ending="answered", text="Good day")]
    assert [message.text for message in rig.journal.last_words or ()] == ["Good day"]


async def test_an_answer_of_facts_alone_is_asked_again() -> None:
    rig = Rig(say("<facts>\nNow: noon\n</facts>"), say("Good day"))
    assert (await rig.end()).text == "Good day"


async def test_a_call_that_any_server_prints_is_run_and_never_shown() -> None:
    tool = FakeTool("look")
    rig = Rig(say("I look.\n", *CALL), say("There."), tools=[tool])
    events = await rig.run()
    assert len(tool.asked) == 1
    assert "arguments" not in "".join(one.delta for one in events if isinstance(one, TextGrew))
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].text == "There."


async def test_a_printed_call_of_an_unknown_tool_is_asked_again() -> None:
    rig = Rig(
        say('{"name": "none_such", "arguments": {}}'), say("I can't."), tools=[FakeTool("look")]
    )
    assert (await rig.end()).text == "I can't."
    assert "There is no tool `none_such`" in str(rig.model.requests[-1].messages[-1])
