"""Starts another program so that nothing of it is left where the asker goes meanwhile."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path


async def spawn(
    argv: Sequence[str],
    end: Callable[[Process], Awaitable[None]],
    *,
    environ: Mapping[str, str],
    folder: Path | None = None,
) -> Process:
    """Start a program in a session of its own, with pipes to its three streams and no shell.

    The start is seen through also where this is cancelled, and `end` is called then: asyncio
    itself would kill the program, not what that has begun already, and may wait for ever for what
    such children keep open (Python 3.11). Raises `OSError` if the program can't be started, and
    `ValueError` for a NUL in its words.
    """
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(environ),
            cwd=folder,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait((starting,))
        if starting.exception() is None:
            await end(starting.result())
        raise
