"""Look for model servers on this machine."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import aiohttp

from agent_core.models.http import parse_json, read_body
from agent_core.models.local.kinds import MODELS, PATHS, read_ollama_abilities, read_server
from agent_core.models.local.owners import find_owners
from agent_core.models.local.servers import USUAL_PORTS, LocalModel, LocalServer

SECONDS = 10.0
"""Seconds of the whole search, for a busy server. A port where nothing listens takes none."""
_REST = 1.5
"""Seconds for the other paths once a server has answered one, and for each question after that: a
silent path must not cost the whole search.
"""
_LARGEST = 4_000_000
"""Bytes of an answer that are read; a longer one is from no model server."""

_FAULTS = (aiohttp.ClientError, OSError, TimeoutError, ValueError)


async def find_servers(
    ports: Iterable[int] = USUAL_PORTS, seconds: float = SECONDS
) -> tuple[LocalServer, ...]:
    """Return the model servers that answer on these ports of this machine, in their order.

    A port that gives no answer in `seconds` is passed over. What is known by then counts.
    """
    found: dict[int, LocalServer] = {}
    asked = tuple(dict.fromkeys(ports))
    async with open_session(seconds) as session:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for port in asked:
                    group.create_task(_look_at(session, port, found))
    return tuple(found[port] for port in asked if port in found)


def open_session(seconds: float | None) -> aiohttp.ClientSession:
    """Open a session that obeys no proxy and keeps no cookies: it stays on this machine.

    Each request may take `seconds`; None for no limit.
    """
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=seconds),
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    )


async def _look_at(
    session: aiohttp.ClientSession, port: int, found: dict[int, LocalServer]
) -> None:
    """Note what answers on a port: first what it is, and then what its models can do."""
    root = f"http://127.0.0.1:{port}"
    if not await _listens(port):
        return
    read = read_server(await _ask(session, root))
    if read is None:
        return
    kind, models = read
    owners = await asyncio.to_thread(find_owners, port)
    server = LocalServer(
        kind=kind, port=port, models=models, owner=owners.name, is_trusted=owners.is_trusted
    )
    found[port] = server
    if kind == "ollama":
        shown = await asyncio.gather(*(_show(session, root, one) for one in models))
        found[port] = replace(server, models=tuple(one for one in shown if one))


async def _ask(session: aiohttp.ClientSession, root: str) -> dict[str, Any]:
    """Return the JSON of each path. A slow server has the whole time for its first answer."""
    told: dict[str, Any] = {}
    rest = asyncio.timeout(None)

    async def ask(path: str) -> None:
        if (answer := await fetch_json(session, root + path)) is not None:
            told[path] = answer
        if rest.when() is None:
            rest.reschedule(asyncio.get_running_loop().time() + _REST)

    with suppress(TimeoutError):
        async with rest, asyncio.TaskGroup() as group:
            for path in (*PATHS, MODELS):
                group.create_task(ask(path))
    return told


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def _show(session: aiohttp.ClientSession, root: str, model: LocalModel) -> LocalModel | None:
    shown = None
    with suppress(TimeoutError):
        async with asyncio.timeout(_REST):
            shown = await fetch_json(session, f"{root}/api/show", {"model": model.name})
    return read_ollama_abilities(model, shown)


async def fetch_json(
    session: aiohttp.ClientSession, address: str, body: dict[str, str] | None = None
) -> Any:
    """Return the JSON at an address; None if there is none."""
    method = "GET" if body is None else "POST"
    try:
        async with session.request(method, address, json=body, allow_redirects=False) as answer:
            return parse_json(await read_body(answer, _LARGEST))
    except _FAULTS:
        return None
