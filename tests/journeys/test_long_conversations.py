"""Long conversations: nobody notices a compaction, and no call exceeds the context window."""

from collections.abc import Mapping

from agent_core.tools.contract import ToolContext, ToolResult
from tests.emulators.anthropic_cache import measure
from tests.emulators.streaming import Answer
from tests.emulators.telegram_cast import ANNA
from tests.fakes.tool import FakeTool
from tests.journeys.stage import Stage, call

WORDS = "a long story about little " * 60
COUNT = "POST /v1/messages/count_tokens"


def sizes(stage: Stage) -> list[int]:
    """Return the tokens of turns' calls, as the provider counts them."""
    return [measure(body).tokens for body in stage.turns]


def summaries(stage: Stage) -> int:
    return sum("Sum it up" in str(body.get("system")) for body in stage.model.requests)


async def test_a_smaller_context_window_than_known_is_respected(stage: Stage) -> None:
    stage.model.window = 7_000
    async with stage.open() as harness:
        for number in range(14):
            assert f"part {number}:" in await harness.ask(ANNA, f"part {number}: {WORDS}")
    assert summaries(stage) > 0
    reported = sizes(stage)
    assert sum(size > stage.model.window for size in reported) <= 2, "refused, and learned from"
    assert reported[-1] <= stage.model.window


async def test_a_turns_thinking_and_calls_stay_whole_when_older_steps_are_compacted(
    stage: Stage,
) -> None:
    async def look(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(text=f"{context.call_id} sees " + "x" * 2500)

    thinks = [
        Answer(
            blocks=[
                {"type": "thinking", "thinking": f"step {step} of many"},
                call("look", place=f"place {step}"),
            ],
            stop="tool_use",
        )
        for step in range(36)
    ]
    stage.plan(*thinks, "I looked everywhere.")
    settings = {"TALARIA_CONTEXT__CAP_TOKENS": "12000", "TALARIA_TURNS__MAX_STEPS": "50"}
    async with stage.open(tools=(FakeTool("look", look),), **settings) as harness:
        assert await harness.ask(ANNA, "look everywhere") == "I looked everywhere."
        assert "what did you do?" in await harness.ask(ANNA, "what did you do?")
    assert max(sizes(stage)) <= 12_000
    assert summaries(stage) > 0
    assert all("look everywhere" in str(body["messages"]) for body in stage.turns)


async def test_the_provider_counts_tokens_only_near_the_limit(
    stage: Stage,
) -> None:
    async with stage.open(TALARIA_CONTEXT__CAP_TOKENS="12000") as harness:
        for number in range(20):
            await harness.ask(ANNA, f"part {number}: {WORDS}")
        counted = stage.model.calls[COUNT]
    async with stage.open(TALARIA_CONTEXT__CAP_TOKENS="12000") as harness:
        await harness.ask(ANNA, f"after a restart: {WORDS}")
        assert stage.model.calls[COUNT] <= counted + 1
    assert max(sizes(stage)) <= 12_000
    assert 0 < counted <= 8


async def test_usage_shows_the_cost_of_summaries(stage: Stage) -> None:
    async with stage.open(TALARIA_CONTEXT__CAP_TOKENS="8000") as harness:
        for number in range(8):
            await harness.ask(ANNA, f"part {number}: {WORDS}")
        assert summaries(stage) > 0
        assert "Summaries" in await harness.ask(ANNA, "/usage")
