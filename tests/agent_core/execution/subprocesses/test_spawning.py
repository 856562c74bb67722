"""Starts and endings that are cancelled, once and twice."""

import asyncio

import pytest

from agent_core.execution.subprocesses.spawning import complete_start, finish


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_cancelled_start_is_completed_and_then_ended(times: int) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def start() -> str:
        await begun.wait()
        return "started"

    async def end(what: str) -> None:
        await asyncio.sleep(0)
        assert what == "started"
        ended.set()

    task = asyncio.create_task(complete_start(start(), end))
    for _ in range(times):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    begun.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_a_cancelled_ending_is_finished_first() -> None:
    steps: list[int] = []

    async def end() -> None:
        for number in range(3):
            await asyncio.sleep(0)
            steps.append(number)

    task = asyncio.create_task(finish(end()))
    for _ in range(2):
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == [0, 1, 2]


async def test_work_that_fails_does_not_hide_that_its_caller_is_cancelled() -> None:
    fault = OSError("the disk is full")

    async def fail() -> None:
        await asyncio.sleep(0)
        raise fault

    task = asyncio.create_task(finish(fail()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await task
    assert cancelled.value.__cause__ is fault
