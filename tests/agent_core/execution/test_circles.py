"""Running commands of one conversation reach each other's servers; nobody else reaches them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent_core.execution.contract import Command, Exit
from agent_core.execution.local import LocalBackend
from agent_core.execution.timed_command import Completed, run_command
from tests.agent_core.execution.backends import make_local, needs_bubblewrap
from tests.agent_core.execution.plain_user import has_python

pytestmark = [pytest.mark.process, needs_bubblewrap]

_SERVE = """
import socket, sys
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\\0meeting"); abstract.listen()
server = socket.create_server(("127.0.0.1", 8000)); print("ready", flush=True)
while True:
    met, _ = server.accept(); met.sendall(b"hello from the server"); met.close()
"""
_REACH = """
import socket
for kind, place in ((socket.AF_INET, ("127.0.0.1", 8000)), (socket.AF_UNIX, "\\0meeting")):
    try:
        with socket.socket(kind) as one: one.settimeout(3); one.connect(place); print("reached")
    except OSError as error: print("closed")
"""


@pytest.fixture(params=["root or user", "network", "plain"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LocalBackend]:
    if request.param == "plain":
        if not has_python():
            pytest.skip("no Python for another account")
        request.getfixturevalue("plain_user")
    hosts = ("example.test",) if request.param == "network" else ()
    made = make_local(tmp_path, *hosts)
    yield made
    await made.close()


@asynccontextmanager
async def serving(
    backend: LocalBackend, circle: str, *, is_alone: bool = False
) -> AsyncIterator[asyncio.Task[Exit]]:
    argv = ("python3", "-c", _SERVE)
    process = await backend.start(
        Command(workspace="anna", argv=argv, circle=circle, is_alone=is_alone)
    )
    assert await process.read() == b"ready\n"
    waiting = asyncio.create_task(process.wait())
    yield waiting
    await process.kill()
    await waiting


async def run(
    backend: LocalBackend,
    text: str,
    workspace: str = "anna",
    circle: str = "1",
    *,
    is_alone: bool = False,
) -> Completed:
    argv = ("/bin/bash", "-c", text)
    command = Command(workspace=workspace, argv=argv, circle=circle, is_alone=is_alone)
    return await run_command(backend, command, seconds=30, most_bytes=10_000)


async def reach(
    backend: LocalBackend, workspace: str = "anna", circle: str = "1", *, is_alone: bool = False
) -> str:
    done = await run(backend, f"python3 -c '{_REACH}'", workspace, circle, is_alone=is_alone)
    return done.output.decode()


async def test_only_commands_of_the_same_conversation_reach_a_server(
    backend: LocalBackend,
) -> None:
    async with serving(backend, "1"):
        assert await reach(backend) == "reached\nreached\n"
        assert (await asyncio.gather(*(reach(backend) for _ in range(4)))) == [
            "reached\nreached\n"
        ] * 4
        closed = "closed\nclosed\n"
        assert await reach(backend, circle="2") == closed
        assert await reach(backend, circle="") == closed
        assert await reach(backend, "ben") == closed
        assert await reach(backend, is_alone=True) == closed
    assert await reach(backend) == "closed\nclosed\n"


async def test_a_command_with_a_secret_is_not_reached(backend: LocalBackend) -> None:
    async with serving(backend, "1", is_alone=True):
        assert await reach(backend) == "closed\nclosed\n"


async def test_the_network_outlives_the_command_that_made_it(backend: LocalBackend) -> None:
    first = await backend.start(Command(workspace="anna", argv=("/bin/sleep", "60"), circle="1"))
    async with serving(backend, "1"):
        await first.kill()
        assert await reach(backend) == "reached\nreached\n"


async def test_a_joined_command_has_the_same_walls(backend: LocalBackend) -> None:
    async with serving(backend, "1"):
        done = await run(
            backend,
            "id -u; grep -E 'Cap(Eff|Bnd)' /proc/self/status | tr -d '\\t';"
            " ls /proc | grep -c '^[0-9]'; unshare -n true 2>&1 | tail -1;"
            " python3 -c 'import socket; socket.socket(17, 3)' 2>&1 | tail -1;"
            " ip link set lo down 2>&1 | tail -1; cat /etc/shadow 2>&1; ls /workspace/..",
        )
        said = done.output.decode()
        lines = said.splitlines()
        assert lines[:3] == ["1000", "CapEff:0000000000000000", "CapBnd:0000000000000000"], said
        assert int(lines[3]) < 10, "it sees the other's processes"
        assert "not permitted" in said
        assert "root:" not in said


async def test_the_proxy_serves_the_whole_conversation(tmp_path: Path) -> None:
    backend = make_local(tmp_path, "example.test")
    ask = "curl -sS -m 5 http://{}/ 2>&1 | tail -1"
    async with serving(backend, "1"):
        first = await run(backend, ask.format("one.test"))
        second = await run(backend, ask.format("two.test"))
        third = await run(backend, "curl -sS -m 5 http://127.0.0.1:8000/ 2>&1 | tail -1")
    assert ["one.test" in one for one in first.refusals] == [True]
    assert ["two.test" in one for one in second.refusals] == [True], "only its own refusals"
    assert third.refusals == ()
    alone = await run(backend, ask.format("three.test"))
    assert ["three.test" in one for one in alone.refusals] == [True]
    await backend.close()
