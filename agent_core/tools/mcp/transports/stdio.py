"""Speak MCP with a program over its standard streams, one message per line."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import jsonrpc_message_adapter

from agent_core.errors import BackendUnavailable
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.servers import (
    ServerProcess,
    ServerProgram,
    start_sandboxed,
    start_unsandboxed,
)
from agent_core.execution.subprocesses.spawning import finish
from agent_core.tools.mcp.contract import McpServer, McpUnavailable, Surroundings
from agent_core.tools.mcp.transports.streams import (
    MOST_BYTES,
    LimitedStream,
    StreamLink,
    Unreadable,
    pace_bytes,
)
from agent_core.transcript import flatten

_LIMITS = SandboxLimits(
    memory=2_000_000_000, processes=128, file=1_000_000_000, workspace=5_000_000_000
)
_LOOK = 1.0
"""Seconds between two checks of a program's memory and processes."""
_LAST_WORDS = 2.0
"""Seconds in which a program that no longer reads should exit and report why."""
_SHOWN = 300
_MISSING = re.compile(r"limits: line \d+: (?:exec: )?(.+): (?:not found|No such file or directory)")
"""The message of the sandbox's shell if the program doesn't exist."""

_Outgoing = MemoryObjectReceiveStream[SessionMessage]
_Incoming = MemoryObjectSendStream[SessionMessage | Exception]


@asynccontextmanager
async def open_stdio(
    server: McpServer, surroundings: Surroundings, link: StreamLink
) -> AsyncIterator[TransportStreams]:
    """Start a server's program, and provide the streams of its messages.

    No process of the program is left afterwards, even after an error. Raises `McpUnavailable`.
    """
    process = await _start(server, surroundings)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(process, incoming, link)),
        asyncio.create_task(_write(process, outgoing, link)),
        asyncio.create_task(_watch(process, link)),
    ]
    try:
        yield LimitedStream(read, link), write
    finally:
        for task in tasks:
            task.cancel()
        for stream in (incoming, read, write, outgoing):
            stream.close()
        # Even a cancelled caller has to wait until its program has ended.
        await finish(_end(process, tasks))


async def _start(server: McpServer, surroundings: Surroundings) -> ServerProcess:
    program = ServerProgram(
        argv=server.argv,
        folder=surroundings.folder / server.name,
        environ=server.environ,
        limits=_LIMITS,
        readable=server.readable,
        writable=server.writable,
        has_network=server.has_network,
    )
    try:
        if server.is_sandboxed:
            return await start_sandboxed(program, surroundings.hidden)
        return await start_unsandboxed(program, surroundings.inherited)
    except BackendUnavailable as error:
        raise McpUnavailable(f"can't be started: {error}") from error


async def _end(process: ServerProcess, tasks: list[asyncio.Task[None]]) -> None:
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
    await process.end()


async def _read(process: ServerProcess, incoming: _Incoming, link: StreamLink) -> None:
    """Pass on a program's messages, and close the link when they end."""
    pace, rest = pace_bytes(), bytearray()
    with incoming, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while piece := await process.read():
            await pace.take(len(piece))
            rest += piece
            if b"\n" in piece:
                *lines, last = bytes(rest).split(b"\n")
                rest = bytearray(last)
                for line in filter(bytes.strip, lines):
                    await incoming.send(_parse(line))
            if len(rest) > MOST_BYTES:
                link.close(f"sent a message of more than {MOST_BYTES // 1_000_000} MB")
                return
        said = flatten(process.errors(), 10_000)[-_SHOWN:]
        if missing := _MISSING.fullmatch(said):
            where = "install it, or list its folder in readable"
            link.close(f"can't be started: the sandbox has no program `{missing[1]}`; {where}")
            return
        link.close(f"has ended; it said: {said}" if said else "has ended")


async def _write(process: ServerProcess, outgoing: _Outgoing, link: StreamLink) -> None:
    try:
        async for item in outgoing:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.write(line.encode() + b"\n")
    except (OSError, RuntimeError):
        with suppress(TimeoutError):  # if the program has ended, `_read` learns the reason
            async with asyncio.timeout(_LAST_WORDS):
                await link.wait()
        link.close("no longer reads what it is sent")


async def _watch(process: ServerProcess, link: StreamLink) -> None:
    """Close the link if a program exceeds its limits."""
    while True:
        await asyncio.sleep(_LOOK)
        processes, memory = process.measure()
        if processes > _LIMITS.processes:
            link.close(f"had more than {_LIMITS.processes} processes")
        if memory > _LIMITS.memory:
            link.close(f"took more than {_LIMITS.memory // 1_000_000:,} MB of memory")


def _parse(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        # A server that cuts a text in the middle of an emoji or of UTF-8 loses no whole answer.
        try:
            found = json.loads(line.decode("utf-8", "replace"))
            clean = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
            return SessionMessage(jsonrpc_message_adapter.validate_json(clean, by_name=False))
        except (ValueError, RecursionError):
            return Unreadable(flatten(line[:_SHOWN].decode(errors="replace"), _SHOWN))
