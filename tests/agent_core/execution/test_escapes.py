"""The escape suite: commands that try to get out of their sandbox, and never do."""

import asyncio
import os
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_core.execution.contract import Backend, Command
from agent_core.execution.timed_command import Completed, run_command
from tests.agent_core.execution.attempts import (
    LEFT_BEHIND,
    LIMITS,
    NETWORK,
    PROCESSES,
    READ,
    RIGHTS,
)
from tests.agent_core.execution.backends import CONFINED, open_backend

CANARY = "canary-4f2a91"
GROUPS = {"read": READ, "processes": PROCESSES, "network": NETWORK, "rights": RIGHTS}
OWN = LEFT_BEHIND | LIMITS
"""Attempts that outlive their command, or take all that there is."""
ATTEMPTS = READ | PROCESSES | NETWORK | RIGHTS | OWN
FEWEST = 60
_BAD = (CANARY, "ESCAPED", "SyntaxError")
_PYTHON = "#!python\n"
_LEFT = "l h d b disk"
"""What attempts leave in the workspace; another one may use the same name."""
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

    def word(self, attempt: str) -> str:
        """Return an attempt as words of a shell."""
        text = attempt.format(**self.places)
        if text.startswith(_PYTHON):
            return f"python3 -c {shlex.quote(text.removeprefix(_PYTHON))}"
        return text

    async def run(self, text: str, *, seconds: float = _SECONDS) -> Completed:
        """Run words in Anna's workspace."""
        command = Command(workspace="anna", argv=("/bin/bash", "-c", text))
        return await run_command(self.backend, command, seconds=seconds, most_bytes=1_000_000)

    async def has_held(self, before: dict[str, bytes]) -> None:
        """Check that nothing was reached or changed, and that the sandbox still works."""
        assert self.reached == []
        assert self.list_files() == before
        await self.backend.health()
        assert not (self.home / "workspaces" / "anna" / "survived").exists()

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
        *(sys.executable, "-c", wait, CANARY), env={"TOKEN": CANARY}, cwd=home
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
        prey = Prey(home, backend, gateway, places, reached)
        await prey.run("true")  # the first command writes the guard of git beside the workspaces
        yield prey
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


@pytest.mark.parametrize("attempts", GROUPS.values(), ids=GROUPS)
async def test_no_attempt_gets_out(prey: Prey, attempts: Mapping[str, str]) -> None:
    """All of a group in one command; each attempt is a process of its own, and has to end."""
    before = prey.list_files()
    text = "\n".join(
        f"echo; echo {shlex.quote(f'== {name}')}\n"
        f" timeout {_SECONDS:g} bash -c {shlex.quote(prey.word(attempt))} 2>&1 < /dev/null;"
        f" [ $? = 124 ] && echo ESCAPED: it did not end; rm -rf {_LEFT}"
        for name, attempt in attempts.items()
    )
    # In a file, because every process may see the words of a command.
    await prey.backend.write_file("anna", "attempts", text.encode())
    done = await prey.run("bash attempts", seconds=10 * _SECONDS)
    _, *said = done.output.decode(errors="replace").split("\n== ")
    assert [one.partition("\n")[0] for one in said] == list(attempts), said[-1]
    assert [one for one in said if any(word in one for word in _BAD)] == []
    await prey.has_held(before)


@pytest.mark.parametrize("name", OWN)
async def test_no_attempt_that_needs_the_whole_sandbox_gets_out(prey: Prey, name: str) -> None:
    before = prey.list_files()
    done = await prey.run(f"({prey.word(OWN[name])}) 2>&1")
    assert not [word for word in _BAD if word.encode() in done.output]
    assert done.limit != "time" or name in LIMITS, "the attempt did not end"
    await prey.has_held(before)


async def test_the_suite_finds_a_way_out_where_there_is_one(prey: Prey) -> None:
    """The same words, run without a sandbox, do find what they look for."""
    for name in ("the tokens", "another workspace", "a server of this machine"):
        text = prey.word(ATTEMPTS[name])
        process = await asyncio.create_subprocess_exec(
            *("/bin/bash", "-c", text), stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        assert CANARY.encode() in output or b"ESCAPED" in output
