"""A turn and its model: tools, refusals, limits, faults and fallbacks."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec
from gateway.texts import general
from tests.emulators.streaming import Answer, Fault, text_answer
from tests.emulators.telegram_cast import ANNA
from tests.journeys.stage import Stage, call, calls, heard, results, system_of
from tests.patience import PATIENCE

FIRST, SECOND = "claude-sonnet-5-5", "claude-haiku-5-5"
OVERLOADED = Fault(status=529, error="overloaded_error", message="Overloaded")
NO_WORDS = Answer(blocks=[])


_MEET = ToolSpec(
    name="meet",
    description="Wait for the others.",
    schema='{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}',
)


@dataclass
class MeetTool:
    """Each call waits until all have started, so they only finish if they run in parallel."""

    parties: asyncio.Barrier
    ended: list[object] = field(default_factory=list)

    spec: ToolSpec = _MEET
    effect: Effect = "read"
    declaration = Declaration()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        async with asyncio.timeout(PATIENCE):
            turn = await self.parties.wait()
        # The first to start is the last to finish.
        for _ in range(10 * (self.parties.parties - turn)):
            await asyncio.sleep(0)
        self.ended.append(arguments["who"])
        return ToolResult(text=f"{arguments['who']} was there")


async def test_calls_run_in_parallel_and_return_results_in_order(
    stage: Stage,
) -> None:
    meet = MeetTool(asyncio.Barrier(3))
    stage.plan(
        Answer(
            blocks=[
                {"type": "text", "text": "Let me bring them together."},
                *(call("meet", who=name) for name in ("Ada", "Bob", "Cleo")),
            ],
            stop="tool_use",
        ),
        "All three met.",
    )
    async with stage.open(tools=(meet,)) as harness:
        assert await harness.ask(ANNA, "bring them together") == "All three met."
    assert sorted(map(str, meet.ended)) == ["Ada", "Bob", "Cleo"]
    assert meet.ended != ["Ada", "Bob", "Cleo"]
    assert results(stage.turns[-1]) == ["Ada was there", "Bob was there", "Cleo was there"]
    assert [m["role"] for m in stage.turns[-1]["messages"]] == ["user", "assistant", "user"]


WHOLE = '{"action":"add","target":"user","text":"Lives in Paris"}'


@pytest.mark.parametrize("words", ["", "I'll note that. "], ids=["bare", "with words"])
@pytest.mark.parametrize("arguments", [WHOLE[:-9], WHOLE], ids=["cut", "whole by chance"])
async def test_a_call_in_a_truncated_answer_is_never_run(
    stage: Stage, words: str, arguments: str
) -> None:
    blocks = [{"type": "text", "text": words}] if words else []
    cut = {"type": "tool_use", "name": "memory", "input_json": arguments}
    stage.plan(Answer(blocks=[*blocks, cut], stop="max_tokens"))
    async with stage.open() as harness:
        reported = await harness.ask(ANNA, "I live in Paris")
        if words:
            assert reported.startswith("I'll note that.")
            assert "This answer is cut off" in reported
        else:
            assert "ran out of space" in reported
            assert "/retry" in reported
        assert await harness.count("ledger", "target <> 'soul'") == 0
        assert await harness.count("steps", "1 = 1") == 0
        assert await harness.ask(ANNA, "go on") == "echo: go on"


async def test_a_refusal_is_shown_and_the_conversation_continues(stage: Stage) -> None:
    stage.plan(Answer(blocks=[], stop="refusal", stop_details={"category": "bio"}))
    async with stage.open() as harness:
        reported = await harness.ask(ANNA, "something dark")
        assert "The model declined to answer this (bio)" in reported
        assert await harness.ask(ANNA, "something bright") == "echo: something bright"


async def test_an_answer_at_the_length_limit_says_so(stage: Stage) -> None:
    stage.plan(text_answer("A very long st", stop="max_tokens"))
    async with stage.open() as harness:
        reported = await harness.ask(ANNA, "tell me all")
    assert reported == (
        "A very long st\n\n(This answer is cut off, because the model can't write a longer one at"
        " once. Say “go on” to continue.)"
    )


async def test_an_unknown_stop_reason_ends_an_answer(stage: Stage) -> None:
    stage.plan(text_answer("So be it.", stop="bored"))
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "and?") == "So be it."


async def test_a_paused_answer_is_sent_back_unchanged_and_continued(stage: Stage) -> None:
    thinking = {"type": "thinking", "thinking": "hm, so far"}
    text = {"type": "text", "text": "I am at it. "}
    stage.plan(Answer(blocks=[text, thinking, text], stop="pause_turn"), "Done.")
    async with stage.open() as harness:
        assert (await harness.ask(ANNA, "a long job")).endswith("Done.")
    assert stage.turns[-1]["messages"][-1]["role"] == "assistant"


async def test_thinking_goes_back_unchanged_with_tool_results(stage: Stage) -> None:
    stage.plan(
        Answer(
            blocks=[
                {"type": "thinking", "thinking": "I should look that up"},
                call("recall", query="boat"),
            ],
            stop="tool_use",
        ),
        "Nothing there.",
    )
    async with stage.open() as harness:
        # The emulator refuses thinking blocks with a foreign signature.
        assert await harness.ask(ANNA, "my boat?") == "Nothing there."
    blocks = stage.turns[-1]["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["thinking", "tool_use"]


async def test_an_overloaded_model_is_retried_after_its_delay(stage: Stage) -> None:
    stage.plan(
        Fault(status=529, error="overloaded_error", message="Overloaded", retry_after="1.2"),
        "There you go.",
    )
    async with stage.open() as harness:
        started = asyncio.get_running_loop().time()
        assert await harness.ask(ANNA, "hello") == "There you go."
        assert asyncio.get_running_loop().time() - started > 1.2
    assert [body["model"] for body in stage.turns] == [FIRST, FIRST]
    assert stage.turns[0] == stage.turns[1]


async def test_an_interrupted_answer_is_repeated_and_shown_once(stage: Stage) -> None:
    whole = "The first half is this one. " * 3 + "The second half is that one."
    stage.model.pace, stage.model.deltas = 0.08, 16
    stage.plan(Fault(answer=text_answer(whole), after_events=15, then="cut"), text_answer(whole))
    async with stage.open(TALARIA_TELEGRAM__EDIT_INTERVAL="0.1") as harness:
        (message,) = await harness.messages_to(ANNA, "both halves, please")
    assert message.text == whole
    assert len(message.history) > 2, "something was shown before it broke"
    assert all(whole.startswith(text) for text in message.history)
    assert len(stage.turns) == 2
    assert stage.turns[0] == stage.turns[1]


async def test_an_error_within_the_stream_is_no_answer(stage: Stage) -> None:
    broken = Fault(
        answer=text_answer("Half"), after_events=4, then="error", error="overloaded_error"
    )
    stage.plan(broken, "Whole.")
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "hello") == "Whole."


async def test_the_fallback_answers_when_the_first_model_is_down(stage: Stage) -> None:
    stage.plan(OVERLOADED, calls(call("recall", query="boat")), "The other one here.")
    async with stage.open(TALARIA_MODEL__FALLBACKS=SECOND) as harness:
        assert await harness.ask(ANNA, "hello?") == "The other one here."
        assert [body["model"] for body in stage.turns] == [FIRST, SECOND, SECOND]
        # The next turn starts with the first model again.
        await harness.ask(ANNA, "and now?")
        assert stage.turns[-1]["model"] == FIRST


async def test_an_empty_answer_is_retried_and_then_reported(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(NO_WORDS, "Here I am.")
        assert await harness.ask(ANNA, "hello") == "Here I am."
        stage.plan(NO_WORDS, text_answer("  \n "))
        reported = await harness.ask(ANNA, "hello?")
        assert "gave no answer" in reported
        assert "/retry" in reported
        assert await harness.ask(ANNA, "/retry") == "echo: hello?"


async def test_a_conversation_too_long_for_the_model_offers_a_new_session(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "begin " + "x" * 3000)
        stage.model.window = 6000
        reported = await harness.ask(ANNA, "go on " + "y" * 9000)
        assert "start a new one with /new" in reported
        assert "I've started a new conversation" in await harness.ask(ANNA, "/new")
        assert await harness.ask(ANNA, "hello") == "echo: hello"


async def test_an_invalid_key_loses_no_answer(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.model.key = "another"
        refused = len(stage.model.requests)
        await stage.telegram.says(ANNA, "hello")
        await harness.until(lambda: not harness.gateway.lanes.is_idle())
        await harness.until(lambda: not stage.telegram.pending)
        assert len(stage.model.requests) >= refused
        stage.model.key = "key"
        await harness.sees(ANNA, "echo: hello")
        assert heard(stage.turns[-1])[-1] == "hello"


async def test_repeated_calls_get_a_warning_and_then_a_summary(stage: Stage) -> None:
    stage.plan(
        *(calls(call("memory", action="remove", target="user", old="unicorn")) for _ in range(4)),
        "I could not find that entry.",
    )
    async with stage.open() as harness:
        reported = await harness.ask(ANNA, "forget the unicorn")
    assert reported.startswith("I could not find that entry.")
    assert "repeating the same step" in reported
    assert "has failed 2 times" in results(stage.turns[2])[0]
    assert len(stage.turns) == 5


async def test_a_turn_that_used_its_steps_ends_with_a_summary(stage: Stage) -> None:
    stage.plan(*(calls(call("recall", query=f"thing {n}")) for n in range(4)), "So far nothing.")
    async with stage.open(TALARIA_TURNS__MAX_STEPS="2") as harness:
        reported = await harness.ask(ANNA, "search everything")
        # Cheap tools are refunded, as often as there are steps: 2 + 2 calls, then the summary.
        assert reported == general.describe_limit("steps", "So far nothing.")
        assert len(stage.turns) == 5
        stage.plan("And here is the rest.")
        assert await harness.ask(ANNA, "go on") == "And here is the rest."


async def test_a_turn_that_costs_too_much_ends_with_a_summary(stage: Stage) -> None:
    stage.plan(calls(call("recall", query="gold")), "That was dear.")
    async with stage.open(TALARIA_TURNS__MAX_COST_USD="0.000001") as harness:
        reported = await harness.ask(ANNA, "search for gold")
    assert reported.startswith("That was dear.")
    assert "my spending limit" in reported


async def test_a_message_while_a_tool_runs_steers_the_turn(stage: Stage) -> None:
    meet = MeetTool(asyncio.Barrier(2))
    stage.plan(calls(call("meet", who="Ada")), "Green it is.")
    async with stage.open(tools=(meet,)) as harness:
        await stage.telegram.says(ANNA, "paint the fence")
        await harness.until(lambda: meet.parties.n_waiting == 1)
        await stage.telegram.says(ANNA, "in green, please")
        await harness.until(lambda: not stage.telegram.pending and harness.gateway.router.is_idle())
        await meet.parties.wait()
        await harness.at_rest()
        assert stage.telegram.texts(ANNA) == ["Green it is."]
        assert heard(stage.turns[-1]) == ["paint the fence", "in green, please"]
        assert results(stage.turns[-1]) == ["Ada was there"]
        assert "You are Talaria" in system_of(stage.turns[-1])
