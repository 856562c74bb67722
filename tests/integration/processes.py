"""`talaria` as its own process: run to its end, or kept running while a test goes on."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source import ROOT

PATIENCE = 45.0


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str


def environ(home: Path, **variables: str) -> dict[str, str]:
    """No more of the tester's environment than a process needs."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "LANG": "C.UTF-8",
        "TALARIA_HOME": str(home),
        **variables,
    }


def talaria(home: Path, *words: str, given: str = "", **variables: str) -> Done:
    """Run one command to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "gateway", *words],
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=ROOT,
        env=environ(home, **variables),
    )
    return Done(code=done.returncode, out=done.stdout, err=done.stderr)


async def talaria_beside(home: Path, *words: str, given: str = "", **variables: str) -> Done:
    """The same, while this process serves what the command asks for."""
    return await asyncio.to_thread(talaria, home, *words, given=given, **variables)


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that is ready. `banner` is what it printed."""

    process: asyncio.subprocess.Process
    banner: str
    port: int

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, and give its exit code."""
        self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()


@asynccontextmanager
async def running(home: Path, **variables: str) -> AsyncIterator[Running]:
    """`talaria run`, once it says that it is ready; killed at the end if it still runs."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway",
        "run",
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=environ(home, TALARIA_HTTP__PORT=str(port), **variables),
    )
    try:
        yield Running(process, await _read_banner(process), port)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _read_banner(process: asyncio.subprocess.Process) -> str:
    assert process.stdout
    lines: list[str] = []
    async with asyncio.timeout(PATIENCE):
        while not lines or not lines[-1].startswith("Ready"):
            line = await process.stdout.readline()
            assert line, "it ended before it was ready"
            lines.append(line.decode())
    return "".join(lines)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with what it holds."""
    return {str(path): path.read_bytes() for path in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
