"""Killed at random moments, over and over, while people go on writing."""

import os
import random
import time
from pathlib import Path

import pytest

from tests.emulators.telegram_faults import DROP, LOSE, internal, retry_after
from tests.faults.speech import Verb
from tests.faults.town import Town
from tests.faults.witness import Findings

RESULTS = Path(__file__).parent / "results"
BAD_WEATHER = (LOSE, DROP, internal(), retry_after(1))
"""What Telegram does to one request in some, besides: applied but not answered, not applied..."""
VERBS: tuple[Verb, ...] = ("say", "ring", "long", "slow")
WEIGHTS = (70, 15, 5, 10)


async def _storm(
    town: Town, *, seed: int, kills: int, messages: int, mean_life: float
) -> tuple[Findings, int]:
    """Start, let people write, kill; `mean_life` is in seconds. Also counts the kills."""
    chance = random.Random(seed)
    killed = written = 0
    town.stream_slowly()
    while killed < kills:
        house = await town.open_house()
        life = chance.expovariate(1 / mean_life)
        for _ in range(min(messages - written, round(messages / kills * chance.uniform(0, 2)))):
            await town.says(chance.randrange(20), chance.choices(VERBS, WEIGHTS)[0])
            written += 1
        method = chance.choice(("sendMessage", "editMessageText"))
        town.telegram.fail(method, kind=chance.choice(BAD_WEATHER))
        try:
            await house.died(within=life)
        except TimeoutError:
            house.kill()
            await house.died()
            killed += 1
        else:
            pytest.fail(f"a house died by itself: see {town.home}/house.log (seed {seed})")
    town.telegram.mend()
    for _ in range(messages - written):
        await town.says(chance.randrange(20))
    await town.open_house()
    return await town.come_to_rest(within=120), killed


def _report(findings: Findings, *, seed: int, kills: int, messages: int, took: float) -> str:
    rows = {
        "seed": seed,
        "kills": kills,
        "messages": messages,
        "seconds": round(took),
        "lost": len(findings.lost),
        "answered twice": len(findings.twice),
        "in a foreign chat": len(findings.foreign),
        "chats out of order": len(findings.disordered),
        "notices of failure": len(findings.strange),
        "unsafe effects repeated": len(findings.rung_twice),
        "recorded answers asked again": len(findings.asked_again),
        "rows left open": len(findings.open_rows),
        "stray openings": findings.strays,
        "model calls made again": findings.repeats,
    }
    return "\n".join(f"{name:30} {value}" for name, value in rows.items())


def _seed() -> int:
    return int(os.environ.get("FAULTS_SEED") or random.SystemRandom().randrange(1_000_000))


async def _weather(town: Town, *, kills: int, messages: int, mean_life: float) -> None:
    """A storm that has to leave no trace. Prints what was counted, and keeps it in a file."""
    seed = _seed()
    started = time.monotonic()
    findings, killed = await _storm(
        town, seed=seed, kills=kills, messages=messages, mean_life=mean_life
    )
    took = time.monotonic() - started
    report = _report(findings, seed=seed, kills=killed, messages=messages, took=took)
    print(f"\n{report}")
    RESULTS.mkdir(exist_ok=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{killed}-kills.txt"
    (RESULTS / name).write_text(f"{report}\n")
    findings.must_be_flawless(strays=killed)


async def test_random_kills_lose_nothing_and_answer_nothing_twice(town: Town) -> None:
    await _weather(town, kills=8, messages=40, mean_life=0.7)


@pytest.mark.long
async def test_two_hundred_random_kills_over_a_thousand_messages(town: Town) -> None:
    await _weather(town, kills=200, messages=1000, mean_life=1.5)
