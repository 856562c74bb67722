"""Daily budgets with a real provider's SDK: one per person on all platforms."""

from agent_core.models.catalog import load_table
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.identities import claim, join
from tests.journeys.stage import Stage, is_turn

LITTLE = {"TALARIA_COST__PERSON_DAY_USD": "0.002"}
"""US dollars: less than an answer costs with an empty cache, more than with a full one."""


async def test_a_budget_spent_on_one_platform_counts_on_all_for_that_person(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open(allow=f"telegram:{BEN}", **LITTLE) as harness:
        await claim(harness)
        await join(harness, telegram, discord)
        assert await harness.hears(telegram, "hello") == "echo: hello"
        calls = len(deployment.turns)
        refused = await harness.hears(discord, "and here?")
        assert "your daily limit of $0.0020 is used up" in refused
        assert "tomorrow, 0:00" in refused
        assert "change cost.person_day_usd" in refused
        assert len(deployment.turns) == calls
        assert await harness.ask(BEN, "hello") == "echo: hello"
        reported = await harness.hears(telegram, "/usage")
        assert "Answers, claude-sonnet-5-5: 1 call" in reported
        known = load_table().find("claude-sonnet-5-5")
        assert known
        assert f"Date of each price: claude-sonnet-5-5 {known.price.as_of}" in reported


async def test_near_the_quota_haiku_answers(stage: Stage) -> None:
    near = {"TALARIA_COST__CHEAP_FROM_PERCENT": "1", "TALARIA_COST__PERSON_DAY_USD": "0.05"}
    async with stage.open(**near) as harness:
        await harness.ask(ANNA, "hello")
        assert "a smaller model answers" in await harness.ask(ANNA, "again")
        assert await harness.ask(ANNA, "once more") == "echo: once more"
    models = [body["model"] for body in stage.model.requests if is_turn(body)]
    assert models == ["claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-5-5"]
