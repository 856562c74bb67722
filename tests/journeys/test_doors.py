"""Doors fail by themselves: one that is down, refused or slow harms no other."""

from gateway.interfaces.http.health import examine
from tests.emulators import telegram_faults
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import texts
from tests.journeys.stage import Stage
from tests.journeys.test_buttons import everywhere
from tests.journeys.test_one_person import join


@everywhere
async def test_a_platform_that_goes_down_harms_no_other_and_its_answer_waits(
    town: Stage, platform: str
) -> None:
    account = town.account(platform, ANNA)
    others = [one for one in town.accounts(ANNA) if one.platform != platform]
    server = town.servers[platform]
    async with town.open() as house:
        released = town.hold()
        await house.notes(account.says("a long one"))
        await house.until(lambda: len(town.turns) == 1)
        await server.stop()
        released.set()
        await house.until(lambda: house.state_of(platform) != "connected")
        for other in others:
            assert await house.hears(other, "hello") == "echo: hello"
        is_well, report = await examine(house.gateway)
        assert not is_well
        assert [problem.split()[0] for problem in report["problems"]] == [platform]
        assert texts(account) == []
        await server.start()
        await house.until(lambda: house.state_of(platform) == "connected", timeout=30)
        await house.until(lambda: texts(account) == ["echo: a long one"], timeout=30)
        assert await house.hears(account, "and now?") == "echo: and now?"


@everywhere
async def test_a_house_opens_while_one_of_its_platforms_is_not_there(
    town: Stage, platform: str
) -> None:
    account = town.account(platform, ANNA)
    others = [one for one in town.accounts(ANNA) if one.platform != platform]
    server = town.servers[platform]
    await server.stop()
    async with town.open(awaited=("console", *(one.platform for one in others))) as house:
        for other in others:
            assert await house.hears(other, "hello") == "echo: hello"
        await server.start()
        await house.until(lambda: house.state_of(platform) == "connected", timeout=30)
        assert await house.hears(account, "hello") == "echo: hello"


async def test_a_platform_that_answers_slowly_holds_up_nobody_elsewhere(town: Stage) -> None:
    telegram, discord, slack = town.accounts(ANNA)
    async with town.open(TALARIA_TURNS__DRAIN_SECONDS="0") as house:
        await join(house, telegram, discord)
        town.telegram.fail("sendMessage", kind=telegram_faults.HANG)
        await house.notes(telegram.says("one"))
        await house.until(lambda: len(town.turns) == 1)
        await house.notes(discord.says("two"))
        await house.notes(slack.says("three"))
        await house.until(lambda: texts(discord)[-1] == "echo: two")
        await house.until(lambda: texts(slack) == ["echo: three"])
        assert "echo: one" not in texts(telegram)
