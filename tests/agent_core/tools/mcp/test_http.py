"""Servers over HTTP: they are reached, their headers sent, and private addresses guarded."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx2
import pytest

from agent_core.tools.mcp.contract import McpServer, McpUnavailable
from agent_core.tools.mcp.transports.http import make_client
from tests.agent_core.tools.mcp.conftest import HERE, Open, call
from tests.emulators.proxy import LoopbackProxy
from tests.emulators.sources import Sources

pytestmark = [pytest.mark.process, pytest.mark.slow]


def find_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def is_open(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    chosen = find_port()
    with subprocess.Popen(
        [sys.executable, str(HERE / "sdk_server.py"), "http"],
        env={**os.environ, "PORT": str(chosen)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            while not is_open(chosen):
                assert process.poll() is None
                time.sleep(0.05)
            yield chosen
        finally:
            process.kill()


async def test_a_server_is_reached_over_http(open_server: Open, port: int) -> None:
    server = McpServer(name="web", url=f"http://127.0.0.1:{port}/mcp", is_local=True)
    async with open_server(server) as session:
        assert session.protocol == "2026-07-28"
        assert (await call(session, "add", {"a": 2, "b": 3})).text == "5"


async def test_a_name_that_means_this_machine_is_refused(open_server: Open, port: int) -> None:
    server = McpServer(name="web", url=f"http://localhost:{port}/mcp")
    with pytest.raises(McpUnavailable, match="`local = true` allows it"):
        async with open_server(server):
            pass


async def test_a_server_that_is_not_there_is_reported(open_server: Open) -> None:
    server = McpServer(name="web", url=f"http://127.0.0.1:{find_port()}/mcp", is_local=True)
    with pytest.raises(McpUnavailable):
        async with open_server(server):
            pass


async def test_a_web_page_is_reported_as_no_mcp_server(open_server: Open) -> None:
    async with Sources() as web:
        server = McpServer(name="page", url=web.serve("/", "<p>Hello</p>"), is_local=True)
        with pytest.raises(McpUnavailable, match="check that it is an MCP server"):
            async with open_server(server):
                pass


@pytest.mark.thorough
async def test_a_server_that_floods_is_cut_off(open_server: Open) -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b"[" * 1_000_000)
                await writer.drain()

    floods = await asyncio.start_server(flood, "127.0.0.1", 0)
    chosen = floods.sockets[0].getsockname()[1]
    server = McpServer(name="web", url=f"http://127.0.0.1:{chosen}/mcp", is_local=True)
    async with floods:
        with pytest.raises(McpUnavailable):
            async with open_server(server):
                pass


PROXIED = "mcp.invalid"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "all_proxy"])
async def test_a_server_is_reached_through_the_proxy(
    variable: str,
    open_server: Open,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with LoopbackProxy({PROXIED: port}) as proxy:
        monkeypatch.setenv(variable, f"http://{proxy.address}")
        server = McpServer(name="web", url=f"http://{PROXIED}:{port}/mcp", is_local=True)
        async with open_server(server) as session:
            assert (await call(session, "add", {"a": 2, "b": 3})).text == "5"
        assert set(proxy.asked) == {PROXIED}


async def test_this_machine_is_reached_directly(
    open_server: Open,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with LoopbackProxy({}) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://{proxy.address}")
        server = McpServer(name="web", url=f"http://127.0.0.1:{port}/mcp", is_local=True)
        async with open_server(server) as session:
            assert (await call(session, "add", {"a": 2, "b": 3})).text == "5"
        assert not proxy.asked


async def test_a_proxy_leads_to_no_private_address(
    open_server: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with LoopbackProxy({}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        server = McpServer(name="web", url="http://mcp.invalid/mcp")
        client = make_client(server, httpx2.Timeout(5))
        async with client:
            with pytest.raises(httpx2.ConnectError, match="`local = true` allows it"):
                await client.get("http://10.0.0.7/token")
        assert not proxy.asked
