"""How long a person waits while somebody else makes Talaria work: `python -m bench.neighbours`.

One person writes again and again: alone, then while a neighbour's commands flood the gateway, or
while the largest person of a full home exports and forgets. Both happen in one run.
"""

import argparse
import asyncio
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.bots import Bot, compose_environment
from bench.console_home import VOCABULARY, fill_home
from bench.figures import Figure, percentile, render
from bench.population import TelegramPopulation
from bench.processes import run_program, run_server

FLOODS: Mapping[str, str] = {
    "yes": "yes",
    "one line of 100 MB": "yes x | head -c 200M | tr -d '\\n'",
    "digits": "head -c 8M /dev/zero | tr '\\0' 7",
    "random bytes": "head -c 8M /dev/urandom",
    "base64": "head -c 6M /dev/urandom | base64 -w0",
    "hex": "head -c 4M /dev/urandom | od -An -tx1",
    "colours": "yes $(printf '\\033[31mred\\033[0m') | head -c 8M",
    "combining marks": "yes $(printf 'a\\314\\201\\314\\243') | head -c 8M",
    "carriage returns": "yes 10% | tr '\\n' '\\r' | head -c 8M",
    "JSON": "yes 1,2,3 | head -c 8M",
    "web tokens": "yes -- -eyJ | tr -d '\\n' | head -c 8M",
}
_OWNER, _OTHER = 1, 2
_PACE = 0.05
"""Seconds between two messages of the person who waits."""
_ALONE = 200
"""Messages without a neighbour."""
_LONGER_MS, _LAG_MS = 250.0, 50.0
_PATIENCE = 600.0


@asynccontextmanager
async def _gateway(home: Path, **settings: str) -> AsyncIterator[Bot]:
    async with (
        run_server("bench.obedient_model") as model,
        TelegramPopulation() as population,
    ):
        environ = compose_environment([population], model, home.parent) | settings
        log = home.parent / "output.log"
        async with run_program(("-m", "bench.harness"), environ, log) as program:
            await population.wait_for_poll()
            yield Bot(name="watched", program=program, population=population, home=home)


class _Waiting:
    """A person who writes as soon as they were answered."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._count = 0

    async def ask(self) -> float:
        self._count += 1
        (seconds,) = await self._bot.population.ask({_OTHER: f"word {self._count}."})
        return seconds

    async def during(self, work: Callable[[], Awaitable[object]]) -> tuple[list[float], float]:
        """Return the seconds of each answer while some work lasts, and those of the work."""
        began, waits = time.monotonic(), []
        working = asyncio.ensure_future(work())
        while not working.done():
            waits.append(await self.ask())
            await asyncio.sleep(_PACE)
        await working
        return waits, time.monotonic() - began

    async def alone(self) -> list[float]:
        waits = []
        for _ in range(_ALONE):
            waits.append(await self.ask())
            await asyncio.sleep(_PACE)
        return waits


async def _read_lag(bot: Bot) -> tuple[float, float]:
    """Return the event loop's longest block and longest work since the last call, in ms."""
    os.kill(bot.program.pid, signal.SIGUSR1)
    _, longest, _, work = (await bot.program.output.readline()).split()
    return float(longest), float(work)


def _compare(
    what: str, alone: list[float], waits: list[float], lag: tuple[float, float], seconds: float
) -> list[Figure]:
    usual = percentile(alone, 0.99) * 1000
    half, most = (percentile(waits, share) * 1000 for share in (0.5, 0.99))
    figures = [
        Figure(name=f"{what}: p50 of {len(waits)}", unit="ms", value=half),
        Figure(name=f"{what}: p99", unit="ms", value=most),
        Figure(name=f"{what}: p99, longer by", unit="ms", value=most - usual, at_most=_LONGER_MS),
        Figure(name=f"{what}: longest block", unit="ms", value=lag[0], at_most=_LAG_MS),
        Figure(name=f"{what}: longest work of the loop", unit="ms", value=lag[1], at_most=_LAG_MS),
        Figure(name=f"{what}: it took", unit="s", value=seconds),
    ]
    print(render(figures), flush=True)
    return figures


