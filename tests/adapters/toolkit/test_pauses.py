"""Pauses between retries grow up to a limit and obey a platform's wish."""

import asyncio

from adapters.errors import RateLimited, Unreachable
from adapters.toolkit.connection_health import Backoff


async def waited(pauses: Backoff, error: Unreachable | RateLimited | None = None) -> float:
    """How long the next pause is, in seconds."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await pauses.wait(error)
    return loop.time() - begun


async def test_each_pause_is_longer_up_to_the_bound() -> None:
    pauses = Backoff(0.08, first=0.01)
    found = [await waited(pauses, Unreachable("gone")) for _ in range(6)]
    for pause, asked in zip(found, (0.01, 0.02, 0.04, 0.08, 0.08, 0.08), strict=True):
        assert 0.5 * asked <= pause + 0.002
    assert sum(found) <= 0.31 + 0.3  # a busy machine is late, but not for ever


async def test_success_resets_the_pause() -> None:
    pauses = Backoff(60, first=0.002)
    for _ in range(6):
        await waited(pauses)
    pauses.reset()
    assert await waited(pauses) < 0.064  # what the seventh would be at least


async def test_the_first_pause_is_within_the_bound() -> None:
    assert await waited(Backoff(0.001)) < 0.25


async def test_a_platform_may_ask_for_a_longer_pause() -> None:
    asked = RateLimited("slow down", retry_after=0.05)
    assert await waited(Backoff(0.001), asked) >= 0.045


async def test_a_pause_may_have_a_least_length() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await Backoff(0.001).wait(least=0.05)
    assert loop.time() - begun >= 0.045
