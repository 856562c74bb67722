"""The escape suite: commands that try to get out of their sandbox, and never do."""

import asyncio
import os
import shlex
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.execution import Backend, Command, Completed, run_command
from tests.agent_core.execution.attempts import LIMITS, NETWORK, PROCESSES, READ, RIGHTS
from tests.agent_core.execution.backends import CONFINED, open_backend

CANARY = "canary-4f2a91"
ATTEMPTS = READ | PROCESSES | NETWORK | RIGHTS | LIMITS
FEWEST = 60
_PYTHON = "#!python\n"
_SECONDS = 30.0

pytestmark = pytest.mark.process


@dataclass
class Prey:
    """A gateway with everything that an attempt would want, and a backend in its home."""

    home: Path
    backend: Backend
    gateway: asyncio.subprocess.Process
    places: dict[str, object]
    reached: list[str]

    async def suffer(self, attempt: str) -> Completed:
        """Run an attempt in Anna's workspace."""
        text = attempt.format(**self.places)
        if text.startswith(_PYTHON):
            text = f"python3 -c {shlex.quote(text.removeprefix(_PYTHON))}"
        command = Command(workspace="anna", argv=("/bin/bash", "-c", f"({text}) 2>&1"))
        return await run_command(self.backend, command, seconds=_SECONDS, most_bytes=1_000_000)

    def list_files(self) -> dict[str, bytes]:
        """Everything in the home but Anna's workspace."""
        own = self.home / "workspaces" / "anna"
        return {
            str(path): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and not path.is_relative_to(own)
        }


@pytest.fixture(params=CONFINED)
async def prey(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Prey]:
    if request.param == "landlock":  # the gateway is the same user as its commands
        request.getfixturevalue("plain_user")
    home = tmp_path / "home"
    (home / "workspaces" / "ben").mkdir(parents=True)
    for name in (".env", "state.db", "state.db-wal", "config.toml", "workspaces/ben/diary"):
        (home / name).write_text(CANARY)
    outside = tmp_path / "outside"
    outside.write_text(CANARY)
    reached: list[str] = []

    def meet(name: str) -> object:
        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            reached.append(name)
            writer.close()

        return serve

    abstract = f"gateway-{os.getpid()}"
    servers = [
        await asyncio.start_server(meet("tcp"), "127.0.0.1", 0),
        await asyncio.start_unix_server(meet("socket"), str(home / "gateway.sock")),
        await asyncio.start_unix_server(meet("abstract"), f"\0{abstract}"),
    ]
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
    listener.setblocking(False)
    wait = "import sys, time; time.sleep(600)"
    gateway = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", wait, "gateway-canary"), env={"TOKEN": CANARY}, cwd=home
    )
    places: dict[str, object] = {
        "home": home,
        "outside": outside,
        "pid": gateway.pid,
        "tcp": servers[0].sockets[0].getsockname()[1],
        "udp": listener.getsockname()[1],
        "abstract": abstract,
    }
    async with open_backend(request, home) as backend:
        yield Prey(home, backend, gateway, places, reached)
    with suppress(BlockingIOError):
        assert not listener.recv(100), "a datagram came out"
    listener.close()
    for server in servers:
        server.close()
    assert gateway.returncode is None, "the gateway was killed"
    gateway.kill()
    await gateway.wait()


def test_the_suite_is_large() -> None:
    assert len(ATTEMPTS) >= FEWEST


@pytest.mark.parametrize("name", ATTEMPTS)
async def test_no_attempt_gets_out(prey: Prey, name: str) -> None:
    before = prey.list_files()
    done = await prey.suffer(ATTEMPTS[name])
    said = done.output.decode(errors="replace")
    assert "SyntaxError" not in said
    assert CANARY not in said
    assert "ESCAPED" not in said
    assert done.limit != "time" or name in LIMITS, "the attempt did not end"
    assert prey.reached == []
    assert prey.list_files() == before
    await prey.backend.health()
    assert not (prey.home / "workspaces" / "anna" / "survived").exists()


async def test_the_suite_finds_a_way_out_where_there_is_one(prey: Prey) -> None:
    """The same words, run without a sandbox, do find what they look for."""
    for name in ("the tokens", "another workspace", "a server of this machine"):
        text = ATTEMPTS[name].format(**prey.places)
        process = await asyncio.create_subprocess_exec(
            *("/bin/bash", "-c", text), stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        assert CANARY.encode() in output or b"ESCAPED" in output
