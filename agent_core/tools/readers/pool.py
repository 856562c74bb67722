"""Reader processes that parse untrusted data outside the gateway process."""

import asyncio
import logging
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import spawn
from agent_core.tools.readers.faults import ReaderFailed

_REAP_SECONDS = 5.0
_PIECE = 65_536
_MOST_COMPLAINT = 2000

PAGE_READER = "agent_core.tools.readers.page_reader"
"""The program that reads the text of a page; its arguments are media type and characters."""
AT_ONCE = 3
"""The number of concurrent reader processes; others wait."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCommand:
    """A program with its arguments and its input; `folder` is its cache.

    A program that needs none of the installed packages starts sooner without them.
    """

    program: str
    arguments: tuple[str, ...]
    data: bytes
    seconds: float
    most_bytes: int
    folder: Path | None = None
    has_packages: bool = True


class ReaderPool:
    """Runs a few reader processes at a time.

    `seconds` is the time that one document may take.
    """

    def __init__(self, *, seconds: float = 20.0) -> None:
        self.seconds = seconds
        self._places = asyncio.Semaphore(AT_ONCE)

    async def run(self, command: ReaderCommand) -> bytes:
        """Run a program and return its output.

        It gets a minimal environment, and is killed afterwards. Raises `ReaderFailed`.
        """
        async with self._places:
            return await _run(command)


async def _run(command: ReaderCommand) -> bytes:
    name = command.program.rpartition(".")[2]
    environ = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
    if command.folder is not None:
        environ["MPLCONFIGDIR"] = str(command.folder)
    try:
        argv = make_command(command.program, *command.arguments, has_packages=command.has_packages)
        process = await spawn(argv, _kill, environ=environ)
    except OSError as error:
        _log.error("can't start %s: %s", name, error)
        raise ReaderFailed("this machine can't start a reader process now") from error
    try:
        async with asyncio.timeout(command.seconds):
            output, complaint, code = await asyncio.gather(
                _exchange(process, command.data, command.most_bytes),
                _read_limited(process.stderr, _MOST_COMPLAINT),
                process.wait(),
            )
    except TimeoutError as error:
        raise ReaderFailed(f"it took longer than {command.seconds:g} s to read") from error
    finally:
        await _kill(process)
    if code:
        reported = complaint.decode(errors="replace").strip().rpartition("\n")[2]
        _log.info("%s ended with status %d: %s", name, code, reported)
        raise ReaderFailed("it is unreadable")
    return output


async def _exchange(process: asyncio.subprocess.Process, data: bytes, most: int) -> bytes:
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - it is a pipe

    async def feed() -> None:
        with suppress(
            BrokenPipeError, ConnectionResetError
        ):  # a program may exit before it has read all input
            stdin.write(data)
            await stdin.drain()
            stdin.close()
            await stdin.wait_closed()

    _, output = await asyncio.gather(feed(), _read_limited(process.stdout, most))
    return output


async def _read_limited(stream: asyncio.StreamReader | None, most: int) -> bytes:
    """Keep the first bytes of a stream, and drain the rest."""
    assert stream is not None  # noqa: S101 - it is a pipe
    kept = bytearray()
    while piece := await stream.read(_PIECE):
        kept += piece[: most - len(kept)]
    return bytes(kept)


async def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(_REAP_SECONDS):
            await process.wait()
