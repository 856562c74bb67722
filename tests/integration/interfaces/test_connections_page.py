"""The page of connections: a person connects their own account, and an owner accepts the tools."""

import asyncio
import html
import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from gateway.app.mcp_file import add_mcp_server
from gateway.texts.tools import OF_SERVER
from tests.agent_core.tools.mcp import oauth_server
from tests.agent_core.tools.mcp.oauth_server import OAuthServer
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.interfaces.page_texts import read
from tests.integration.served import served

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture
async def server() -> AsyncIterator[OAuthServer]:
    async with oauth_server.serve() as on:
        yield on


@pytest.fixture
async def setup(home: Path, server: OAuthServer) -> AsyncIterator[Setup]:
    """Olga (an owner) and Zebrana, and a server to which everybody connects."""
    table = {"url": f"{server.url}/mcp", "local": True, "oauth": True, "people": ["*"]}
    add_mcp_server(home, "web", table, {})
    chat, model = FakeChat(limit=100_000), FakeModel()
    async with served(home, adapters={"fake": chat}, model=model) as running:
        yield Setup(running, chat, model, home, "", "")


async def post(session: aiohttp.ClientSession, path: str, **form: str) -> tuple[int, str]:
    """Send a form; the status and the page that follows."""
    async with session.post(path, data=form) as answer:
        return answer.status, html.unescape(await answer.text())


async def connect(session: aiohttp.ClientSession, mail: str) -> str:
    """Sign in as a browser does; the page that follows."""
    while "Connect web" not in (await read(session, "/connections")):
        await asyncio.sleep(0.05)
    status, text = await post(session, "/connections/web/connect")
    link = re.search(r'href="(http[^"]+/door[^"]*)" target="_blank" rel="noopener', text)
    assert status == 200
    assert link is not None, text
    assert link[1] not in await read(session, "/connections"), "a link is shown once"
    address = await oauth_server.sign_in(link[1], mail)
    status, text = await post(session, "/connections/finish", address=address)
    assert status == 200
    return text


async def test_each_person_connects_and_ends_their_own_account(
    setup: Setup, server: OAuthServer
) -> None:
    async with (
        browse_as(setup.served, setup.chat, OLGA) as olga,
        browse_as(setup.served, setup.chat, ZEBRANA) as zebrana,
    ):
        assert "The service “web” is connected." in await connect(zebrana, "zebrana@x")
        assert "connected since" in await read(zebrana, "/connections")
        assert "connected since" not in await read(olga, "/connections")
        assert set(server.tokens.values()) == {"zebrana@x"}
        status, text = await post(olga, "/connections/web/end")
        assert (status, "You aren't connected to the service “web”." in text) == (409, True)
        status, text = await post(zebrana, "/connections/web/end")
        assert (status, "The service “web” is disconnected" in text) == (200, True)
        assert "not connected" in text


async def test_an_owner_accepts_what_the_server_offers_and_a_member_does_not(setup: Setup) -> None:
    async with (
        browse_as(setup.served, setup.chat, OLGA) as olga,
        browse_as(setup.served, setup.chat, ZEBRANA) as zebrana,
    ):
        await connect(zebrana, "zebrana@x")
        assert "All services" not in await read(zebrana, "/connections")
        text = await read(olga, "/connections")
        token = re.search(r'name="token" value="([^"]+)"', text)
        assert token is not None, text
        assert "your approval" in text
        status, _ = await post(zebrana, "/connections/web/accept", token=token[1])
        assert status == 404
        status, text = await post(olga, "/connections/web/accept", token="old")
        assert (status, "have changed in the meantime" in text) == (409, True)
        status, text = await post(olga, "/connections/web/accept", token=token[1])
        assert (status, "I can now use the tools of “web”." in text) == (200, True)
        assert "your approval" not in text
        text = await read(zebrana, "/tools")
        assert OF_SERVER(name="web") in text
        status, text = await post(zebrana, "/tools/switch", tool="web__inbox")
        assert (status, "Turned off here" in text) == (200, True)


async def test_a_wrong_address_or_server_is_one_sentence(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        for address, words in (
            ("", "Please fill this in."),
            ("https://example.org/?code=1&state=2", "I'm not expecting that address"),
        ):
            status, text = await post(session, "/connections/finish", address=address)
            assert status == 422
            assert words in text
            assert f'name="address" value="{address}"' in text
        status, text = await post(session, "/connections/none/connect")
        assert (status, "There's no service called “none”" in text) == (409, True)
        status, _ = await post(session, "/connections/web/retry")
        assert status == 404
