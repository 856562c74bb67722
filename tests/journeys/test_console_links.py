"""The link to a person's pages in each chat: a button, or an address with a warning."""

import json
import re

from gateway.texts import access
from tests.emulators.telegram_cast import ANNA
from tests.integration.processes import free_port
from tests.journeys.accounts import texts
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Stage

PUBLIC = "https://talaria.example.org"


def list_pages(deployment: Stage, platform: str) -> list[str]:
    """Return the addresses that buttons of the bot open, oldest first."""
    if platform == "telegram":
        shown: list[object] = [one.keyboard for one in deployment.telegram.messages(ANNA)]
    elif platform == "discord":
        channel = deployment.discord.dm(ANNA)
        shown = [one.components for one in deployment.discord.messages(channel)]
    else:
        channel = deployment.slack.dm(ANNA)
        shown = [one.blocks for one in deployment.slack.messages(channel)]
    return re.findall(rf'"url": "({re.escape(PUBLIC)}[^"]*)"', json.dumps(shown))


@everywhere
async def test_a_button_opens_the_pages_where_they_have_a_public_address(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(
        TALARIA_HTTP__PORT=str(free_port()), TALARIA_HTTP__PUBLIC_URL=PUBLIC
    ) as harness:
        said = await harness.hears(anna, "/console")
        assert said == access.describe_link("", 10)
        (page,) = list_pages(deployment, platform)
        assert page.startswith(f"{PUBLIC}/login?link=")


@everywhere
async def test_an_address_of_this_computer_carries_a_warning(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(TALARIA_HTTP__PORT=str(free_port())) as harness:
        said = await harness.hears(anna, "/console")
        assert "http://127.0.0.1:" in said
        assert access.LINK_HERE[False]() in texts(anna)[-1]
