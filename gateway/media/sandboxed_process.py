"""Runs a program with limits on its time, its output and its environment."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.execution.subprocesses.spawning import spawn

_PIECE = 65_536
_MOST_COMPLAINT = 2000
_REAP_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The exit code of a program, its output, and the beginning of its error output."""

    code: int
    output: bytes
    complaint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits: `seconds` in all, and `most_bytes` of output; the rest is discarded."""

    seconds: float
    most_bytes: int


async def run(
    argv: Sequence[str],
    bounds: Bounds,
    *,
    data: bytes = b"",
    environ: Mapping[str, str],
    folder: Path | None = None,
) -> Finished:
    """Run a program without a shell. `data` is its input, and `environ` its whole environment.

    Raises `TimeoutError`, and `OSError` if it can't be started. Its process group is always killed
    at the end.
    """
    process = await spawn(argv, _end, environ=environ, folder=folder)
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None  # noqa: S101 - all three are pipes
    assert stdout is not None  # noqa: S101
    assert stderr is not None  # noqa: S101
    is_done = False
    try:
        async with asyncio.timeout(bounds.seconds):
            _, output, complaint, code = await asyncio.gather(
                _feed(stdin, data),
                _listen(stdout, bounds.most_bytes),
                _listen(stderr, _MOST_COMPLAINT),
                process.wait(),
            )
        is_done = True
    finally:
        if not is_done:
            await _end(process)
    return Finished(code=code, output=output, complaint=complaint.decode(errors="replace").strip())


async def _feed(stdin: asyncio.StreamWriter, data: bytes) -> None:
    # A program may end before it has read all its input.
    with suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(data)
        await stdin.drain()
        stdin.close()
        await stdin.wait_closed()


async def _listen(stream: asyncio.StreamReader, most: int) -> bytes:
    """Read a stream to its end, and return its first bytes."""
    kept = bytearray()
    while piece := await stream.read(_PIECE):
        kept += piece[: most - len(kept)]
    return bytes(kept)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the program and its children: they form a process group of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(_REAP_SECONDS):
            await process.wait()
