"""Talaria as an MCP server, with the real client of the SDK, over HTTP and standard streams."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from gateway.home import MEMORIES
from tests.fakes.chat import FakeChat, Shown
from tests.fakes.model import FakeModel
from tests.integration.canaries import fill
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, make_token
from tests.integration.processes import ROOT, talaria_beside
from tests.integration.processes import running as starting
from tests.integration.served import Served, served

pytest.importorskip("mcp")

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.patience import PATIENCE

JOBS = {"remind", "schedule_job", "manage_jobs"}
TOOLS = {"recall", "memory", "archive", "send_message", "read_memory", *JOBS}


@dataclass
class Setup:
    """A gateway in which Olga and Zebrana have talked, with a token for each."""

    served: Served
    chat: FakeChat
    home: Path
    olga: str
    zebrana: str

    @asynccontextmanager
    async def connect(self, token: str, mode: str = "auto") -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode) as client:  # type: ignore[arg-type]
                yield client

    @property
    def url(self) -> str:
        return str((self.served.address / "mcp").with_query(None))

    async def sees(self, chat_id: str, text: str) -> Shown:
        """Return the message in a chat that holds a text, once it is there."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for one in self.chat.shown:
                    if one.chat_id == chat_id and text in one.text:
                        return one
                await asyncio.sleep(0.005)


@pytest.fixture
async def setup(home: Path) -> AsyncIterator[Setup]:
    chat = FakeChat(limit=100_000)
    async with served(home, adapters={"fake": chat}, model=FakeModel()) as running:
        olga, zebrana = [await make_token(home, slug, "mcp") for slug in ("olga", "zebrana")]
        yield Setup(running, chat, home, olga, zebrana)


async def call(client: Client, tool: str, **arguments: object) -> tuple[str, bool]:
    result = await client.call_tool(tool, arguments)
    return "\n".join(getattr(part, "text", "") for part in result.content), bool(result.is_error)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_protocols_list_the_tools(setup: Setup, mode: str) -> None:
    async with setup.connect(setup.olga, mode) as client:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == TOOLS
        assert next(tool for tool in listed if tool.name == "recall").annotations.read_only_hint


async def test_no_token_reads_the_words_of_another_person(setup: Setup) -> None:
    async with setup.connect(setup.zebrana) as client:
        assert "bluefishmemory" in (await call(client, "read_memory"))[0]
        assert "bluefishsaid" in (await call(client, "recall", query="bluefishsaid"))[0]
    async with setup.connect(setup.olga) as client:
        everything = [
            await call(client, "read_memory"),
            await call(client, "recall", query="bluefishsaid"),
            await call(client, "recall"),
            await call(client, "archive", action="search", query="bluefisharchive"),
            await call(client, "archive", action="tags"),
            await call(client, "manage_jobs", action="list"),
            await call(client, "jobs", action="list"),  # its name of old
        ]
        shown = json.dumps([text for text, _ in everything]).replace("query=", "")
        assert "bluefishmemory" not in shown
        assert "Zebrana" not in shown


async def test_a_change_waits_for_the_person_and_is_made_once(setup: Setup) -> None:
    async with setup.connect(setup.olga) as client:
        text, is_error = await call(
            client, "memory", action="add", target="user", text="Likes green tea"
        )
        assert (text.startswith("Proposed, not done"), is_error) == (True, False)
        assert "green tea" not in (await call(client, "read_memory"))[0]
        asked = await setup.sees(OLGA, "Likes green tea")
        assert "a request from your program `laptop mcp`" in asked.text
        await setup.chat.press("Accept", user=OLGA, chat=OLGA, name="Olga")
        file = setup.home / MEMORIES / "people" / "olga" / "USER.md"
        async with asyncio.timeout(PATIENCE):
            while not file.exists() or "green tea" not in file.read_text():
                await asyncio.sleep(0.005)
        assert "- Likes green tea" in (await call(client, "read_memory"))[0]


