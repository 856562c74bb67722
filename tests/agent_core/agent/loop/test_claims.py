"""Answers that claim what did not happen: held back, asked about once, and corrected."""

import json
import re
from dataclasses import replace

from agent_core.agent.claims.notes import ask_again, is_question
from agent_core.agent.wishes import ProgramWishes
from agent_core.events import TextGrew, TurnEnded
from agent_core.tools.contract import ToolResult
from agent_core.transcript import Message, Receipt, TextPart
from tests.agent_core.agent.loop.rig import HELLO, Rig, fact_of, shown
from tests.fakes.model import Play, ask, call, say
from tests.fakes.tool import FakeTool, gives

LIE = "I've set a reminder for nine."
TRUTH = f"⚠ I wrote “{LIE}”, but I haven't scheduled anything. Please ask me again."
DONE = ToolResult(text="Created.", receipts=(Receipt(text="⏰ 09:00: call Ben"),))


def stream(text: str) -> Play:
    """An answer that arrives word by word."""
    return say(*re.findall(r"\S+\s*", text))


def ever_shown(events: object) -> str:
    assert isinstance(events, list)
    return "".join(one.delta for one in events if isinstance(one, TextGrew))


async def test_a_claim_is_asked_about_and_never_shown() -> None:
    rig = Rig(stream(LIE), stream("At what time?"))
    events = await rig.run()
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].text == "At what time?"
    assert "reminder" not in ever_shown(events)
    question = rig.model.requests[1].messages[-1]
    assert is_question(question)
    assert LIE in fact_of(question)
    assert rig.journal.transcript[:1] == [question]


async def test_what_is_before_a_claim_stays_and_is_not_said_again() -> None:
    rig = Rig(stream(f"Paris is lovely in May.\n{LIE} Enjoy!"), stream("At what time?"))
    events = await rig.run()
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.text == "Paris is lovely in May.\n\nAt what time?"
    assert shown(events) == ended.text
    assert "reminder" not in ever_shown(events)
    kept = Message(role="assistant", parts=(TextPart(text="Paris is lovely in May."),))
    assert rig.model.requests[1].messages[-2] == kept


async def test_a_model_that_is_asked_may_do_it() -> None:
    tool = FakeTool("do", gives(DONE), effect="idempotent")
    rig = Rig(stream(LIE), ask(call("do")), stream(LIE), tools=[tool])
    ended = await rig.end()
    assert (ended.text, len(rig.model.requests)) == (LIE, 3)


async def test_a_repeated_claim_is_corrected_with_the_rest_kept() -> None:
    rig = Rig(stream(LIE), stream(f"Sure! {LIE} Bread is in the oven."))
    ended = await rig.end()
    assert ended.text == f"Sure! Bread is in the oven.\n\n{TRUTH}"
    assert rig.journal.last_words is not None
    assert rig.journal.last_words[0].text == ended.text


async def test_a_turn_with_the_effect_may_claim_it() -> None:
    tool = FakeTool("do", gives(DONE), effect="idempotent")
    rig = Rig(ask(call("do"), text="One moment."), stream(LIE), tools=[tool])
    ended = await rig.end()
    assert ended.text == LIE


async def test_words_before_calls_are_shown_as_they_are() -> None:
    tool = FakeTool("do", gives(DONE), effect="idempotent")
    rig = Rig(ask(call("do"), text="I'll remind you, one moment."), stream("Fine."), tools=[tool])
    events = await rig.run()
    assert "I'll remind you, one moment." in ever_shown(events)
    assert shown(events) == "Fine."


async def test_at_a_limit_the_truth_is_told_without_a_question() -> None:
    rig = Rig(stream(LIE), steps=1)
    ended = await rig.end()
    assert ended.text == TRUTH


async def test_a_turn_that_goes_on_after_a_restart_is_asked_once_only() -> None:
    kept = Message(role="assistant", parts=(TextPart(text="Hello."),))
    rig = Rig(stream(LIE))
    events = await rig.run([HELLO, kept, ask_again(LIE)], own=3)
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.text == f"Hello.\n\n{TRUTH}"


async def test_a_form_for_a_program_is_not_judged() -> None:
    form = json.dumps({"reply": LIE})
    wishes = ProgramWishes(response_schema='{"type": "object"}')
    rig = Rig(stream(form))
    events = await rig.play(replace(rig.turn(), wishes=wishes))
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert (ended.text, len(rig.model.requests)) == (form, 1)
    assert ever_shown(events) == form


async def test_an_honest_answer_streams_as_it_comes_and_costs_nothing() -> None:
    rig = Rig(stream("The museum opens at ten. You can set a reminder in your clock app."))
    events = await rig.run()
    assert len(rig.model.requests) == 1
    assert sum(isinstance(one, TextGrew) for one in events) > 8
