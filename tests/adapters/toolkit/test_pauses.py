"""Pauses between retries grow up to a limit and obey a platform's wish."""

import asyncio

from adapters.errors import RateLimited, Unreachable
from adapters.toolkit.connection_health import Backoff
from tests.virtual_time import run_in_virtual_time


async def waited(
    pauses: Backoff, error: Unreachable | RateLimited | None = None, least: float = 0.0
) -> float:
    """How long the next pause is, in seconds."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await pauses.wait(error, least=least)
    return loop.time() - begun


def test_each_pause_is_longer_up_to_the_bound() -> None:
    async def wait_often() -> list[float]:
        pauses = Backoff(8.0, first=1.0)
        return [await waited(pauses, Unreachable("gone")) for _ in range(6)]

    found = run_in_virtual_time(wait_often())
    for pause, asked in zip(found, (1.0, 2.0, 4.0, 8.0, 8.0, 8.0), strict=True):
        assert 0.5 * asked <= pause <= asked + 0.001


def test_success_resets_the_pause() -> None:
    async def wait_again() -> float:
        pauses = Backoff(60, first=0.002)
        for _ in range(6):
            await waited(pauses)
        pauses.reset()
        return await waited(pauses)

    assert run_in_virtual_time(wait_again()) < 0.064  # what the seventh would be at least


def test_the_first_pause_is_within_the_bound() -> None:
    assert run_in_virtual_time(waited(Backoff(0.001))) < 0.002


def test_a_platform_may_ask_for_a_longer_pause() -> None:
    asked = RateLimited("slow down", retry_after=50.0)
    assert run_in_virtual_time(waited(Backoff(0.001), asked)) >= 50.0


def test_a_pause_may_have_a_least_length() -> None:
    assert run_in_virtual_time(waited(Backoff(0.001), least=50.0)) >= 50.0