async def measure_floods(*, rounds: int = 3) -> list[Figure]:
    """Let a neighbour's commands print much, one kind after the other."""
    figures: list[Figure] = []
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        home = Path(folder) / "home"
        async with _gateway(home, TALARIA_TOOLS__BACKEND="local") as bot:
            api, waiting = bot.population.api, _Waiting(bot)  # type: ignore[attr-defined]
            user = _number(_OWNER)
            api.user(user, "Neighbour")
            await waiting.alone()
            await _read_lag(bot)
            alone = await waiting.alone()
            figures += _compare("alone", alone, alone, await _read_lag(bot), 0)
            for name, command in FLOODS.items():

                async def flood(command: str = command) -> None:
                    for _ in range(rounds):
                        before = len(api.texts(user))
                        await api.says(user, f"run: {command}")
                        await api.wait_for(
                            lambda before=before: any(
                                "echo:" in text for text in api.texts(user)[before:]
                            ),
                            _PATIENCE,
                        )

                waits, seconds = await waiting.during(flood)
                figures += _compare(name, alone, waits, await _read_lag(bot), seconds)
    return figures


async def measure_rights(
    *, word: str, messages: int = 1_000_000, people: int = 1_000, source: Path | None = None
) -> list[Figure]:
    """Let the owner, who wrote half of everything, export it and forget a rare word."""
    figures: list[Figure] = []
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        if source:
            home = Path(folder) / "home"
            shutil.copytree(source, home)
        else:
            home = await fill_home(folder, messages, people)
        with closing(sqlite3.connect(home / "state.db")) as connection, connection:
            connection.execute(
                "UPDATE accounts SET user_id = user_id + :first WHERE platform = 'telegram'",
                {"first": _number(0)},
            )
        async with _gateway(home) as bot:
            waiting = _Waiting(bot)
            await waiting.alone()
            await _read_lag(bot)
            alone = await waiting.alone()
            figures += _compare("alone", alone, alone, await _read_lag(bot), 0)
            for name, work in _list_rights(bot, word):
                waits, seconds = await waiting.during(work)
                lag = await _read_lag(bot)
                figures += _compare(name, alone, waits, lag, seconds)
    return figures


def _list_rights(bot: Bot, word: str) -> list[tuple[str, Callable[[], Awaitable[object]]]]:
    api = bot.population.api  # type: ignore[attr-defined]
    user = _number(_OWNER)
    api.user(user, "Owner")

    async def wait(before: int, is_answer: Callable[[str], bool]) -> None:
        def look() -> bool:
            found = [one.text for one in api.messages(user)[before:]]
            return any(map(is_answer, found))

        await api.wait_for(look, _PATIENCE)

    async def say(text: str, is_answer: Callable[[str], bool]) -> None:
        before = len(api.messages(user))
        await api.says(user, text)
        await wait(before, is_answer)

    async def export() -> None:
        await say("/export", lambda text: "README" in text or "people export" in text)

    async def ask() -> None:
        await say(f"/forget {word}", lambda text: "delete" in text.lower() and "?" in text)

    async def forget() -> None:
        before = len(api.messages(user))
        await api.presses(user, "Notes and messages")
        await api.wait_for(
            lambda: any("deleted" in one.text.lower() for one in api.messages(user)[before:]),
            _PATIENCE,
        )

    async def linger() -> None:
        await asyncio.sleep(20)

    return [
        ("export", export),
        ("forget, the question", ask),
        ("forget, the work", forget),
        ("20 s after it", linger),
    ]


def _number(person: int) -> int:
    return 10_000 + person


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.neighbours", description=__doc__)
    parser.add_argument("what", choices=("floods", "rights"))
    parser.add_argument("--home", type=Path, help="a filled home to copy")
    parser.add_argument("--word", default=VOCABULARY[2000], help="the word to forget")
    given = parser.parse_args()
    if given.what == "floods":
        asyncio.run(measure_floods())
    else:
        asyncio.run(measure_rights(word=given.word, source=given.home))


if __name__ == "__main__":
    main()
