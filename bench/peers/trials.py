"""The trials of one bot: crashes, doubles, downtime, crowds, cost, overhead and recall."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.peers.contract import Bot, Place, Running
from bench.peers.model import ScriptedModel, make_code, make_fact
from tests.emulators.telegram import TelegramEmulator

_FIRST_USER = 10_000
_PATIENCE = 90.0
"""Seconds until an answer counts as lost; bots that retry after a crash take up to a minute."""
_SETTLE = 3.0
"""Seconds in which a second answer may still come."""
_TICK = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One measured number of one bot; None if it could not be measured."""

    name: str
    unit: str
    value: float | None


@dataclass(slots=True)
class Stage:
    """A bot with its own emulated platform and model."""

    api: TelegramEmulator
    model: ScriptedModel
    running: Running
    _words: int = 0

    def make_word(self) -> str:
        """Return a word that nobody has said yet."""
        self._words += 1
        return f"word{self._words:05}"

    async def say(self, user: int, text: str) -> None:
        """Let a person write to the bot."""
        self.api.user(user, f"Person {user}")
        await self.api.says(user, text)

    def count(self, user: int, text: str) -> int:
        """Count the messages to a person that hold a text."""
        return sum(text in one for one in self.api.texts(user))

    async def wait(self, is_true: Callable[[], bool], seconds: float = _PATIENCE) -> bool:
        """Wait for a condition of the emulator; return whether it came in time."""
        latest = time.monotonic() + seconds
        while not is_true():
            if time.monotonic() > latest:
                return False
            await asyncio.sleep(_TICK)
        return True

    async def count_lost(self, words: Mapping[int, str]) -> int:
        """Wait until everybody has an answer, and count who never gets one."""

        def list_silent() -> list[int]:
            return [user for user, word in words.items() if not self.count(user, f"heard {word}.")]

        await self.wait(lambda: not list_silent())
        return len(list_silent())

    async def knows(self, user: int, name: str) -> bool:
        """Ask for a code; return whether the answer has it."""
        before = len(self.api.texts(user))

        def list_answers() -> list[str]:
            found = self.api.texts(user)[before:]
            return [one for one in found if f"the code of {name}" in one.lower()]

        await self.say(user, f"What is the code of {name}?")
        await self.wait(lambda: bool(list_answers()))
        return any(make_code(name) in one for one in list_answers())

    async def ask(self, user: int, word: str, words: str = "") -> float | None:
        """Let a person say a word; return the seconds until it is heard, None if it never is."""
        began = time.monotonic()
        await self.say(user, f"{words} say {word}.".strip())
        heard = await self.wait(lambda: self.count(user, f"heard {word}.") > 0)
        return time.monotonic() - began if heard else None


@asynccontextmanager
async def open_stage(bot: Bot) -> AsyncIterator[Stage]:
    """Run a bot in a fresh home, once it has answered a first message."""
    with TemporaryDirectory(prefix="bench-peers-") as folder:
        async with TelegramEmulator() as api, ScriptedModel() as model:
            place = Place(
                home=Path(folder), telegram=api.base_url, token=api.token, model=model.url
            )
            polled = asyncio.Event()

            async def watch(method: str, _: dict[str, Any]) -> None:
                if method == "getUpdates":
                    polled.set()

            api.before = watch
            stage = Stage(api=api, model=model, running=Running(bot, place))
            await stage.running.start()
            try:
                await stage.wait(polled.is_set)
                if await stage.ask(_FIRST_USER, stage.make_word()) is None:
                    said = (place.home / "output.log").read_text("utf-8", "replace")[-2000:]
                    raise TimeoutError(f"{bot.name} never answered; it said:\n{said}")
                yield stage
            finally:
                await stage.running.stop()


