"""A task that ignores its cancellation is cancelled again."""

import asyncio

import pytest

from adapters.discord.client import until_ended
from tests.patience import PATIENCE


async def test_a_task_that_swallows_its_cancellation_is_ended() -> None:
    cancelled: list[int] = []

    async def deaf() -> None:
        while len(cancelled) < 2:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(1)
        raise LookupError("ended by itself")

    task = asyncio.create_task(deaf())
    waiting = asyncio.create_task(until_ended(task))
    await asyncio.sleep(0)
    waiting.cancel()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert len(cancelled) == 2
    assert task.done()


async def test_what_a_task_raises_is_raised() -> None:
    async def fail() -> None:
        raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        await until_ended(asyncio.create_task(fail()))
