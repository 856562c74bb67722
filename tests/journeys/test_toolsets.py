"""Tools that people switch off: at once and for good."""

from tests.emulators.telegram_cast import ANNA, SUPERGROUP
from tests.journeys.stage import Stage, call, calls


def names(turn: dict[str, object]) -> list[str]:
    tools = turn["tools"]
    assert isinstance(tools, list)
    return [tool["name"] for tool in tools]


async def test_a_tool_that_is_switched_off_is_refused_and_leaves_the_next_prompt(
    stage: Stage,
) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        assert "recall" in names(stage.turns[-1])
        told = await harness.ask(ANNA, "/tools off recall")
        assert "Turned off here: search earlier conversations." in told
        stage.plan(calls(call("recall", query="boiler")), "I can't look.")
        assert "I can't look." in await harness.ask(ANNA, "what did I say about the boiler?")
        assert "recall" in names(stage.turns[-1]), "the prompt of the session stays as it is"
        assert "is switched off here" in str(stage.turns[-1]["messages"])
        assert "search earlier conversations (off)" in await harness.ask(ANNA, "/tools")
    async with stage.open() as harness:
        await harness.ask(ANNA, "/new")
        await harness.ask(ANNA, "hello")
        assert "recall" not in names(stage.turns[-1])
        await harness.ask(ANNA, "/tools on recall")
        await harness.ask(ANNA, "/new")
        await harness.ask(ANNA, "hello")
        assert "recall" in names(stage.turns[-1])


async def test_a_group_has_its_own_tools(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, "/tools off recall")
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        assert "recall" in names(stage.turns[-1])
        assert "(off)" not in await harness.ask(ANNA, "/tools", chat=SUPERGROUP)


async def test_a_wrong_name_is_answered_with_the_nearest_one(stage: Stage) -> None:
    async with stage.open() as harness:
        told = await harness.ask(ANNA, "/tools off recal")
        assert "There's no tool called “recal” here. Did you mean “recall”?" in told
        assert "/tools off NAME" in await harness.ask(ANNA, "/tools please")
