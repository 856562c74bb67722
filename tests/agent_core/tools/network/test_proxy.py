"""The proxy of sandboxes: allowed hosts are reached, and nothing else is connected to."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from agent_core.tools.network.lookup import HostLookup, Resolve
from agent_core.tools.network.proxy import (
    MOST_CONNECTIONS,
    MOST_IN_ALL,
    AllowedHosts,
    ProxySession,
    SandboxProxy,
)
from tests.agent_core.tools.conftest import Listener
from tests.agent_core.tools.network.forms import HOSTS, resolve
from tests.emulators.sources import Sources
from tests.patience import PATIENCE
from tests.tables import await_each, check_each


async def here(_host: str, _port: int) -> Sequence[str]:
    return ["127.0.0.1"]


@asynccontextmanager
async def run_proxy(
    *hosts: str, local: Sequence[str] = (), resolve: Resolve = here
) -> AsyncIterator[tuple[ProxySession, int]]:
    """Serve one command; gives its session, and the port."""
    proxy = SandboxProxy(("ada",), AllowedHosts(hosts), HostLookup(local, resolve))
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    session = await proxy.serve(listener)
    yield session, port
    session.close()


async def ask(port: int, request: str) -> str:
    """Send a request, and read until the connection ends."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request.encode("utf-8", "replace"))
        try:
            return (await reader.read()).decode("latin-1")
        finally:
            writer.close()


def get(url: str) -> str:
    return f"GET {url} HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: x\r\nA: b\r\n\r\n"


ALLOWED = (
    (["pypi.org"], "pypi.org", 443, True),
    (["PyPI.org"], "pypi.org", 80, True),
    (["pypi.org"], "pypi.org", 22, False),
    (["pypi.org"], "a.pypi.org", 443, False),
    (["pypi.org"], "evilpypi.org", 443, False),
    (["*.pypi.org"], "files.pypi.org", 443, True),
    (["*.pypi.org"], "a.b.pypi.org", 443, True),
    (["*.pypi.org"], "pypi.org", 443, False),
    (["*.pypi.org"], "evilpypi.org", 443, False),
    (["*.pypi.org"], "pypi.org.evil.test", 443, False),
    (["git.test:22"], "git.test", 22, True),
    (["git.test:22"], "git.test", 443, False),
    (["*"], "anything.test", 443, True),
    (["*"], "anything.test", 25, False),
    ([], "pypi.org", 443, False),
)


def test_the_allow_list() -> None:
    def check(row: tuple[list[str], str, int, bool]) -> None:
        patterns, host, port, is_allowed = row
        assert AllowedHosts(patterns).has(host, port) is is_allowed

    check_each(ALLOWED, check)


def test_only_named_people_have_a_network() -> None:
    assert SandboxProxy(("ada",), AllowedHosts(())).is_open("ada")
    assert not SandboxProxy(("ada",), AllowedHosts(())).is_open("ben")
    assert SandboxProxy(("*",), AllowedHosts(())).is_open("ben")
    assert not SandboxProxy((), AllowedHosts(("*",))).is_open("ben")


async def test_a_plain_request_arrives_as_its_server_expects_it(web: Sources) -> None:
    web.serve("/page", "found")
    host = f"web.test:{web.port}"
    async with run_proxy(host, local=["web.test"]) as (session, port):
        answer = await ask(port, get(f"http://{host}/page?a=b"))
    assert answer.startswith("HTTP/1.1 200")
    assert answer.endswith("found")
    path, headers = web.asked[0]
    assert path.startswith("/page")
    assert (headers["Host"], headers["A"], headers["Connection"]) == (host, "b", "close")
    assert "Proxy-Authorization" not in headers
    assert session.refusals == ()


