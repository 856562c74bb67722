"""The console's pages in a home of many messages: `python -m bench.console_pages`."""

import asyncio
import json
import random
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from tempfile import TemporaryDirectory

import aiohttp
from starlette.requests import HTTPConnection
from starlette.routing import Match, Route

from agent_core.transcript import ToolCallPart
from bench.console_home import (
    SKILL,
    VOCABULARY,
    add_agents,
    add_memory,
    add_room,
    add_skill,
    add_work,
    fill_home,
)
from bench.figures import Figure, percentile, render
from gateway.app.gateway import Gateway
from gateway.interfaces.contexts import open_context
from gateway.interfaces.http.console import ChatFiles
from gateway.interfaces.http.page_data import PageData
from gateway.interfaces.http.readers import Readers
from gateway.interfaces.pages.routes import Login, find_page, make_pages
from gateway.operations.login_types import LinkFor
from gateway.operations.logins import make_login_link
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.served import Served, served

_MESSAGES, _PEOPLE = 1_000_000, 1_000
_ROUNDS = 40
_CALLS = 6
"""Model calls of the turn whose page is measured; each calls ten tools."""
_MOST_MS = 100
_MOST_BYTES = 150_000
PAGES = (
    *("/today", "/conversations", "/conversations/1", "/turns", "/memory", "/skills", "/jobs"),
    *("/usage", "/people", "/people/usage", "/people/usage?by=person", "/condition"),
    *("/settings", "/accounts", "/configuration", "/", "/chats/1", "/search", "/talks"),
)
"""The pages that are measured first."""
_BUSY = ("/jobs", "/jobs/calendar", "/jobs/calendar?week=", "/webhooks", "/memory", "/skills")
"""Pages that are measured with jobs and webhooks, a long ledger, and a skill with versions."""
_SINGLE = (
    *("/people/2", "/people/2/2", "/people/3/remove", "/configuration/model.mode"),
    *("/agents/coder", "/agents/coder/edit", "/teams/press", "/teams/press/edit"),
)
_UNMEASURED = frozenset({"/pages/events", "/files/{key}", "/workspace/file", "/data/export"})
"""A stream that lasts, files that are sent as they are stored, and the archive of all data."""
_QUERIES: dict[str, Callable[[random.Random], Sequence[str]]] = {
    "common words": lambda chance: chance.choices(VOCABULARY[:20], k=3),
    "one common word": lambda chance: chance.choices(VOCABULARY[:5]),
    "rare words": lambda chance: chance.choices(VOCABULARY[1000:6000], k=3),
    "rare and common words": lambda chance: [
        *chance.choices(VOCABULARY[:20], k=2),
        *chance.choices(VOCABULARY[500:3000], k=2),
    ],
}
"""What is searched for: words of the same ranks as in `bench.retrieval.latency`."""


async def measure(*, messages: int = _MESSAGES, people: int = _PEOPLE) -> list[Figure]:
    """Time every page for the owner, who wrote as much as everybody else, and search for others."""
    with TemporaryDirectory(prefix="talaria-pages-") as folder:
        home = await fill_home(folder, messages, people)
        calls = [ask(*(_recall(place, step) for step in range(10))) for place in range(_CALLS)]
        model = FakeModel(*calls, say("A grey heron."))
        async with served(home, model=model) as running, _browse(running) as session:
            async with session.get(running.page.relative()):
                pass
            gateway, meter = running.gateway, _Meter(session)
            newest = await _find(session, "/turns", r'href="(/turns/\d+)"')
            for path in (*list_addresses(gateway), newest, "/health", "/metrics"):
                await meter.time(path)
            await _time_searches(meter, "owner")
            await add_work(gateway, session)
            await add_memory(gateway)
            await add_skill(gateway, session)
            await add_agents(session)
            await add_room(gateway)
            job = await _find(session, "/jobs", r'href="(/jobs/\d+)"')
            for path in (*_BUSY, job, f"/skills/{SKILL}", f"/skills/{SKILL}/edit"):
                await meter.time(path, note=" (busy)")
            room = await _find(session, "/people", r'href="(/people/rooms/\d+)"')
            for path in (*_SINGLE, room, f"/accounts/{people + 1}/unlink"):
                await meter.time(path)
            await _time_turn(meter)
            async with _browse(running) as other:
                context = open_context(gateway)
                link = (await make_login_link(context, LinkFor(person="person-2"))).link
                path = "/" + link.partition("://")[2].partition("/")[2]
                await meter.time(path, name="/login")
                async with other.post("/login", data={"link": path.partition("link=")[2]}) as page:
                    page.raise_for_status()
                await _time_searches(_Meter(other, meter.figures), "person")
            _refuse_forgotten(gateway, meter.paths)
            return meter.figures


class _Meter:
    """Times pages in a session."""

    def __init__(self, session: aiohttp.ClientSession, figures: list[Figure] | None = None) -> None:
        self.session = session
        self.figures = figures if figures is not None else []
        self.paths: list[str] = []

    async def time(self, path: str, *, name: str = "", note: str = "") -> None:
        """Fetch an address again and again."""
        self.paths.append(path.partition("?")[0])
        name = name or re.sub(r"\d{2,}", "N", path)
        await self.time_each(name + note, [path] * _ROUNDS)

    async def time_each(self, name: str, paths: Sequence[str]) -> None:
        """Fetch addresses, one after another."""
        rest = iter(paths)

        async def get() -> int:
            async with self.session.get(next(rest)) as answer:
                return await _read(answer)

        self.figures += await _time_work(name, get)


