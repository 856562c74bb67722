"""Money of the day with a real provider's SDK: one budget on every platform, others unharmed."""

from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.stage import Stage, is_turn
from tests.journeys.test_one_person import join
from tests.journeys.test_people import claim

LITTLE = {"TALARIA_COST__PERSON_DAY_USD": "0.002"}
"""US dollars: less than one answer costs with an empty cache, more than it does at the least."""


async def test_who_spent_the_day_on_one_platform_is_stopped_on_all_and_others_are_not(
    town: Stage,
) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open(allow=f"telegram:{BEN}", **LITTLE) as house:
        await claim(house)
        await join(house, telegram, discord)
        assert await house.hears(telegram, "hello") == "echo: hello"
        calls = len(town.turns)
        refused = await house.hears(discord, "and here?")
        assert "your daily limit of $0.0020 is used up" in refused
        assert "at 00:00 (UTC)" in refused
        assert "change cost.person_day_usd" in refused
        assert len(town.turns) == calls
        assert await house.ask(BEN, "hello") == "echo: hello"
        told = await house.hears(telegram, "/usage")
        assert "Answers, claude-sonnet-5-5: 1 call" in told
        assert "Prices as of: claude-sonnet-5-5 2026-11-20" in told


async def test_near_the_ceiling_haiku_answers(stage: Stage) -> None:
    near = {"TALARIA_COST__CHEAP_FROM_PERCENT": "1", "TALARIA_COST__PERSON_DAY_USD": "0.05"}
    async with stage.open(**near) as house:
        await house.ask(ANNA, "hello")
        assert "a smaller model answers" in await house.ask(ANNA, "again")
        assert await house.ask(ANNA, "once more") == "echo: once more"
    models = [body["model"] for body in stage.model.requests if is_turn(body)]
    assert models == ["claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-5-5"]
