"""A broken call leaves no stump: whatever the next generation says, people see one answer."""

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.deployment import Deployment
from tests.faults.driver_discord import DiscordDriver
from tests.faults.driver_slack import SlackDriver
from tests.faults.population import CONNECTED, chats_of, lose_power, meet
from tests.faults.report import Trial, publish, take_seed
from tests.faults.script import Verb
from tests.faults.tales import Tales, World, look_at_world

VERBS: tuple[Verb, ...] = ("tale", "say", "fetch", "long")
WEIGHTS = (60, 15, 20, 5)
WILD_WEIGHTS = (40, 5, 15, 40)
"""Enough long answers to outgrow a small window."""
SILENCE = "2"
"""Seconds of silence that end a model call."""
BREAKING = 0.5
ANSWERS_AGAIN = 0.6
"""The part of the messages that go to a chat where somebody waits already."""
FALLBACK = "claude-haiku-5-5"
SMALL_WINDOW = "32000"
"""Tokens; a turn with six long answers fits. For one that does not fit, people get a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """How much happens in one storm. `mean_life` is in seconds, `people` is per platform."""

    kills: int
    messages: int
    people: int
    mean_life: float
    is_wild: bool = False
    """Whether people delete unfinished messages by hand, and conversations outgrow the window."""


async def _write_on(
    deployment: Deployment, storm: Storm, chance: random.Random, number: int
) -> None:
    """Send messages one after the other, most of them to people who wait already."""
    recent: list[int] = []
    chats = chats_of(deployment, storm.people)
    weights = WILD_WEIGHTS if storm.is_wild else WEIGHTS
    for _ in range(number):
        is_again = recent and chance.random() < ANSWERS_AGAIN
        chat = chance.choice(recent[-3:]) if is_again else chance.choice(chats)
        recent.append(chat)
        await deployment.says(chat, chance.choices(VERBS, weights)[0])
        await asyncio.sleep(chance.expovariate(1 / 0.1))


async def _delete_at_random(deployment: Deployment, chance: random.Random) -> None:
    """Delete unfinished messages by hand, until cancelled."""
    while True:
        await asyncio.sleep(chance.expovariate(1 / 0.2))
        await deployment.delete_unfinished(chance)


async def _rage(deployment: Deployment, storm: Storm, chance: random.Random) -> None:
    """Start gateways, write on, inject faults and kill, over and over."""
    each = (storm.messages - len(deployment.said)) / storm.kills
    for _ in range(storm.kills):
        process = await deployment.open_process()
        left = storm.messages - len(deployment.said)
        number = min(left, round(each * chance.uniform(0.5, 1.5)))
        writing = asyncio.create_task(_write_on(deployment, storm, chance, number))
        for driver in deployment.drivers:
            driver.inject_fault(chance)
            driver.refuse_change(chance)
        if chance.random() < CONNECTED:
            await process.ready()
        with suppress(TimeoutError):
            await process.died(within=0.5 + chance.expovariate(1 / storm.mean_life))
            pytest.fail(f"a gateway died by itself: see {deployment.home}/output.log")
        process.kill()
        await process.died()
        await writing


async def _rage_wildly(deployment: Deployment, storm: Storm, chance: random.Random) -> None:
    """Do the same while people delete unfinished messages."""
    async with asyncio.TaskGroup() as group:
        deleting = group.create_task(_delete_at_random(deployment, chance))
        await _rage(deployment, storm, chance)
        deleting.cancel()


async def run_storm(home: Path, spawner: Path, storm: Storm, *, seed: int, name: str) -> World:
    """Run one storm, print its counts and keep them in a file. Return what people see."""
    began, chance = time.monotonic(), random.Random(seed)
    is_agent = chance.random() < 0.5
    others = (DiscordDriver(), SlackDriver(is_agent=is_agent, is_forgetful=is_agent))
    settings = {"TALARIA_MODEL__TIMEOUT": SILENCE}
    if chance.random() < 0.5:
        settings["TALARIA_MODEL__FALLBACKS"] = FALLBACK
    if storm.is_wild:
        settings["TALARIA_CONTEXT__CAP_TOKENS"] = SMALL_WINDOW
    print(f"\nseed {seed}, home {home}")
    async with Deployment(home, spawner, drivers=others, **settings) as deployment:
        deployment.telegram.has_drafts = chance.random() < 0.5
        await meet(deployment, chats_of(deployment, storm.people))
        await lose_power(deployment)
        tales = Tales(chance, breaking=BREAKING)
        deployment.tell(tales)
        deployment.stream_slowly()
        rage = _rage_wildly if storm.is_wild else _rage
        await rage(deployment, storm, chance)
        deployment.clear_faults()
        deployment.stream_slowly()
        await deployment.open_process()
        await _write_on(deployment, storm, chance, storm.messages - len(deployment.said))
        tales.breaking = 0.0
        findings = await deployment.stop_and_inspect()
        world = look_at_world(home, deployment.shown())
        done = {
            "kills": storm.kills,
            "messages": len(deployment.said),
            "broken calls": tales.broken,
            "compactions": tales.summaries,
            "deleted by hand": deployment.deleted,
            "stumps": len(world.stumps),
            "doubled": len(world.doubled),
        }
        publish(deployment, Trial(name=name, seed=seed, began=began, done=done), findings)
        wrong = (findings.lost, findings.twice, findings.foreign, findings.disordered)
        assert not any(wrong), f"lost, twice, foreign, disordered: {wrong}"
        left = (findings.open_rows, findings.damage)
        assert not any(left), f"open rows, damage: {left}"
    return world


async def test_broken_calls_leave_no_stump(tmp_path: Path, spawner: Path) -> None:
    storm = Storm(kills=3, messages=40, people=1, mean_life=1.5)
    world = await run_storm(tmp_path / "home", spawner, storm, seed=take_seed(), name="stumps")
    world.assert_flawless()


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(3))
async def test_storms_of_broken_calls_leave_no_stump(
    tmp_path: Path, spawner: Path, number: int
) -> None:
    storm = Storm(kills=8, messages=120, people=2, mean_life=1.5)
    seed = take_seed() + number
    world = await run_storm(tmp_path / "home", spawner, storm, seed=seed, name="stumps-short")
    world.assert_flawless()


@pytest.mark.long
@pytest.mark.parametrize("number", range(20))
async def test_twenty_storms_of_broken_calls_leave_no_stump(
    tmp_path: Path, spawner: Path, number: int
) -> None:
    storm = Storm(kills=15, messages=300, people=3, mean_life=2.0)
    seed = take_seed() + number
    world = await run_storm(tmp_path / "home", spawner, storm, seed=seed, name="stumps-long")
    world.assert_flawless()


@pytest.mark.long
async def test_deleted_messages_and_compactions_leave_no_stump(
    tmp_path: Path, spawner: Path
) -> None:
    storm = Storm(kills=8, messages=120, people=1, mean_life=1.5, is_wild=True)
    name = "stumps-wild"
    world = await run_storm(tmp_path / "home", spawner, storm, seed=take_seed(), name=name)
    world.assert_flawless()
