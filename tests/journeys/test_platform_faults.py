"""Platforms fail independently: one that is down, refused or slow harms no other."""

from gateway.interfaces.health import examine
from tests.emulators import telegram_faults
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import texts
from tests.journeys.identities import join
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Stage


@everywhere
async def test_a_platform_outage_harms_no_other_and_its_answers_wait(
    deployment: Stage, platform: str
) -> None:
    account = deployment.account(platform, ANNA)
    others = [one for one in deployment.accounts(ANNA) if one.platform != platform]
    server = deployment.servers[platform]
    async with deployment.open() as harness:
        released = deployment.hold()
        await harness.notes(account.says("a long one"))
        await harness.until(lambda: len(deployment.turns) == 1)
        await server.stop()
        released.set()
        await harness.until(lambda: harness.state_of(platform) != "connected")
        for other in others:
            assert await harness.hears(other, "hello") == "echo: hello"
        is_well, report = await examine(harness.gateway)
        assert not is_well
        assert [problem.split()[0] for problem in report["problems"]] == [platform]
        assert texts(account) == []
        await server.start()
        await harness.until(lambda: harness.state_of(platform) == "connected")
        await harness.until(lambda: texts(account) == ["echo: a long one"])
        assert await harness.hears(account, "and now?") == "echo: and now?"


@everywhere
async def test_a_gateway_starts_while_a_platform_is_down(deployment: Stage, platform: str) -> None:
    account = deployment.account(platform, ANNA)
    others = [one for one in deployment.accounts(ANNA) if one.platform != platform]
    server = deployment.servers[platform]
    await server.stop()
    async with deployment.open(awaited=("console", *(one.platform for one in others))) as harness:
        for other in others:
            assert await harness.hears(other, "hello") == "echo: hello"
        await server.start()
        await harness.until(lambda: harness.state_of(platform) == "connected")
        assert await harness.hears(account, "hello") == "echo: hello"


async def test_a_slow_platform_delays_no_other(deployment: Stage) -> None:
    telegram, discord, slack = deployment.accounts(ANNA)
    async with deployment.open(TALARIA_TURNS__DRAIN_SECONDS="0") as harness:
        await join(harness, telegram, discord)
        deployment.telegram.fail("sendMessage", kind=telegram_faults.HANG)
        await harness.notes(telegram.says("one"))
        await harness.until(lambda: len(deployment.turns) == 1)
        await harness.notes(discord.says("two"))
        await harness.notes(slack.says("three"))
        await harness.until(lambda: texts(discord)[-1] == "echo: two")
        await harness.until(lambda: texts(slack) == ["echo: three"])
        assert "echo: one" not in texts(telegram)
