"""The time that a sandbox adds to a command, and a large output in it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from agent_core.execution import (
    Command,
    LocalBackend,
    SandboxLimits,
    find_bubblewrap,
    run_command,
)
from bench.figures import Figure

_ARGV = ("/bin/bash", "-c", "true")
_LIMITS = SandboxLimits(
    memory=2_000_000_000, processes=128, file=1_000_000_000, workspace=5_000_000_000
)
_MOST_OUTPUT = 8_000_000


async def measure(*, commands: int) -> list[Figure]:
    """Return medians of commands, alternating in a sandbox and without; none without bubblewrap."""
    if find_bubblewrap() is None:
        return []
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        backend = LocalBackend(Path(folder), _LIMITS, program=find_bubblewrap() or "")

        async def run_inside(argv: tuple[str, ...] = _ARGV) -> None:
            command = Command(workspace="anna", argv=argv)
            await run_command(backend, command, seconds=60, most_bytes=_MOST_OUTPUT)

        await run_inside()
        inside, bare = [], []
        for _ in range(commands):
            inside.append(await _time(run_inside))
            bare.append(await _time(_run_bare))
        flood = ("/bin/bash", "-c", "yes | head -c 1G")
        cut = median([await _time(lambda: run_inside(flood)) for _ in range(5)])
    return [
        Figure(name="a command in the sandbox", unit="ms", value=1000 * median(inside)),
        Figure(
            name="what the sandbox adds",
            unit="ms",
            value=1000 * (median(inside) - median(bare)),
            at_most=30,
        ),
        Figure(name="1 GB of output, cut off", unit="ms", value=1000 * cut, at_most=500),
    ]


async def _run_bare() -> None:
    process = await asyncio.create_subprocess_exec(
        *_ARGV, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    await process.communicate()


async def _time(run: Callable[[], Awaitable[None]]) -> float:
    started = time.perf_counter()
    await run()
    return time.perf_counter() - started