def _browse(running: Served) -> AbstractAsyncContextManager[aiohttp.ClientSession]:
    """Open a browser."""
    jar = aiohttp.CookieJar(unsafe=True)
    return aiohttp.ClientSession(running.address.origin(), cookie_jar=jar)


def _recall(place: int, step: int) -> ToolCallPart:
    query = json.dumps({"query": " ".join(VOCABULARY[1000 + step : 1003 + step])})
    return call("recall", query, f"c{place}-{step}")


async def _time_searches(meter: _Meter, who: str) -> None:
    """Time the search over everything, each time for other words."""
    chance = random.Random(5)
    for kind, choose in _QUERIES.items():
        paths = [f"/search?q={'+'.join(choose(chance))}" for _ in range(_ROUNDS)]
        await meter.time_each(f"/search?q= by the {who}: {kind}", paths)


def _list_routes(gateway: Gateway) -> dict[str, Route]:
    """List the routes that answer a browser with a page or a file, by their addresses."""

    async def find_login(_: HTTPConnection) -> Login | None:
        return None

    routes = (
        *ChatFiles().list_routes(),
        *PageData(gateway, Readers(gateway, find_login)).list_routes(),
        *make_pages(gateway, find_login).list_routes(),
    )
    return {
        route.path: route
        for route in routes
        if isinstance(route, Route) and "GET" in (route.methods or ())
        if route.path not in _UNMEASURED and route.endpoint is not find_page
    }


def list_addresses(gateway: Gateway) -> list[str]:
    """Return the addresses of `PAGES` and of every other page whose address names nothing."""
    plain = (path for path in _list_routes(gateway) if "{" not in path)
    return list(dict.fromkeys((*PAGES, *plain)))


def _refuse_forgotten(gateway: Gateway, paths: Sequence[str]) -> None:
    """Raise `RuntimeError` if a route was not measured."""
    scopes = [{"type": "http", "method": "GET", "path": path, "headers": []} for path in paths]
    forgotten = [
        address
        for address, route in _list_routes(gateway).items()
        if all(route.matches(scope)[0] != Match.FULL for scope in scopes)
    ]
    if forgotten:
        raise RuntimeError(f"not measured: {', '.join(forgotten)}")


async def _time_turn(meter: _Meter) -> None:
    """Time a long turn, its replay, a fork of it, and the fork's removal and return."""
    session = meter.session
    form = {"text": "Which bird is grey?", "key": "bench"}
    stream = {"Accept": "text/event-stream"}
    async with session.post("/conversations/messages", data=form, headers=stream) as answer:
        await answer.text()
    turn = await _find(session, "/turns", r'href="/turns/(\d+)"')
    await meter.time(f"/turns/{turn}", note=" (of many steps)")
    await meter.time(f"/turns/{turn}/replay")
    place = await _find(session, "/conversations", r'href="(/conversations/\d+)"')
    message = await _find(session, place, r'action="/messages/(\d+)/fork"')
    forks: list[str] = []

    async def fork() -> int:
        form = {"key": str(len(forks))}
        async with session.post(f"/messages/{message}/fork", data=form) as answer:
            forks.append(answer.url.path)
            return await _read(answer)

    meter.figures += await _time_work("fork, and its page", fork)
    for verb in ("remove", "restore"):
        rest = iter(forks)

        async def post(verb: str = verb, rest: Iterator[str] = rest) -> int:
            async with session.post(f"{next(rest)}/{verb}") as answer:
                return await _read(answer)

        meter.figures += await _time_work(f"{verb} a fork, and its page", post)
    await meter.time("/conversations", note=" (with forks)")


async def _find(session: aiohttp.ClientSession, path: str, pattern: str) -> str:
    async with session.get(path) as answer:
        found = re.search(pattern, await answer.text())
    if found is None:
        raise RuntimeError(f"{path} has no {pattern}")
    return found[1]


async def _read(answer: aiohttp.ClientResponse) -> int:
    """Return the size of a page."""
    body = await answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.url} answered {answer.status}")
    return len(body)


async def _time_work(name: str, work: Callable[[], Awaitable[int]]) -> list[Figure]:
    took: list[float] = []
    size = 0
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        size = await work()
        took.append(time.perf_counter() - began)
    print(f"{name}: {percentile(took, 0.95) * 1000:.0f} ms", file=sys.stderr, flush=True)
    return [
        Figure(name=f"{name}: first", unit="ms", value=took[0] * 1000, at_most=_MOST_MS),
        Figure(name=f"{name}: p50", unit="ms", value=percentile(took, 0.5) * 1000),
        Figure(
            name=f"{name}: p95", unit="ms", value=percentile(took, 0.95) * 1000, at_most=_MOST_MS
        ),
        Figure(name=f"{name}: size", unit="bytes", value=size, at_most=_MOST_BYTES),
    ]


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    asked = dict(zip(("messages", "people"), numbers, strict=False))
    print(render(asyncio.run(measure(**asked))))
