"""The cost of a turn without the model: latency, CPU and turns a second, beside a bare bot."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bench.bots import Bot, BotName, PlatformName, run_bot
from bench.figures import Figure, percentile
from bench.processes import run_server

_BOTS: tuple[BotName, ...] = ("gateway", "bare")
_TALK = 25
"""Turns of one person before the next person."""
_PAUSE = 1.0
"""Seconds between two messages of a person who reads before writing."""
_QUICK, _INSPECTING = "bench.quick_model", "tests.emulators.anthropic"


async def measure(*, platform: PlatformName, block: int, rounds: int) -> list[Figure]:
    """Send message after message, with an emulator that answers at once."""
    async with _run_bots(platform, _QUICK) as bots:
        return await _alternate(f"{platform}: overhead", bots, block=block, rounds=rounds)


async def measure_inspected(*, platform: PlatformName, block: int, rounds: int) -> list[Figure]:
    """The same with the emulator that checks every block of each request.

    Checking the gateway's requests takes it longer than a bare bot's, so there is no goal.
    """
    async with _run_bots(platform, _INSPECTING) as bots:
        name = f"{platform}: inspected overhead"
        return await _alternate(name, bots, block=block, rounds=rounds, has_goals=False)


async def measure_pauses(*, platform: PlatformName, turns: int) -> list[Figure]:
    """Wait a second between an answer and the next message."""
    latencies: dict[BotName, list[float]] = {name: [] for name in _BOTS}
    async with _run_bots(platform, _QUICK) as bots:
        for turn in range(turns):
            for bot in bots:
                await asyncio.sleep(_PAUSE / len(bots))
                latencies[bot.name] += await _dialogue(bot, turn, 1)
    return [
        _latency(f"{platform}: after a pause, p50", latencies, 0.5, at_most=1.5),
        _latency(f"{platform}: after a pause, p99", latencies, 0.99),
    ]


async def measure_crowd(*, platform: PlatformName, people: int, rounds: int) -> list[Figure]:
    """Return turns a second of people who each write again after their answer."""
    seconds: dict[BotName, float] = dict.fromkeys(_BOTS, 0.0)
    async with _run_bots(platform, _QUICK) as bots:
        for number in range(rounds):
            for bot in bots:
                words = {person: f"word {person}-{number}." for person in range(people)}
                taken = max(await bot.population.ask(words))
                seconds[bot.name] += taken if number else 0.0
    done = people * (rounds - 1)
    return [
        Figure(
            name=f"{platform}: {people} people at once",
            unit="turns/s",
            value=done / seconds["gateway"],
            bare=done / seconds["bare"],
            at_least=0.9,
        )
    ]


@asynccontextmanager
async def _run_bots(platform: PlatformName, model_module: str) -> AsyncIterator[list[Bot]]:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(run_server(model_module))
        yield [await stack.enter_async_context(run_bot(name, model, platform)) for name in _BOTS]


async def _alternate(
    name: str, bots: list[Bot], *, block: int, rounds: int, has_goals: bool = True
) -> list[Figure]:
    """Alternate blocks of turns between the two bots, so that both share the machine's noise."""
    latencies: dict[BotName, list[float]] = {name: [] for name in _BOTS}
    cpu: dict[BotName, float] = dict.fromkeys(_BOTS, 0.0)
    for bot in bots:
        await _dialogue(bot, 0, block)
    for number in range(1, rounds + 1):
        for bot in bots:
            before = bot.program.cpu_seconds()
            latencies[bot.name] += await _dialogue(bot, number * block, block)
            cpu[bot.name] += bot.program.cpu_seconds() - before
    done = block * rounds
    return [
        _latency(f"{name}, p50", latencies, 0.5, at_most=1.8 if has_goals else None),
        _latency(f"{name}, p99", latencies, 0.99),
        Figure(
            name=f"{name}, CPU",
            unit="ms",
            value=cpu["gateway"] / done * 1000,
            bare=cpu["bare"] / done * 1000,
            at_most=1.4 if has_goals else None,
        ),
    ]


def _latency(
    name: str, latencies: dict[BotName, list[float]], share: float, at_most: float | None = None
) -> Figure:
    gateway, bare = (percentile(latencies[bot], share) * 1000 for bot in _BOTS)
    return Figure(name=name, unit="ms", value=gateway, bare=bare, at_most=at_most)


async def _dialogue(bot: Bot, first: int, turns: int) -> list[float]:
    """Send one message after another. The bare bot has no history, so keep histories short."""
    seconds = []
    for turn in range(first, first + turns):
        seconds += await bot.population.ask({turn // _TALK: f"word {turn}."})
    return seconds
