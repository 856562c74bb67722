"""Run a command below the process reaper: its resources are limited, and no process is left."""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import spawn

_REAPER = "agent_core.execution.subprocesses.process_reaper"
_REAP_SECONDS = 10.0
"""More than the reaper takes to kill every process."""

_log = logging.getLogger(__name__)


class OutputTooLong(Exception):
    """A command wrote more than its limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of a run: `seconds` in all, and bytes of each output."""

    seconds: float
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Both outputs of a command, and its status as a shell reports it."""

    output: bytes
    errors: bytes
    status: int


async def run_reaped(
    words: Sequence[str],
    limits: ScriptLimits,
    bounds: Bounds,
    *,
    folder: Path,
    environ: Mapping[str, str],
    source: str = os.devnull,
) -> Ended:
    """Run a command in a folder without a shell, and wait until it ends; it reads `source`.

    All its processes are killed at the end, when a limit is exceeded, on cancellation, and when
    this process dies. `environ` is its whole environment. A missing command ends with status 127.
    Raises `TimeoutError`, `OutputTooLong`, `OSError`, and `ValueError` for a NUL.
    """
    numbers = (limits.memory, limits.file, limits.processes, int(limits.has_network))
    process = await spawn(
        make_command(_REAPER, *map(str, numbers), source, *words, has_packages=False),
        _abandon,
        environ=environ,
        folder=folder,
    )
    is_over_limit = asyncio.Event()
    reading = _read_all(process, bounds.output, is_over_limit)
    bound = asyncio.create_task(is_over_limit.wait())
    try:
        await asyncio.wait(
            (reading, bound), timeout=bounds.seconds, return_when=asyncio.FIRST_COMPLETED
        )
        is_late = not reading.done()
    finally:
        bound.cancel()
        await _stop(process, reading)
    if is_over_limit.is_set():
        raise OutputTooLong
    if is_late:
        raise TimeoutError
    output, errors, status = reading.result()
    return Ended(output=output, errors=errors, status=status)


async def _abandon(process: asyncio.subprocess.Process) -> None:
    await _stop(process, _read_all(process, 0, asyncio.Event()))


def _read_all(
    process: asyncio.subprocess.Process, most: int, is_over_limit: asyncio.Event
) -> asyncio.Future[tuple[bytes, bytes, int]]:
    return asyncio.gather(
        _read_stream(process.stdout, most, is_over_limit),
        _read_stream(process.stderr, most, is_over_limit),
        process.wait(),
    )


async def _read_stream(
    stream: asyncio.StreamReader | None, most: int, is_over_limit: asyncio.Event
) -> bytes:
    """Read a stream to its end, and return its beginning.

    asyncio does not notice the end of a process while one of its pipes is full.
    """
    assert stream is not None  # noqa: S101 - both are pipes
    kept = bytearray()
    while piece := await stream.read(65_536):
        if len(kept) + len(piece) > most:
            is_over_limit.set()
        kept += piece[: most - len(kept)]
    return bytes(kept)


async def _stop(
    process: asyncio.subprocess.Process, reading: asyncio.Future[tuple[bytes, bytes, int]]
) -> None:
    """Make the reaper kill every process; if that takes too long, the reaper continues alone."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.close()
    done, _ = await asyncio.wait((reading,), timeout=_REAP_SECONDS)
    if not done:
        _log.error("processes of a command can't be killed; the reaper is %d", process.pid)