async def test_a_message_goes_to_the_person_alone(setup: Setup) -> None:
    async with setup.connect(setup.olga) as client:
        assert await call(client, "send_message", to="me", text="The build is green.") == (
            "Sent to me.",
            False,
        )
        await setup.sees(OLGA, "The build is green.")
        text, is_error = await call(client, "send_message", to="#dinner", text="Hi!")
        assert is_error
        assert "#dinner" in text
    assert not [one for one in setup.chat.shown if one.chat_id == ZEBRANA]


async def test_what_is_wrong_is_one_clear_sentence(setup: Setup) -> None:
    async with setup.connect(setup.olga) as client:
        text, is_error = await call(client, "terminal", command="ls")
        assert is_error
        assert text.startswith("There is no tool 'terminal'. There are: recall, memory,")
        text, is_error = await call(client, "recall", query=5)
        assert is_error
        assert text.startswith("`recall` was not run")
        for _ in range(120):
            text, is_error = await call(client, "read_memory")
        assert (text, is_error) == ("Too many calls: at most 120 a minute. Wait a minute.", True)


async def test_only_a_valid_token_from_no_other_site_gets_in(setup: Setup) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with aiohttp.ClientSession() as session:

        async def ask(**headers: str) -> tuple[int, str]:
            async with session.post(setup.url, json=ping, headers=headers) as answer:
                return answer.status, await answer.text()

        status, text = await ask()
        assert (status, "`talaria tokens create` makes one" in text) == (401, True)
        assert (await ask(Authorization="Bearer talaria_wrong"))[0] == 401
        mine = f"Bearer {setup.olga}"
        assert (await ask(Authorization=mine, Origin="https://evil.example"))[0] == 403
        assert (await ask(Authorization=mine, Accept="application/json"))[0] == 200
        async with session.get(setup.url, headers={"Authorization": mine}) as answer:
            assert answer.status in (401, 405)
        await talaria_beside(setup.home, "tokens", "revoke", "1")
        assert (await ask(Authorization=mine, Accept="application/json"))[0] == 401


async def test_a_token_ends_with_the_access_of_its_person(setup: Setup, tmp_path: Path) -> None:
    home = tmp_path / "other"
    await fill(home)
    async with served(home) as running:  # nobody is on its list
        outside = Setup(running, setup.chat, home, await make_token(home, "olga", "mcp"), "")
        async with outside.connect(outside.olga) as client:
            assert not (await client.list_tools()).tools
            assert await call(client, "recall") == (
                "The person of this token may not use Talaria any more.",
                True,
            )


@pytest.mark.thorough
async def test_a_program_on_this_computer_needs_no_token(setup: Setup) -> None:
    environ = {"PATH": os.environ["PATH"], "TALARIA_HOME": str(setup.home), "PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "gateway", "mcp", "serve", "--person", "zebrana"],
        env=environ,
    )
    async with Client(server) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        assert "bluefishmemory" in (await call(client, "read_memory"))[0]
    wrong = await talaria_beside(setup.home, "mcp", "serve", "--person", "nobody")
    assert wrong.code == 1
    assert "There is no person nobody; `talaria people list`" in wrong.err


async def test_without_a_gateway_it_says_what_to_do(tmp_path: Path) -> None:
    done = await talaria_beside(tmp_path / "home", "mcp", "serve", "--person", "ada")
    assert done.code == 2
    assert "Start one with `talaria run`." in done.err


@pytest.mark.thorough
async def test_a_broken_sdk_is_an_error_and_no_endless_wait(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise RuntimeError('half installed')")
    given = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    async with starting(home, is_forked=False, **given) as gateway, aiohttp.ClientSession() as http:
        token = await make_token(home, "olga", "mcp")
        for _ in range(2):
            async with http.post(
                f"http://127.0.0.1:{gateway.port}/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
                headers={"Authorization": f"Bearer {token}"},
            ) as answer:
                assert answer.status == 500
