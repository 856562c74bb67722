"""Browsers that are logged in to the console's pages."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count

import aiohttp

from tests.fakes.chat import FakeChat
from tests.integration.served import Served

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
