"""People who write without a pause: memory and turns a second while their conversations grow."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.bots import Bot, run_bot
from bench.figures import Figure
from bench.population import DELIVERS, TelegramPopulation
from bench.processes import run_server

_PEOPLE = 40
_WARM = 2_000
"""Turns before the memory counts; by then, caches have their usual size."""
_PATIENCE = 120.0
_FIRST_USER = 10_000
_MEGA = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The state after some turns. `moment` is monotonic seconds."""

    turns: int
    moment: float
    resident: int
    cpu: float


class _Talkers:
    """People who write their next message when the answer to the last one arrives."""

    def __init__(self, bot: Bot, *, turns: int, step: int) -> None:
        """`turns` is the number for each person; a sample follows every `step` turns of all."""
        assert isinstance(bot.population, TelegramPopulation)
        self._bot, self._api = bot, bot.population.api
        self._turns, self._step = turns, step
        self._waiting: dict[int, tuple[str, asyncio.Event]] = {}
        self._done = 0
        self.samples = [self._sample()]
        self._api.before = self._watch

    async def talk(self, words: int) -> None:
        """Let everybody talk to the end; each message has this many words besides its number."""
        async with asyncio.TaskGroup() as group:
            for user in range(_FIRST_USER, _FIRST_USER + _PEOPLE):
                self._api.user(user, f"Person {user}")
                group.create_task(self._talk(user, words))

    async def _talk(self, user: int, words: int) -> None:
        for number in range(self._turns):
            word, arrived = f"{user}-{number}", asyncio.Event()
            self._waiting[user] = (word, arrived)
            await self._api.says(user, f"{word} {'again ' * words}.")
            async with asyncio.timeout(_PATIENCE):
                await arrived.wait()
            self._done += 1
            if self._done % self._step == 0:
                self.samples.append(self._sample())

    async def _watch(self, method: str, params: dict[str, Any]) -> None:
        if method in DELIVERS:
            word, arrived = self._waiting[int(params["chat_id"])]
            if word in params["text"]:
                arrived.set()

    def _sample(self) -> Sample:
        program = self._bot.program
        return Sample(
            turns=self._done,
            moment=time.monotonic(),
            resident=program.resident_bytes(),
            cpu=program.cpu_seconds(),
        )


async def run(*, turns: int, step: int, words: int, **settings: str) -> Sequence[Sample]:
    """Let 40 people have this many turns each, with a model that answers at once."""
    async with (
        run_server("bench.quick_model") as model,
        run_bot("gateway", model, **settings) as bot,
    ):
        talkers = _Talkers(bot, turns=turns, step=step)
        await talkers.talk(words)
        return talkers.samples


async def measure(*, turns: int, words: int = 30) -> list[Figure]:
    """Measure the memory that turns leave, and the speed at the end against the beginning."""
    step = turns * _PEOPLE // 10
    samples = await run(turns=turns, step=step, words=words)
    speeds = [
        (late.turns - early.turns) / (late.moment - early.moment)
        for early, late in pairwise(samples[1:])
    ]
    warm = next(one for one in samples if one.turns >= min(_WARM, step))
    return [
        Figure(
            name=f"{_PEOPLE} people without pause, {turns} turns each, growth after {warm.turns:,}",
            unit="MB",
            value=(samples[-1].resident - warm.resident) / _MEGA,
            at_most=40.0,
        ),
        Figure(name="the same, turns/s at the beginning", unit="turns/s", value=speeds[0]),
        Figure(
            name="the same, turns/s at the end, of those at the beginning",
            unit="times",
            value=speeds[-1] / speeds[0],
            at_least=0.9,
        ),
    ]


def _print(samples: Sequence[Sample]) -> None:
    for early, late in pairwise(samples):
        count = late.turns - early.turns
        speed, cpu = count / (late.moment - early.moment), (late.cpu - early.cpu) / count
        print(
            f"{late.turns:7,} turns: {late.resident / _MEGA:7.1f} MB, {speed:6.1f} turns/s,"
            f" {cpu * 1000:5.2f} ms of CPU a turn",
            flush=True,
        )


if __name__ == "__main__":
    import sys

    each, every, longest = (int(one) for one in sys.argv[1:4])
    _print(asyncio.run(run(turns=each, step=every, words=longest)))
