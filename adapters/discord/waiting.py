"""Waits for a task that may overhear that it is cancelled."""

import asyncio

_AGAIN = 1.0
"""Seconds until a task that goes on is cancelled once more."""


async def until_ended(task: asyncio.Task[None]) -> None:
    """Await a task; once cancelled, cancel it until it has ended. Raises what it raises.

    discord.py connects within `asyncio.wait_for`, which before Python 3.12 loses a cancellation
    that comes at the moment at which what it waits for is done (bpo-37658).
    """
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        while not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_AGAIN)
        if not task.cancelled():
            task.exception()  # taken note of; the cancellation goes on all the same
        raise
    task.result()
