"""The time that a sandbox adds to a command, with bubblewrap and Landlock, and a large output."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from agent_core.execution.contract import Backend, Command
from agent_core.execution.local import LocalBackend, find_bubblewrap
from agent_core.execution.reaped.backend import LandlockBackend, find_landlock_fault
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.timed_command import run_command
from bench.figures import Figure

_ARGV = ("/bin/bash", "-c", "true")
_LIMITS = SandboxLimits(
    memory=2_000_000_000, processes=128, file=1_000_000_000, workspace=5_000_000_000
)
_MOST_OUTPUT = 8_000_000


async def measure(*, commands: int) -> list[Figure]:
    """Return medians of commands, alternating in a sandbox and without.

    None of a sandbox that this machine lacks; Landlock confines no commands of root.
    """
    figures = []
    if program := find_bubblewrap():
        with TemporaryDirectory(prefix="talaria-bench-") as folder:
            figures += await _measure_bubblewrap(Path(folder), program, commands)
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        if not find_landlock_fault(Path(folder)):
            figures += await _measure_landlock(Path(folder), commands)
    return figures


async def _measure_bubblewrap(folder: Path, program: str, commands: int) -> list[Figure]:
    backend = LocalBackend(folder, _LIMITS, program=program)

    async def run_inside(argv: tuple[str, ...] = _ARGV) -> None:
        await _run(backend, argv)

    inside, bare = await _compare(run_inside, commands)
    flood = ("/bin/bash", "-c", "yes | head -c 1G")
    cut = median([await _time(lambda: run_inside(flood)) for _ in range(5)])
    return [
        Figure(name="a command in the sandbox", unit="ms", value=inside),
        Figure(name="what the sandbox adds", unit="ms", value=inside - bare, at_most=30),
        Figure(name="1 GB of output, cut off", unit="ms", value=1000 * cut, at_most=500),
    ]


async def _measure_landlock(folder: Path, commands: int) -> list[Figure]:
    backend = LandlockBackend(folder, _LIMITS, home=folder)
    try:
        inside, bare = await _compare(lambda: _run(backend, _ARGV), commands)
    finally:
        await backend.close()
    return [
        Figure(name="a command confined by Landlock", unit="ms", value=inside),
        Figure(name="what Landlock adds", unit="ms", value=inside - bare, at_most=30),
    ]


async def _compare(run: Callable[[], Awaitable[None]], commands: int) -> tuple[float, float]:
    """Return the medians, in milliseconds, of a command in a sandbox and without."""
    await run()
    inside, bare = [], []
    for _ in range(commands):
        inside.append(await _time(run))
        bare.append(await _time(_run_bare))
    return 1000 * median(inside), 1000 * median(bare)


async def _run(backend: Backend, argv: tuple[str, ...]) -> None:
    command = Command(workspace="anna", argv=argv)
    await run_command(backend, command, seconds=60, most_bytes=_MOST_OUTPUT)


async def _run_bare() -> None:
    process = await asyncio.create_subprocess_exec(
        *_ARGV, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    await process.communicate()


async def _time(run: Callable[[], Awaitable[None]]) -> float:
    started = time.perf_counter()
    await run()
    return time.perf_counter() - started