async def measure_overhead(stage: Stage, turns: int) -> list[Result]:
    """One person writes again and again, and the model answers at once."""
    took = [await stage.ask(_FIRST_USER, stage.make_word()) for _ in range(turns)]
    good = sorted(one for one in took if one is not None)
    middle = good[len(good) // 2] * 1000 if good else None
    return [Result(name="overhead of a turn, p50", unit="ms", value=middle)]


async def measure_kills(stage: Stage, kills: int, seed: int = 1) -> list[Result]:
    """Kill the bot while it works on a message, and start it again."""
    chance, lost, doubled = random.Random(seed), 0, 0
    stage.model.seconds = 0.3
    waits: list[float] = []
    for _ in range(kills):
        word = stage.make_word()
        await stage.say(_FIRST_USER, f"say {word}.")
        await asyncio.sleep(chance.uniform(0.0, 0.6))
        await stage.running.kill()
        began = time.monotonic()
        await stage.running.start()
        if not await stage.count_lost({_FIRST_USER: word}):
            waits.append(time.monotonic() - began)
            await asyncio.sleep(_SETTLE)
            doubled += stage.count(_FIRST_USER, f"heard {word}.") > 1
        else:
            lost += 1
    stage.model.seconds = 0.0
    middle = sorted(waits)[len(waits) // 2] if waits else None
    return [
        Result(name=f"lost, of {kills} kills in a turn", unit="", value=lost),
        Result(name=f"doubled, of {kills} kills in a turn", unit="", value=doubled),
        Result(name="answer after a kill and a start, p50", unit="s", value=middle),
    ]


async def measure_doubles(stage: Stage, times: int) -> list[Result]:
    """Telegram sends an update again, as after a lost confirmation."""
    doubled = 0
    for _ in range(times):
        word = stage.make_word()
        if await stage.ask(_FIRST_USER, word) is None:
            continue
        stage.api.redeliver()
        await asyncio.sleep(_SETTLE)
        doubled += stage.count(_FIRST_USER, f"heard {word}.") > 1
    return [Result(name=f"answered twice, of {times} repeated updates", unit="", value=doubled)]


async def measure_downtime(stage: Stage, people: int) -> list[Result]:
    """People write while the bot is down."""
    await stage.running.stop()
    words = {_FIRST_USER + 100 + number: stage.make_word() for number in range(people)}
    for user, word in words.items():
        await stage.say(user, f"say {word}.")
    await stage.running.start()
    lost = await stage.count_lost(words)
    return [Result(name=f"lost, of {people} messages while it was down", unit="", value=lost)]


async def measure_crowd(stage: Stage, people: int) -> list[Result]:
    """Many people write at once, and the model takes a second."""
    stage.model.seconds = 1.0
    words = {_FIRST_USER + 500 + number: stage.make_word() for number in range(people)}
    began = time.monotonic()
    for user, word in words.items():
        await stage.say(user, f"say {word}.")
    lost = await stage.count_lost(words)
    took = time.monotonic() - began
    stage.model.seconds = 0.0
    return [
        Result(name=f"lost, of {people} people at once", unit="", value=lost),
        Result(name=f"last answer of {people} people at once", unit="s", value=took),
    ]


async def measure_cost(stage: Stage, turns: int) -> list[Result]:
    """One person talks on and on."""
    user, before = _FIRST_USER + 900, stage.model.counts.tokens
    filler = "The weather by the lake was fine, and we walked for two hours with the dog."
    for _ in range(turns):
        await stage.ask(user, stage.make_word(), filler)
    tokens = stage.model.counts.tokens - before
    return [
        Result(name=f"tokens sent in {turns} turns", unit="", value=tokens),
        Result(name="largest request", unit="tokens", value=stage.model.counts.largest),
    ]


async def measure_recall(stage: Stage, facts: int) -> list[Result]:
    """Ask in a new conversation, after a restart, for what was said before."""
    names = [f"bird{number}" for number in range(facts)]
    user = _FIRST_USER + 950
    for name in names:
        await stage.say(user, make_fact(name))
        await stage.count_lost({user: name})
    await stage.say(user, "/new")
    await asyncio.sleep(_SETTLE)
    await stage.running.stop()
    await stage.running.start()
    known = 0
    for name in names:
        known += await stage.knows(user, name)
    return [
        Result(name=f"recalled, of {facts} facts of another conversation", unit="", value=known)
    ]
