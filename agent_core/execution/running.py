"""Run a command to its end, within limits of time and output; the same for every backend."""

import asyncio
from asyncio import StreamWriter
from dataclasses import dataclass
from typing import Literal

from agent_core.errors import WorkspaceError
from agent_core.execution.contract import Backend, Command, Limit, Process


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """The result of a command: its output, its status, and the limit that ended it, if any.

    `refusals` are sentences on what its network refused.
    """

    output: bytes
    status: int
    limit: Limit | Literal["time", "output"] = ""
    refusals: tuple[str, ...] = ()


async def run_command(
    backend: Backend, command: Command, *, seconds: float, most_bytes: int, given: bytes = b""
) -> Completed:
    """Run a command; kill it with all that it started after a time, or beyond so much output.

    A command that `has_input` reads what is `given`. Cancellation kills it, too.
    Raises `WorkspaceError` and `BackendUnavailable`.
    """
    process = await backend.start(command)
    output = bytearray()
    waiting = asyncio.create_task(process.wait())
    bound: Literal["", "time", "output"] = ""
    try:
        async with asyncio.timeout(seconds):
            if command.has_input:
                await process.write(given)
                await process.write(b"")
            if await _read(process, output, most_bytes):
                await asyncio.shield(waiting)
            else:
                bound = "output"
    except TimeoutError:
        bound = "time"
    finally:
        await process.kill()
        await asyncio.wait((waiting,))
    ended = waiting.result()
    return Completed(
        output=bytes(output),
        status=ended.status,
        limit=bound or ended.limit,
        refusals=ended.refusals,
    )


async def send(stdin: StreamWriter, data: bytes) -> None:
    """Send input to a command, or close it for b"". Raises `WorkspaceError` if nobody reads it."""
    try:
        if stdin.is_closing():
            raise BrokenPipeError
        if not data:
            stdin.close()
            return
        stdin.write(data)
        await stdin.drain()
    except ConnectionError as error:
        raise WorkspaceError("the command reads no more input") from error


async def _read(process: Process, output: bytearray, most: int) -> bool:
    """Collect the output; return whether all of it fits."""
    while piece := await process.read():
        output += piece[: most - len(output)]
        if len(output) >= most:
            return False
    return True
