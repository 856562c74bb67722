"""What one turn costs beyond the model: latency and CPU, one person, message after message."""

from contextlib import AsyncExitStack

from bench.bots import Bot, BotName, PlatformName, run_bot
from bench.figures import Figure, percentile
from bench.processes import run_server

_BOTS: tuple[BotName, ...] = ("gateway", "bare")
_TALK = 25
"""Turns of one person, after which somebody else goes on."""


async def measure(*, platform: PlatformName, block: int, rounds: int) -> list[Figure]:
    """Blocks of turns, the two bots in alternation, so that the machine's noise falls on both."""
    latencies: dict[BotName, list[float]] = {name: [] for name in _BOTS}
    cpu: dict[BotName, float] = dict.fromkeys(_BOTS, 0.0)
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(run_server("bench.quick_model"))
        bots = [await stack.enter_async_context(run_bot(name, model, platform)) for name in _BOTS]
        for bot in bots:
            await _dialogue(bot, 0, block)
        for number in range(1, rounds + 1):
            for bot in bots:
                before = bot.program.cpu_seconds()
                latencies[bot.name] += await _dialogue(bot, number * block, block)
                cpu[bot.name] += bot.program.cpu_seconds() - before
    done = block * rounds
    gateway, bare = latencies["gateway"], latencies["bare"]
    return [
        Figure(
            name=f"{platform}: overhead per turn, p50",
            unit="ms",
            value=percentile(gateway, 0.5) * 1000,
            bare=percentile(bare, 0.5) * 1000,
            at_most=2.0,
        ),
        Figure(
            name=f"{platform}: overhead per turn, p99",
            unit="ms",
            value=percentile(gateway, 0.99) * 1000,
            bare=percentile(bare, 0.99) * 1000,
        ),
        Figure(
            name=f"{platform}: CPU per turn",
            unit="ms",
            value=cpu["gateway"] / done * 1000,
            bare=cpu["bare"] / done * 1000,
            at_most=2.0,
        ),
    ]


async def _dialogue(bot: Bot, first: int, turns: int) -> list[float]:
    """One message after another; the bare bot has no history, so nobody's grows long here."""
    seconds = []
    for turn in range(first, first + turns):
        seconds += await bot.population.ask({turn // _TALK: f"word {turn}."})
    return seconds
