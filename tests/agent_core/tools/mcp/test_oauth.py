"""Servers behind OAuth: a person signs in once, and tokens are renewed, kept and masked."""

import asyncio
import json
import stat
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agent_core.tools.mcp.calls import CallHooks, RunningCall
from agent_core.tools.mcp.contract import (
    AccountFiles,
    AskPerson,
    Listing,
    McpServer,
    McpSession,
    McpUnavailable,
    Surroundings,
)
from agent_core.tools.mcp.loading import load_sessions
from agent_core.tools.mcp.session import open_session
from agent_core.tools.mcp.sign_in import decline_sign_in
from agent_core.tools.mcp.supervisor import McpConnection, Timings
from agent_core.tools.mcp.token_files import TokenFolder
from tests.agent_core.tools.mcp.oauth_server import OAuthServer, serve, sign_in
from tests.emulators.sources import Sources
from tests.patience import PATIENCE, until


def make_server(on: OAuthServer) -> McpServer:
    return McpServer(name="web", url=f"{on.url}/mcp", is_local=True, has_oauth=True)


async def refuse(link: str) -> str:
    pytest.fail("nobody should have to sign in again")


@dataclass(frozen=True)
class Place:
    """Where the sessions of one account run."""

    surroundings: Surroundings
    files: AccountFiles

    def open(
        self, server: McpServer, ask: AskPerson = decline_sign_in
    ) -> AbstractAsyncContextManager[McpSession]:
        return open_session(server, self.surroundings, nothing, ask, self.files)

    def connect(self, server: McpServer) -> McpConnection:
        async def find() -> AccountFiles:
            return self.files

        return McpConnection(
            server,
            self.surroundings,
            load_sessions,
            listed=ignore,
            timings=Timings(start=PATIENCE, first_pause=60, longest_pause=60),
            find_files=find,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    files = TokenFolder(tmp_path / "tokens").name_files("web", "key")
    return Place(Surroundings(folder=tmp_path / "mcp"), files)


def nothing() -> None:
    pass


async def test_a_person_signs_in_once(place: Place) -> None:
    async with serve() as on:
        server = make_server(on)
        async with place.open(server, sign_in) as session:
            listing = await session.list_tools()
            outcome = await session.call("whoami", {}, RunningCall(CallHooks(), 5))
        async with place.open(server, refuse) as session:
            assert await session.list_tools() == listing
        (token,) = on.tokens
    assert [tool.name for tool in listing.tools] == ["whoami", "inbox"]
    assert token not in outcome.text
    assert outcome.text.startswith("your token is ")
    kept = place.files.tokens
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text())["tokens"]["access_token"] == token
    assert on.registered == 1


async def test_an_answer_that_can_not_be_read_is_lost_and_no_failure(place: Place) -> None:
    async with serve() as on, place.open(make_server(on), sign_in) as session:
        with pytest.raises(McpUnavailable, match="gave no answer"):
            await session.call("garble", {}, RunningCall(CallHooks(), 5))


async def test_a_token_is_renewed_without_its_owner(place: Place) -> None:
    async with serve(lasts=1) as on:
        server = make_server(on)
        async with place.open(server, sign_in):
            pass
        async with place.open(server, refuse) as session:
            assert (await session.list_tools()).tools
    assert on.renewed >= 1


async def test_tokens_go_to_no_other_address(place: Place) -> None:
    async with serve() as first, serve() as second:
        async with place.open(make_server(first), sign_in):
            pass
        asked: list[str] = []

        async def note(link: str) -> str:
            asked.append(link)
            return await sign_in(link)

        async with place.open(make_server(second), note):
            pass
    assert len(asked) == 1
    assert urlsplit(asked[0]).port == urlsplit(second.url).port


async def test_a_server_that_registers_nobody_is_told_with_what_to_do(place: Place) -> None:
    said = "did not register Talaria; set client_id, and client_secret if it has one, in mcp.toml"
    async with serve() as on:
        on.is_closed = True
        with pytest.raises(McpUnavailable, match=said):
            async with place.open(make_server(on), refuse):
                pass


