"""Start programs so that a cancelled caller leaves no process behind."""

import asyncio
import os
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

_Result = TypeVar("_Result")


async def finish(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Await work until it ends, even if the caller is cancelled; then cancel the caller.

    The cancellation's cause is then the error of the work, if any.
    """
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled from (None if task.cancelled() else task.exception())
    return task.result()


async def complete_start(
    starting: Coroutine[Any, Any, _Result], end: Callable[[_Result], Awaitable[object]]
) -> _Result:
    """Start something. If the caller is cancelled, the start is completed, and then undone."""
    task = asyncio.create_task(starting)

    async def abandon() -> None:
        await asyncio.wait((task,))
        if task.exception() is None:
            await end(task.result())

    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await finish(abandon())
        raise


async def spawn(
    argv: Sequence[str],
    end: Callable[[Process], Awaitable[None]],
    *,
    environ: Mapping[str, str],
    folder: Path | None = None,
    inherited: Sequence[int] = (),
    has_one_output: bool = False,
) -> Process:
    """Start a program in its own session, with pipes to its three streams and no shell.

    Its standard input is a pipe, never a socket: bash takes a socket there for a remote login, and
    then reads `~/.bashrc`.

    `inherited` are descriptors that stay open in it. With `has_one_output`, both outputs go to the
    pipe of standard output.

    A cancelled start is completed first: asyncio alone would kill the program but not its children,
    and may wait forever for pipes that these keep open (Python 3.11).

    Raises `OSError` if the program can't be started, and `ValueError` for a NUL in its arguments.
    """

    async def start() -> Process:
        reads, writes = os.pipe()
        try:
            child = await asyncio.create_subprocess_exec(
                *argv,
                stdin=reads,
                stdout=PIPE,
                stderr=STDOUT if has_one_output else PIPE,
                env=dict(environ),
                cwd=folder,
                start_new_session=True,
                pass_fds=inherited,
            )
        except BaseException:
            os.close(writes)
            raise
        finally:
            os.close(reads)
        child.stdin = await open_pipe(writes)
        return child

    return await complete_start(start(), end)


async def open_pipe(descriptor: int) -> asyncio.StreamWriter:
    """Open the writing end of a pipe. It closes by itself when nobody reads any more."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        _PipeProtocol, os.fdopen(descriptor, "wb", buffering=0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


class _PipeProtocol(asyncio.streams.FlowControlMixin):
    """Tells `StreamWriter.wait_closed` when a pipe is closed; asyncio's own mixin can't."""

    def __init__(self) -> None:
        super().__init__()
        self._is_closed = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self._is_closed.done():
            self._is_closed.set_result(None)

    def _get_close_waiter(self, _: asyncio.StreamWriter) -> "asyncio.Future[None]":
        return self._is_closed
