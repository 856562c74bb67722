"""The surfaces of one gateway, and what a row says of a deed that is done on each."""

import asyncio
import html
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state.people import people
from tests.agent_core.tools.mcp.oauth_server import OAuthServer
from tests.fakes.model import FakeModel, Gate, say
from tests.fakes.model import ask as ask_for
from tests.fakes.model import call as call_of
from tests.integration.interfaces.api_setup import OLGA, Setup, find_named
from tests.integration.interfaces.console_setup import open_chat
from tests.integration.processes import talaria_beside
from tests.patience import PATIENCE

pytest.importorskip("mcp")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

Do = Callable[["Surfaces", str], Awaitable[Any]]


class Doer(FakeModel):
    """Plays its script; titles, for which there are no tools, are none of it."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if not request.tools:
            self.plays.insert(0, say("A talk"))
        async for piece in super().stream(request):
            yield piece


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """The surfaces of one gateway, for Olga, who is an owner."""

    setup: Setup
    page: aiohttp.ClientSession
    token: str
    mcp_token: str
    receiver: str = ""
    """The address of a program that gets events."""
    server: OAuthServer = field(default_factory=OAuthServer)
    """An MCP server, at which people sign in."""
    models: str = ""
    """The address of a server of models."""
    gates: dict[str, Gate] = field(default_factory=dict)
    """What holds the answers that are in progress, by the words that they answer."""
    used: set[tuple[str, str]] = field(default_factory=set)
    """What was used, as the table names it or as it was sent, by surface."""

    async def chat(self, words: str, **fields: object) -> int:
        """Send a command in the direct chat, and wait for its answer.

        Returns how many messages were shown before.
        """
        chat = self.setup.chat
        seen = len(chat.shown)
        self.used.add(("chat", words.split()[0].removeprefix("/") if words[:1] == "/" else "ask"))
        given = {"user": OLGA, "chat": OLGA, "name": "X", "id": f"deed-{seen}-{words}"} | fields
        await chat.says(words, **given)
        await chat.until(lambda: len(chat.shown) > seen)
        return seen

    async def tell(self, tool: str, **arguments: object) -> None:
        """Say something in the direct chat for which the model calls this tool."""
        self.used.add(("chat", f"ask:{tool}"))
        self.setup.model.plays = [ask_for(call_of(tool, json.dumps(arguments))), say("Done.")]
        await self.chat(f"Please {' '.join(str(one) for one in arguments.values())}")

    async def tell_and_agree(self, tool: str, **arguments: object) -> None:
        """Say something for which the model calls this tool, and agree to what is shown."""
        shown = self.setup.chat.shown
        seen = len(shown)
        await self.tell(tool, **arguments)
        await self.setup.chat.until(lambda: any(one.labels for one in shown[seen:]))
        await self.press(next(one.labels[0] for one in shown[seen:] if one.labels))

    async def press(self, label: str) -> None:
        """Press the newest button with this label in the direct chat."""
        self.used.add(("chat", "button"))
        await self.setup.chat.press(label, user=OLGA, chat=OLGA, name="X")

    async def chat_and_press(self, words: str, label: str) -> None:
        """Send a command in the direct chat, and press a button of its answer."""
        chat, seen = self.setup.chat, await self.chat(words)
        await chat.until(lambda: any(label in one.labels for one in chat.shown[seen:]))
        await self.press(label)

    async def wait_for(self, look: Callable[[], Awaitable[Any]]) -> Any:
        """Look again and again until something is there. Raises `TimeoutError`."""
        async with asyncio.timeout(PATIENCE):
            while not (found := await look()):
                await asyncio.sleep(0.01)
        return found

    async def call(self, tool: str, **arguments: object) -> None:
        """Call a tool over MCP."""
        self.used.add(("mcp", tool))
        headers = {"Authorization": f"Bearer {self.mcp_token}"}
        url = str((self.setup.served.address / "mcp").with_query(None))
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            done = await client.call_tool(tool, arguments)
            assert not done.is_error, done.content

    async def propose(self, tool: str, **arguments: object) -> None:
        """Call a tool over MCP, and accept in the chat what it proposes."""
        chat = self.setup.chat
        seen = len(chat.shown)
        await self.call(tool, **arguments)
        await chat.until(lambda: any("Accept" in one.labels for one in chat.shown[seen:]))
        await chat.press("Accept", user=OLGA, chat=OLGA, name="X")

    async def write_on_page(self, words: str) -> None:
        """Write in the chat of the page, and wait for the answer."""
        self.used.add(("page", "chat"))
        async with open_chat(self.page) as line:
            await line.say(words)
            while (await line.hear("message")).get("live"):
                pass

    async def read_page(self, path: str) -> str:
        """Read a page."""
        async with self.page.get(path) as answer:
            text = html.unescape(await answer.text())
            assert answer.status == 200, text
            return text

    async def wait_for_page(self, path: str, part: str) -> str:
        """Read a page again and again until it has a part; the page. Raises `TimeoutError`."""

        async def look() -> str:
            page = await self.read_page(path)
            return page if part in page else ""

        return str(await self.wait_for(look))

    async def post(self, path: str, **fields: str) -> str:
        """Send a form of the page; its text."""
        self.used.add(("page", f"POST {path}"))
        async with self.page.post(path, data=fields) as answer:
            text = html.unescape(await answer.text())
            assert answer.status == 200, (path, text.partition("<main")[2])
            return text

    async def post_all(self, path: str, form: list[tuple[str, str]]) -> None:
        """Send a form of the page with fields of the same name."""
        self.used.add(("page", f"POST {path}"))
        async with self.page.post(path, data=form) as answer:
            assert answer.status == 200, html.unescape(await answer.text())

    async def run(self, *words: str, given: str = "", **variables: str) -> None:
        """Run `talaria` beside the gateway."""
        self.used.add(("terminal", " ".join(words)))
        done = await talaria_beside(self.setup.home, *words, given=given, **variables)
        assert done.code == 0, done.err

    async def ask(self, verb: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        """Ask the API; its answer."""
        return await self._request(verb, path, json.dumps(body or {}), "application/json")

    async def send(self, path: str, data: bytes) -> Any:
        """Send a file to the API; its answer."""
        return await self._request("POST", path, data, "application/octet-stream")

    async def _request(self, verb: str, path: str, data: str | bytes, kind: str) -> Any:
        self.used.add(("api", f"{verb} {path}"))
        url = f"{self.setup.served.address.origin()}/api{path}"
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        async with (
            aiohttp.ClientSession(headers=head) as session,
            session.request(verb, url, data=data) as answer,
        ):
            text = await answer.text()
            assert answer.status < 300, (path, text)
            return json.loads(text or "null")

    async def read(self, look: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Read the database."""
        return await self.setup.served.gateway.database.read(look, *given, **named)

    async def count_tasks(self, kind: str) -> int:
        """Count the tasks of a kind that are not over."""
        sql = "SELECT COUNT(*) FROM tasks WHERE kind = :kind AND state <> 'done'"
        (found,) = await self.read(lambda c: c.execute(sql, {"kind": kind}).fetchone())
        return int(found)

    async def write(self, work: Callable[..., Any]) -> Any:
        """Write into the database."""
        return await self.setup.served.gateway.database.write("test", work)

    async def until_equal(self, row: "Row", what: str, surface: str) -> None:
        """Wait until a deed has left what the row says. Raises `AssertionError`."""
        found = None
        try:
            async with asyncio.timeout(PATIENCE):
                while (found := await row.look(self, what)) != row.left:
                    await asyncio.sleep(0.01)
        except TimeoutError:
            said = self.setup.chat.texts[-1:]
            raise AssertionError(
                f"{surface}: {row.deed}: {found} is not {row.left}: {said}"
            ) from None

    def now(self) -> int:
        return self.setup.served.gateway.now()

    def on(self, page: aiohttp.ClientSession) -> "Surfaces":
        """The same surfaces with the login of another browser."""
        return replace(self, page=page)

    async def find(self, slug: str) -> people.Person:
        return await find_named(self.setup, slug)

    async def olga(self) -> people.Person:
        return await find_named(self.setup, "olga")


async def keep(_: Surfaces, name: str) -> str:
    return name


@dataclass(frozen=True, kw_only=True)
class Row:
    """A deed of the table on each surface.

    `ready` makes what it is done to, and returns how that is named; `look` reads what was `left`.
    """

    deed: str
    by: Mapping[str, Do]
    look: Do
    left: object
    ready: Do = keep
