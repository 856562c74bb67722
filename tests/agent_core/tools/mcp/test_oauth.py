"""Servers behind OAuth: an owner signs in once, and tokens are renewed, kept and masked."""

import asyncio
import json
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from agent_core.tools.mcp import (
    CallHooks,
    Listing,
    McpConnection,
    McpServer,
    McpUnavailable,
    RunningCall,
    Surroundings,
    Timings,
    load_sessions,
)
from agent_core.tools.mcp.session import open_session
from tests.agent_core.tools.mcp.oauth_server import OAuthServer, serve
from tests.agent_core.tools.mcp.test_isolation import wait_for
from tests.emulators.sources import Sources


def make_server(on: OAuthServer) -> McpServer:
    return McpServer(name="web", url=f"{on.url}/mcp", is_local=True, has_oauth=True)


async def sign_in(link: str) -> str:
    async with httpx2.AsyncClient() as browser:
        return (await browser.get(link)).headers["location"]


async def refuse(link: str) -> str:
    pytest.fail("nobody should have to sign in again")


@pytest.fixture
def place(tmp_path: Path) -> Surroundings:
    return Surroundings(folder=tmp_path / "mcp", tokens=tmp_path / "tokens")


def nothing() -> None:
    pass


async def test_an_owner_signs_in_once(place: Surroundings, tmp_path: Path) -> None:
    async with serve() as on:
        server = make_server(on)
        async with open_session(server, place, nothing, sign_in) as session:
            listing = await session.list_tools()
            outcome = await session.call("whoami", {}, RunningCall(CallHooks(), 5))
        async with open_session(server, place, nothing, refuse) as session:
            assert await session.list_tools() == listing
        (token,) = on.tokens
    assert [tool.name for tool in listing.tools] == ["whoami"]
    assert token not in outcome.text
    assert outcome.text.startswith("your token is ")
    kept = tmp_path / "tokens" / "web.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text())["tokens"]["access_token"] == token
    assert on.registered == 1


async def test_an_answer_that_can_not_be_read_is_lost_and_no_failure(place: Surroundings) -> None:
    async with serve() as on, open_session(make_server(on), place, nothing, sign_in) as session:
        with pytest.raises(McpUnavailable, match="gave no answer"):
            await session.call("garble", {}, RunningCall(CallHooks(), 5))


async def test_a_token_is_renewed_without_its_owner(place: Surroundings) -> None:
    async with serve(lasts=1) as on:
        server = make_server(on)
        async with open_session(server, place, nothing, sign_in):
            pass
        async with open_session(server, place, nothing, refuse) as session:
            assert (await session.list_tools()).tools
    assert on.renewed >= 1


async def test_tokens_go_to_no_other_address(place: Surroundings) -> None:
    async with serve() as first, serve() as second:
        async with open_session(make_server(first), place, nothing, sign_in):
            pass
        asked: list[str] = []

        async def note(link: str) -> str:
            asked.append(link)
            return await sign_in(link)

        async with open_session(make_server(second), place, nothing, note):
            pass
    assert len(asked) == 1
    assert urlsplit(asked[0]).port == urlsplit(second.url).port


async def test_a_server_that_registers_nobody_is_told_with_what_to_do(place: Surroundings) -> None:
    said = "did not register Talaria; set client_id, and client_secret if it has one, in mcp.toml"
    async with serve() as on:
        on.is_closed = True
        with pytest.raises(McpUnavailable, match=said):
            async with open_session(make_server(on), place, nothing, refuse):
                pass


async def test_without_an_owner_it_says_what_to_do(place: Surroundings) -> None:
    async with serve() as on:
        with pytest.raises(McpUnavailable, match="needs an owner to sign in"):
            async with open_session(make_server(on), place, nothing):
                pass


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1/?error=access_denied", "did not let you in: access_denied"),
        ("no idea", "without a code"),
    ],
)
async def test_an_address_without_a_code_is_explained(
    place: Surroundings, address: str, said: str
) -> None:
    async def answer(link: str) -> str:
        return address

    async with serve() as on:
        with pytest.raises(McpUnavailable, match=said):
            async with open_session(make_server(on), place, nothing, answer):
                pass


async def test_a_page_without_https_is_not_offered(place: Surroundings) -> None:
    async with serve() as on:
        server = replace(make_server(on), is_local=False)
        with pytest.raises(McpUnavailable, match="without https"):
            async with open_session(server, place, nothing, sign_in):
                pass


@pytest.mark.parametrize("lead", ["resource", "issuer"])
async def test_a_server_leads_the_sign_in_to_no_private_address(
    place: Surroundings, lead: str
) -> None:
    async with serve() as on, Sources(host="127.0.0.2") as inside:
        setattr(on, lead, inside.url)
        server = McpServer(name="web", url=f"{on.url}/mcp", has_oauth=True)
        with pytest.raises(McpUnavailable):
            async with open_session(server, place, nothing, sign_in):
                pass
        assert inside.asked == []


async def test_a_connection_waits_until_its_owner_has_signed_in(place: Surroundings) -> None:
    async with serve() as on:
        connection = McpConnection(
            make_server(on),
            place,
            load_sessions,
            listed=ignore,
            timings=Timings(start=5, first_pause=60, longest_pause=60),
        )
        task = asyncio.create_task(connection.run())
        try:
            await wait_for(lambda: connection.state == "waiting")
            assert "sign in" in connection.fault
            assert not connection.sign_in.finish("http://127.0.0.1/?code=forged")
            link = await connection.begin_sign_in()
            again = await connection.begin_sign_in()
            assert link != again
            assert connection.sign_in.finish(await sign_in(again))
            await wait_for(lambda: connection.state == "ready")
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def test_a_token_that_was_taken_back_ends_the_connection(place: Surroundings) -> None:
    async with serve() as on:
        async with open_session(make_server(on), place, nothing, sign_in):
            pass
        connection = McpConnection(
            make_server(on),
            place,
            load_sessions,
            listed=ignore,
            timings=Timings(start=5, first_pause=60, longest_pause=60),
        )
        task = asyncio.create_task(connection.run())
        try:
            await wait_for(lambda: connection.state == "ready")
            on.tokens.clear()
            on.renewals.clear()
            with pytest.raises(McpUnavailable):
                await connection.call("whoami", {})
            await wait_for(lambda: connection.state == "waiting")
            assert "needs an owner to sign in" in connection.fault
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def ignore(server: McpServer, listing: Listing) -> None:
    pass
