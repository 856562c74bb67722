"""The fence around the tests holds."""

import asyncio
import socket

import pytest

Stopped = pytest.fail.Exception


def test_a_foreign_address_is_stopped(foreign_contacts: list[str]) -> None:
    with (
        socket.socket() as stream,
        pytest.raises(Stopped, match=r"connect to 192\.0\.2\.1 port 9"),
    ):
        stream.connect(("192.0.2.1", 9))
    assert foreign_contacts == ["connect to 192.0.2.1 port 9"]


def test_a_foreign_name_is_not_looked_up(foreign_contacts: list[str]) -> None:
    with pytest.raises(Stopped, match=r"look-up of api\.telegram\.org"):
        socket.getaddrinfo("api.telegram.org", 443)
    assert foreign_contacts == ["a look-up of api.telegram.org"]


async def test_the_event_loop_is_fenced_too(foreign_contacts: list[str]) -> None:
    with pytest.raises(Stopped):
        await asyncio.open_connection("192.0.2.1", 9)
    with pytest.raises(Stopped):
        await asyncio.open_connection("example.org", 9)
    assert len(foreign_contacts) == 2


def test_a_datagram_does_not_leave(foreign_contacts: list[str]) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        pytest.raises(Stopped),
    ):
        datagrams.sendto(b"", ("192.0.2.1", 9))
    assert foreign_contacts


def test_loopback_and_unix_sockets_are_free(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("s") / "s")
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)