async def test_without_a_person_it_says_what_to_do(place: Place) -> None:
    async with serve() as on:
        with pytest.raises(McpUnavailable, match="needs a sign-in"):
            async with place.open(make_server(on)):
                pass


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1/?error=access_denied", "did not let you in: access_denied"),
        ("no idea", "without a code"),
    ],
)
async def test_an_address_without_a_code_is_explained(
    place: Place, address: str, said: str
) -> None:
    async def answer(link: str) -> str:
        return address

    async with serve() as on:
        with pytest.raises(McpUnavailable, match=said):
            async with place.open(make_server(on), answer):
                pass


async def test_a_page_without_https_is_not_offered(place: Place) -> None:
    async with serve() as on:
        server = replace(make_server(on), is_local=False)
        with pytest.raises(McpUnavailable, match="without https"):
            async with place.open(server, sign_in):
                pass


@pytest.mark.parametrize("lead", ["resource", "issuer"])
async def test_a_server_leads_the_sign_in_to_no_private_address(place: Place, lead: str) -> None:
    async with serve() as on, Sources(host="127.0.0.2") as inside:
        setattr(on, lead, inside.url)
        server = McpServer(name="web", url=f"{on.url}/mcp", has_oauth=True)
        with pytest.raises(McpUnavailable):
            async with place.open(server, sign_in):
                pass
        assert inside.asked == []


async def test_a_connection_waits_until_somebody_has_signed_in(place: Place) -> None:
    async with serve() as on:
        connection = place.connect(make_server(on))
        task = asyncio.create_task(connection.run())
        try:
            await until(lambda: connection.state == "waiting")
            assert "sign-in" in connection.fault
            assert connection.sign_in.finish("http://127.0.0.1/?code=forged") == "none"
            link = await connection.begin_sign_in()
            again = await connection.begin_sign_in()
            assert link != again
            assert connection.sign_in.finish(await sign_in(link)) == "foreign"
            address = await sign_in(again)
            assert connection.sign_in.finish(address) == "taken"
            assert connection.sign_in.finish(address) == "none"
            await until(lambda: connection.state == "ready")
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def test_a_token_that_was_taken_back_ends_the_connection(place: Place) -> None:
    async with serve() as on:
        async with place.open(make_server(on), sign_in):
            pass
        connection = place.connect(make_server(on))
        task = asyncio.create_task(connection.run())
        try:
            await until(lambda: connection.state == "ready")
            on.tokens.clear()
            on.renewals.clear()
            with pytest.raises(McpUnavailable):
                await connection.call("whoami", {})
            await until(lambda: connection.state == "waiting")
            assert "needs a sign-in" in connection.fault
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def ignore(server: McpServer, listing: Listing) -> None:
    pass


async def test_sessions_of_one_account_renew_its_tokens_one_after_the_other(place: Place) -> None:
    """The server takes a used refresh token for stolen, as many do."""
    async with serve(lasts=1) as on:
        server = make_server(on)
        async with place.open(server, sign_in):
            pass

        async def look() -> int:
            async with place.open(server, refuse) as session:
                return len((await session.list_tools()).tools)

        assert await asyncio.gather(*(look() for _ in range(6))) == [2] * 6
    assert on.renewed == 6


async def test_a_token_that_ended_early_is_renewed_without_its_person(place: Place) -> None:
    async with serve() as on:
        server = make_server(on)
        async with place.open(server, sign_in) as session:
            on.tokens.clear()
            assert (await session.list_tools()).tools
        on.tokens.clear()
        async with place.open(server, refuse) as session:
            assert (await session.list_tools()).tools
    assert on.renewed == 2


async def test_a_refused_renewal_asks_for_a_sign_in_at_the_next_attempt(place: Place) -> None:
    async with serve() as on:
        server = make_server(on)
        async with place.open(server, sign_in):
            pass
        on.tokens.clear()
        on.renewals.clear()
        with pytest.raises(McpUnavailable, match="needs a sign-in"):
            async with place.open(server, refuse):
                pass
        async with place.open(server, sign_in) as session:
            assert (await session.list_tools()).tools
