"""The trials of one bot: crashes, doubles, downtime, crowds, cost, overhead and recall."""

import asyncio
import itertools
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.peers.contract import Bot, Place, Running
from bench.peers.model import Counts, ScriptedModel, make_code, make_fact
from tests.emulators.telegram import TelegramEmulator

_FIRST_USER = 10_000
_PATIENCE = 90.0
"""Seconds until an answer counts as lost; bots that retry after a crash take up to a minute."""
_SOON = 15.0
"""Seconds after a start until the next trouble; who has no answer then may get it later."""
_SETTLE = 3.0
"""Seconds in which a second answer may still come."""
_TICK = 0.01


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

    async def start(self) -> None:
        """Start the bot, and wait until it asks Telegram for messages."""
        polled = asyncio.Event()

        async def watch(method: str, _: dict[str, Any]) -> None:
            if method == "getUpdates":
                polled.set()

        self.api.before = watch
        await self.running.start()
        await self.wait(polled.is_set)

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
            api.reads_markup = True
            place = Place(
                home=Path(folder), telegram=api.base_url, token=api.token, model=model.url
            )
            stage = Stage(api=api, model=model, running=Running(bot, place))
            try:
                await stage.start()
                if await stage.ask(_FIRST_USER, stage.make_word()) is None:
                    said = (place.home / "output.log").read_text("utf-8", "replace")[-2000:]
                    raise TimeoutError(f"{bot.name} never answered; it said:\n{said}")
                yield stage
            finally:
                await stage.running.stop()


async def measure_overhead(stage: Stage, turns: int) -> list[Result]:
    """One person writes again and again, and the model answers at once."""
    user = _FIRST_USER + 10
    await stage.ask(user, stage.make_word())
    used = stage.running.cpu_seconds()
    took = [await stage.ask(user, stage.make_word()) for _ in range(turns)]
    used = stage.running.cpu_seconds() - used
    good = sorted(one for one in took if one is not None)
    middle = good[len(good) // 2] * 1000 if good else None
    memory = stage.running.resident_bytes() / 1e6
    return [
        Result(name="overhead of a turn, p50", unit="ms", value=middle),
        Result(name="processor's time of a turn", unit="ms", value=used / turns * 1000),
        Result(name="memory afterwards", unit="MB", value=memory),
    ]


async def measure_burst(stage: Stage, messages: int) -> list[Result]:
    """One person writes on without waiting, and the model takes a second."""
    user = _FIRST_USER + 20
    await stage.ask(user, stage.make_word())
    stage.model.seconds = 1.0
    words = [stage.make_word() for _ in range(messages)]
    for word in words:
        await stage.say(user, f"say {word}.")
    await stage.wait(lambda: all(stage.count(user, f"heard {word}.") for word in words))
    stage.model.seconds = 0.0
    said = "\n".join(stage.api.texts(user))
    places = [said.find(f"heard {word}.") for word in words]
    heard = [place for place in places if place >= 0]
    disorder = sum(later < earlier for earlier, later in itertools.pairwise(heard))
    name = f"of {messages} messages that one person sends at once"
    return [
        Result(name=f"never answered, {name}", unit="", value=messages - len(heard)),
        Result(name=f"out of order, {name}", unit="", value=disorder),
    ]


async def measure_kills(stage: Stage, kills: int, seed: int = 1) -> list[Result]:
    """Kill the bot while it works on a message, and start it again."""
    user, chance = _FIRST_USER + 30, random.Random(seed)
    words: list[str] = []
    waits: list[float] = []

    def is_heard(word: str) -> bool:
        return stage.count(user, f"heard {word}.") > 0

    stage.model.seconds = 0.3
    for _ in range(kills):
        word = stage.make_word()
        words.append(word)
        await stage.say(user, f"say {word}.")
        await asyncio.sleep(chance.uniform(0.0, 0.6))
        await stage.running.kill()
        was_heard, began = is_heard(word), time.monotonic()
        await stage.start()
        if await stage.wait(partial(is_heard, word), _SOON) and not was_heard:
            waits.append(time.monotonic() - began)
    await stage.wait(lambda: all(map(is_heard, words)))
    await asyncio.sleep(_SETTLE)
    stage.model.seconds = 0.0
    doubled = sum(stage.count(user, f"heard {word}.") > 1 for word in words)
    middle = sorted(waits)[len(waits) // 2] if waits else None
    return [
        Result(
            name=f"lost, of {kills} kills in a turn",
            unit="",
            value=kills - sum(map(is_heard, words)),
        ),
        Result(name=f"doubled, of {kills} kills in a turn", unit="", value=doubled),
        Result(name="answer after a kill and a start, p50", unit="s", value=middle),
    ]


async def measure_doubles(stage: Stage, times: int) -> list[Result]:
    """Telegram sends an update again, as after a lost confirmation."""
    user, doubled = _FIRST_USER + 40, 0
    for _ in range(times):
        word = stage.make_word()
        if await stage.ask(user, word) is None:
            continue
        stage.api.redeliver()
        await asyncio.sleep(_SETTLE)
        doubled += stage.count(user, f"heard {word}.") > 1
    return [Result(name=f"answered twice, of {times} repeated updates", unit="", value=doubled)]


async def measure_downtime(stage: Stage, people: int) -> list[Result]:
    """People write while the bot is down."""
    await stage.running.stop()
    words = {_FIRST_USER + 100 + number: stage.make_word() for number in range(people)}
    for user, word in words.items():
        await stage.say(user, f"say {word}.")
    await stage.start()
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
    """One person tells long stories; what a title or a summary asks of the model counts, too."""
    user, counts = _FIRST_USER + 900, Counts()
    stage.model.counts = counts
    filler = "The weather by the lake was fine, and we walked for two hours with the dog. " * 48
    sent: list[int] = []
    for _ in range(turns):
        await stage.ask(user, stage.make_word(), filler)
        sent.append(counts.tokens - sum(sent))
    name = f"of {turns} turns with a story of 900 tokens"
    return [
        Result(name=f"tokens sent for the first {name}", unit="", value=sent[0]),
        Result(name=f"tokens sent for the last {name}", unit="", value=sent[-1]),
        Result(name=f"tokens sent for all {name}", unit="", value=sum(sent)),
        Result(name=f"largest request {name}", unit="tokens", value=counts.largest),
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
    await stage.start()
    known = 0
    for name in names:
        known += await stage.knows(user, name)
    return [
        Result(name=f"recalled, of {facts} facts of another conversation", unit="", value=known)
    ]
