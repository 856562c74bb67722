"""Browsers that are logged in to the console's pages."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import aiohttp

from tests.fakes.chat import FakeChat
from tests.integration.served import Served
from tests.patience import PATIENCE

Form = Mapping[str, str] | Sequence[tuple[str, str]]

_NUMBERS = count()
"""Of messages, which no earlier process may have used in the same home."""


@asynccontextmanager
async def browse(running: Served, **headers: str) -> AsyncIterator[aiohttp.ClientSession]:
    """A session that is logged in by the printed address, as a browser is."""
    async with open_browser(running, headers) as session:
        async with session.get(running.page.relative()) as page:
            assert page.status == 200
        yield session


@asynccontextmanager
async def open_browser(
    running: Served, headers: Mapping[str, str] | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    """A session without a login."""
    jar = aiohttp.CookieJar(unsafe=True)
    origin = running.address.origin()
    async with aiohttp.ClientSession(origin, cookie_jar=jar, headers=headers) as session:
        yield session


async def ask_link(chat: FakeChat, user: str) -> str:
    """The path and query of the link that `/console` gives a person in their direct chat."""
    seen = len(chat.shown)
    await chat.says("/console", user=user, chat=user, name="X", id=f"console-{next(_NUMBERS)}")
    await chat.until(lambda: any("/login?link=" in one.text for one in chat.shown[seen:]))
    text = next(one.text for one in chat.shown[seen:] if "/login?link=" in one.text)
    found = re.search(r"http://[^/]+(/login\?link=[\w-]{43})\s", text)
    assert found is not None, text
    return found[1]


async def press_button(session: aiohttp.ClientSession, link: str) -> tuple[int, str]:
    """Press the button that the page of a link shows; the status and the text of what follows."""
    secret = link.partition("link=")[2]
    async with session.post("/login", data={"link": secret}) as answer:
        return answer.status, await answer.text()


@asynccontextmanager
async def browse_as(
    running: Served, chat: FakeChat, user: str
) -> AsyncIterator[aiohttp.ClientSession]:
    """A session that a person opened with a link from their direct chat."""
    link = await ask_link(chat, user)
    async with open_browser(running) as session:
        status, text = await press_button(session, link)
        assert status == 200, text
        yield session


@dataclass
class Line:
    """The page's side of the WebSocket."""

    socket: aiohttp.ClientWebSocketResponse

    async def write(self, **fields: object) -> None:
        await self.socket.send_json(fields)

    async def hear(self, kind: str) -> dict[str, Any]:
        """The next line of a kind; messages are confirmed as the page does it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                news = json.loads(await self.socket.receive_str())
                if "key" in news:
                    await self.write(type="got", key=news["key"])
                if news["type"] == kind:
                    return dict(news)

    async def say(self, text: str, **more: object) -> str:
        """Send a message; return its id once it is stored."""
        name = f"said-{next(_NUMBERS)}"
        await self.write(type="message", id=name, text=text, **more)
        assert (await self.hear("ack"))["id"] == name
        return name

    async def hear_text(self, part: str) -> dict[str, Any]:
        """The next finished message or edit that has these words."""
        while True:
            async with asyncio.timeout(PATIENCE):
                news = json.loads(await self.socket.receive_str())
            if "key" in news:
                await self.write(type="got", key=news["key"])
            if not news.get("live") and part in news.get("text", ""):
                return dict(news)


@asynccontextmanager
async def open_chat(session: aiohttp.ClientSession) -> AsyncIterator[Line]:
    """The chat of a logged-in page."""
    async with session.ws_connect("/console") as socket:
        line = Line(socket)
        await line.write(type="hello", buttons=True)
        yield line


async def read(session: aiohttp.ClientSession, path: str, status: int = 200) -> str:
    async with session.get(path) as answer:
        text = await answer.text()
        assert answer.status == status, (path, text)
        return text


async def list_places(session: aiohttp.ClientSession) -> list[str]:
    """The addresses of the talks that the page lists, newest first."""
    listed = (await read(session, "/conversations")).partition("<main")[2]
    return re.findall(r'href="(/(?:conversations|chats)/\d+)"', listed)


async def submit(
    browser: aiohttp.ClientSession, path: str, form: Form, *, status: int = 200
) -> str:
    """Send a form, and read the page that follows."""
    head = {"Accept": "text/html"}
    async with browser.post(path, data=form, headers=head) as answer:
        text = await answer.text()
        assert answer.status == status, text
        return text