async def test_a_tunnel_carries_bytes_both_ways(web: Sources) -> None:
    web.serve("/page", "found")
    host = f"web.test:{web.port}"
    inside = f"GET /page HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    async with run_proxy(host, local=["web.test"]) as (_, port):
        answer = await ask(port, f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n{inside}")
    assert answer.startswith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200")
    assert answer.endswith("found")


async def test_a_host_that_is_not_listed_is_refused_in_a_sentence_told_once() -> None:
    sentence = "evil.test is not on the allow list of the sandbox"
    async with run_proxy("good.test") as (session, port):
        for request in (get("http://evil.test/"), "CONNECT evil.test:443 HTTP/1.1\r\n\r\n"):
            answer = await ask(port, request)
            assert answer.startswith(f"HTTP/1.1 403 {sentence}\r\n")
            assert answer.endswith(f"\r\n\r\n{sentence}.\n")
        await ask(port, "CONNECT good.test:22 HTTP/1.1\r\n\r\n")
    assert session.refusals == (
        sentence,
        "good.test:22 is not on the allow list of the sandbox",
    )


@pytest.mark.parametrize("line", ["GET http://{host}:{port}/", "CONNECT {host}:{port}"])
async def test_nothing_that_leads_inside_is_connected_to(
    line: str, listener: Listener, contacts: list[tuple[object, ...]]
) -> None:
    async def check(host: str) -> None:
        contacts.clear()
        words = line.format(host=host, port=listener.port)
        async with run_proxy(f"*:{listener.port}", resolve=resolve) as (_, port):
            answer = await ask(port, f"{words} HTTP/1.1\r\n\r\n")
        assert answer.split()[1] in ("400", "403", "502")
        assert contacts == [("127.0.0.1", port)]
        assert listener.count == 0

    await await_each(HOSTS, check)


async def test_a_name_is_looked_up_once_and_connected_to_as_checked(web: Sources) -> None:
    asked: list[str] = []

    async def rebind(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    web.serve("/page", "found")
    host = f"web.test:{web.port}"
    async with run_proxy(host, local=["web.test"], resolve=rebind) as (_, port):
        assert (await ask(port, get(f"http://{host}/page"))).endswith("found")
    assert asked == ["web.test"]


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        ("hello\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET https://good.test/ HTTP/1.1\r\n\r\n", 400),
        ("GET http://name:word@good.test/ HTTP/1.1\r\n\r\n", 400),
        ("CONNECT good.test:99999 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT  HTTP/1.1\r\n\r\n", 400),
        ("\u202e\r\n\r\n", 400),
        ("GET http://good.test/ HTTP/1.1\r\nA: " + "x" * 100_000 + "\r\n\r\n", 431),
    ],
)
async def test_what_is_no_request_gets_an_answer(request_text: str, status: int) -> None:
    async with run_proxy("good.test") as (_, port):
        assert (await ask(port, request_text)).startswith(f"HTTP/1.1 {status} ")


async def test_a_host_without_an_answer_or_a_name_is_told() -> None:
    async def unknown(_host: str, _port: int) -> Sequence[str]:
        raise OSError("unknown")

    async with run_proxy("good.test", resolve=unknown) as (session, port):
        await ask(port, get("http://good.test/"))
    assert session.refusals == ("good.test can't be reached: its name does not resolve",)
    closed = socket.create_server(("127.0.0.1", 0))
    target = f"good.test:{closed.getsockname()[1]}"
    closed.close()
    async with run_proxy(target, local=["good.test"]) as (session, port):
        assert " 502 " in await ask(port, get(f"http://{target}/"))
    assert session.refusals == (f"{target} can't be reached: it accepts no connection",)


async def test_connections_are_limited_and_end_with_the_session() -> None:
    async with run_proxy("good.test") as (session, port):
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS)]
        assert "has more than" in await ask(port, get("http://good.test/"))
        session.close()
        async with asyncio.timeout(PATIENCE):
            for reader, writer in held:
                assert await reader.read() == b""
                writer.close()
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", port)


async def test_the_connections_of_all_commands_are_limited_together() -> None:
    proxy = SandboxProxy(("ada",), AllowedHosts(("good.test",)), HostLookup((), here))
    ports, sessions, held = [], [], []
    for _ in range(MOST_IN_ALL // MOST_CONNECTIONS + 1):
        listener = socket.create_server(("127.0.0.1", 0))
        ports.append(listener.getsockname()[1])
        sessions.append(await proxy.serve(listener))
    for port in ports[:-1]:
        held += [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_CONNECTIONS)]
    assert "too many connections; try again" in await ask(ports[-1], get("http://good.test/"))
    for session in sessions:
        session.close()
    for _, writer in held:
        writer.close()
