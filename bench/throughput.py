"""Many people at once: turns a second, correct answers, event loop blocks."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence

from bench.bots import Bot, BotName, run_bot
from bench.figures import Figure
from bench.processes import run_server

_BOTS: tuple[BotName, ...] = ("watched", "bare")
_BLOCK_LIMIT_MS = 50.0
_PATIENCE = 10.0


async def measure(*, people: int, latency: float, rounds: int) -> list[Figure]:
    """Let everybody write at once, `rounds` times; at first they are new."""
    speed: dict[BotName, list[float]] = {name: [] for name in _BOTS}
    lag = (0.0, 0.0)
    async with run_server("tests.emulators.anthropic", "--latency", str(latency)) as model:
        for name in _BOTS:
            async with run_bot(name, model) as bot:
                for number in range(rounds):
                    speed[name].append(await _rush(bot, range(people), number))
                _check_answers(bot, range(people), rounds)
                if name == "watched":
                    lag = await _read_lag(bot)
    what = f"{people:,} at once, model {latency:g} s"
    figures = [
        Figure(
            name=f"{what}, {'new people' if number == 0 else 'known people'}",
            unit="turns/s",
            value=speed["watched"][number],
            bare=speed["bare"][number],
            at_least=0.7,
        )
        for number in range(rounds)
    ]
    block, usual = lag
    return [
        *figures,
        Figure(name=f"{what}, longest block", unit="ms", value=block, at_most=_BLOCK_LIMIT_MS),
        Figure(name=f"{what}, loop lag p99", unit="ms", value=usual),
    ]


async def _rush(bot: Bot, people: Sequence[int], number: int) -> float:
    """Return turns a second."""
    started = time.monotonic()
    await bot.population.ask({person: _word(person, number) for person in people})
    return len(people) / (time.monotonic() - started)


def _word(person: int, number: int) -> str:
    return f"word {person}-{number}."


def _check_answers(bot: Bot, people: Sequence[int], rounds: int) -> None:
    """Raise if an answer is missing, repeated or somebody else's."""
    for person in people:
        answers = bot.population.answers(person)
        is_own = [_word(person, number) in text for number, text in enumerate(answers)]
        if len(answers) != rounds or not all(is_own):
            raise RuntimeError(f"person {person} was answered by {bot.name} with {answers}")


async def _read_lag(bot: Bot) -> tuple[float, float]:
    """Return the event loop's longest block and its 99th percentile in ms since the start."""
    os.kill(bot.program.pid, signal.SIGUSR1)
    async with asyncio.timeout(_PATIENCE):
        line = await bot.program.output.readline()
    _, longest, usual, _ = line.decode().split()
    return float(longest), float(usual)
