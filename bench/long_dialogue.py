"""A conversation of hundreds of turns: the cost of a turn, the cache, and the cap."""

import random
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from bench.bots import Bot, run_bot
from bench.figures import Figure, percentile
from tests.emulators.anthropic import AnthropicEmulator

_BLOCK = 50
"""How many turns to compare: the last of a long conversation, the first of another."""
_WORDS = 30
"""Words of a message; the answer repeats them."""
_CAP = 16_000
"""Tokens, so that a conversation of this length is compacted a few times."""

Json = dict[str, Any]


class _TimedModel(AnthropicEmulator):
    """The model's server, which records its own time and the length of requests."""

    def __init__(self) -> None:
        super().__init__(keep=0)
        self.seconds = 0.0
        self.longest = 0
        self.read: list[tuple[int, int]] = []
        """For each call of a turn: input tokens, and those read from the cache."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        began = time.monotonic()
        try:
            return await super().respond(request)
        finally:
            self.seconds += time.monotonic() - began

    def compose(self, model: str, answer: Any, usage: Json) -> Json:
        cached = usage["cache_read_input_tokens"]
        total = usage["input_tokens"] + usage["cache_creation_input_tokens"] + cached
        self.longest = max(self.longest, total)
        self.read.append((total, cached))
        return super().compose(model, answer, usage)


@dataclass(slots=True)
class _Turns:
    """The time of turns in seconds: each without the model, and the CPU time of all."""

    overhead: list[float] = field(default_factory=list)
    cpu: float = 0.0


@dataclass(frozen=True, slots=True)
class _Dialogue:
    """The last turns of a long conversation and the first of another, and the model."""

    late: _Turns
    early: _Turns
    model: _TimedModel


async def measure(*, turns: int) -> list[Figure]:
    """Measure a conversation without compaction, and one under a cap that compacts repeatedly."""
    whole = await _dialogue(turns)
    capped = await _dialogue(turns, TALARIA_CONTEXT__CAP_TOKENS=str(_CAP))
    return [
        Figure(
            name=f"{turns} turns, overhead of the last {_BLOCK}, against the first, p50",
            unit="ms",
            value=percentile(whole.late.overhead, 0.5) * 1000,
            bare=percentile(whole.early.overhead, 0.5) * 1000,
            at_most=1.3,
        ),
        Figure(
            name=f"{turns} turns, CPU of the last {_BLOCK}, against the first",
            unit="ms",
            value=whole.late.cpu / _BLOCK * 1000,
            bare=whole.early.cpu / _BLOCK * 1000,
            at_most=1.3,
        ),
        Figure(
            name=f"{turns} turns, from the cache, of all input",
            unit="%",
            value=_cached_share(whole.model),
            at_least=90.0,
        ),
        Figure(name=f"{turns} turns, longest request", unit="tokens", value=whole.model.longest),
        Figure(
            name=f"the same under a cap of {_CAP:,}, longest request",
            unit="tokens",
            value=capped.model.longest,
            at_most=_CAP,
        ),
        Figure(
            name="the same, from the cache, of all input",
            unit="%",
            value=_cached_share(capped.model),
        ),
        Figure(
            name=f"the same, overhead of the last {_BLOCK}, against the first, p50",
            unit="ms",
            value=percentile(capped.late.overhead, 0.5) * 1000,
            bare=percentile(capped.early.overhead, 0.5) * 1000,
        ),
    ]


async def _dialogue(turns: int, **settings: str) -> _Dialogue:
    """Alternate the last turns of one conversation and the first of another.

    Both then share the machine's noise.
    """
    words, late, early = random.Random(turns), _Turns(), _Turns()
    async with _TimedModel() as model, run_bot("gateway", model.url, **settings) as bot:
        for person in (0, 1):
            await bot.population.ask({person: "hello."})
        for number in range(turns - _BLOCK):
            await _ask(bot, model, {0: _say(number, words)}, _Turns())
        for number in range(turns - _BLOCK, turns):
            await _ask(bot, model, {0: _say(number, words)}, late)
            await _ask(bot, model, {1: _say(number, words)}, early)
    return _Dialogue(late=late, early=early, model=model)


async def _ask(bot: Bot, model: _TimedModel, words: dict[int, str], turns: _Turns) -> None:
    before, spent = model.seconds, bot.program.cpu_seconds()
    (seconds,) = await bot.population.ask(words)
    turns.overhead.append(seconds - (model.seconds - before))
    turns.cpu += bot.program.cpu_seconds() - spent


def _say(number: int, words: random.Random) -> str:
    """Return a unique message; the conversation is the same every time."""
    reported = " ".join(f"word{words.randrange(10_000)}" for _ in range(_WORDS))
    return f"turn {number}: {reported}."


def _cached_share(model: _TimedModel) -> float:
    """Return the cached share of turns' input, ignoring the shorter title and summary calls."""
    least = model.read[0][0]
    calls = [(total, cached) for total, cached in model.read if total >= least]
    return 100 * sum(cached for _, cached in calls) / sum(total for total, _ in calls)
