"""Killed while jobs run, at named points and at random moments: each slot is delivered once."""

import asyncio
import math
import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.agenda import Calendar
from tests.faults.deployment import Deployment
from tests.faults.happenings import Happenings
from tests.faults.population import lose_power
from tests.faults.report import RESULTS, take_seed

POINTS = ("jobs.take", "runs.begin", "runs.end", "turns.begin", "turns.settle", "outbox.sent")
EVENT_POINTS = ("jobs.hear", "jobs.call", "jobs.sources")
PHASES = ("begin", "committed")
FIRST = (("begin", "jobs.take"), ("committed", "jobs.take"), ("committed", "runs.end"))
"""Deaths of every run: a slot is not taken yet, taken and nothing begun, done and not delivered."""
SPEED = 60
"""A minute goes by in a second."""
_POLL = 0.05
_STUCK = 60.0
"""Seconds in which nothing that is open gets done; a slow machine takes minutes for all of it."""
_LONGEST_LIFE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many jobs of which kind, how many deaths; `mean_life` is in seconds."""

    kills: int
    ticking: int
    thinking: int
    once: int
    minutes: int
    mean_life: float = 0.5


def _list_deaths() -> list[object]:
    """Every point in both phases; most are left to the long form, as random kills meet them too."""
    return [
        pytest.param(phase, name, marks=() if (phase, name) in FIRST else pytest.mark.long)
        for name in POINTS
        for phase in PHASES
    ]


async def _meet(deployment: Deployment) -> Calendar:
    """Somebody is known, and the gateway is dead."""
    calendar = Calendar(deployment, Happenings(deployment))
    deployment.anthropic.answer = calendar.answer
    await deployment.open_process()
    await deployment.all_seen([await deployment.says(1)])
    await lose_power(deployment)
    deployment.speed, deployment.epoch = SPEED, time.time_ns() // 1_000_000
    return calendar


async def _rest(calendar: Calendar) -> None:
    """Return once all is done, or nothing gets done any more."""
    least, since = math.inf, time.monotonic()
    while left := len(await asyncio.to_thread(calendar.list_open)):
        if left < least:
            least, since = left, time.monotonic()
        if time.monotonic() - since > _STUCK:
            return  # what is missing is told by the caller
        await asyncio.sleep(_POLL)


async def _finish(deployment: Deployment, calendar: Calendar) -> None:
    """All is done by a gateway that lives, and then held against what people saw."""
    deployment.hurry()
    calendar.stop()
    process = await deployment.open_process()
    await _rest(calendar)
    process.terminate()
    await process.died()
    assert process.last_word == "ended"
    assert calendar.list_open() == []
    missing, doubled = calendar.compare()
    assert (missing, doubled) == ([], [])


@pytest.mark.parametrize(("phase", "name"), _list_deaths())
async def test_jobs_survive_a_kill_at_a_commit(
    deployment: Deployment, phase: str, name: str
) -> None:
    calendar = await _meet(deployment)
    calendar.enter(ticking=1, thinking=1, once=4, minutes=1)
    process = await deployment.open_process(f"{phase}:{name}:1")
    await process.died()
    await _finish(deployment, calendar)


@pytest.mark.parametrize("phase", PHASES)
async def test_what_was_held_survives_a_kill_as_it_is_let_go(
    deployment: Deployment, phase: str
) -> None:
    calendar = await _meet(deployment)
    calendar.enter(ticking=1, thinking=1, once=4, minutes=1)
    calendar.keep_quiet(minutes=8)
    process = await deployment.open_process(f"{phase}:held.release:1")
    await process.died()
    await _finish(deployment, calendar)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", EVENT_POINTS)
async def test_events_survive_a_kill_at_a_commit(
    deployment: Deployment, phase: str, name: str
) -> None:
    calendar = await _meet(deployment)
    calendar.enter(ticking=0, thinking=0, once=2, minutes=1)
    calendar.happenings.enter(followed=2)
    for _ in EVENT_POINTS:
        await calendar.happenings.happen()
    posting = asyncio.create_task(calendar.happenings.post())
    process = await deployment.open_process(f"{phase}:{name}:1")
    await process.died()
    await _finish(deployment, calendar)
    posting.cancel()


async def _rage(deployment: Deployment, plan: Plan, name: str) -> None:
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    print(f"\nseed {seed}, home {deployment.home}")
    calendar = await _meet(deployment)
    calendar.enter(
        ticking=plan.ticking, thinking=plan.thinking, once=plan.once, minutes=plan.minutes
    )
    calendar.happenings.enter(followed=plan.once // 2)
    posting = asyncio.create_task(calendar.happenings.post())
    for number in range(plan.kills):
        points = []
        if number % 4 == 0:
            await calendar.happenings.happen()
        if chance.random() < 0.5:
            name_of = chance.choice((*POINTS, *EVENT_POINTS))
            points = [f"{chance.choice(PHASES)}:{name_of}:{chance.choice((1, 2))}"]
        process = await deployment.open_process(*points)
        deployment.drivers[0].mend()  # mishaps that no gateway lived to meet do not pile up
        if chance.random() < 0.2:
            deployment.drivers[0].spoil(chance)
        life = _LONGEST_LIFE if points else chance.expovariate(1 / plan.mean_life)
        try:
            await process.died(within=life)
        except TimeoutError:
            process.kill()
            await process.died()
        calendar.note_death()
    await _finish(deployment, calendar)
    posting.cancel()
    took, runs = round(time.monotonic() - began), calendar.count_runs()
    line = (
        f"{name}: seed {seed}, kills {plan.kills}, of them with something under way"
        f" {calendar.interrupted}, slots {runs}, lost 0, delivered twice 0,"
        f" commands that were given up {calendar.count_given_up()}, seconds {took}"
    )
    print(line)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}.txt").write_text(f"{line}\n")
    assert runs >= plan.once + plan.ticking + plan.thinking


async def test_random_kills_lose_no_slot_and_deliver_none_twice(deployment: Deployment) -> None:
    plan = Plan(kills=6, ticking=2, thinking=2, once=24, minutes=8)
    await _rage(deployment, plan, "jobs-short")


@pytest.mark.long
async def test_three_hundred_kills_around_the_slots_of_rules(deployment: Deployment) -> None:
    plan = Plan(kills=300, ticking=4, thinking=1, once=60, minutes=180, mean_life=0.8)
    await _rage(deployment, plan, "jobs-of-rules")


@pytest.mark.long
async def test_five_hundred_random_kills_over_two_thousand_slots(deployment: Deployment) -> None:
    plan = Plan(kills=500, ticking=2, thinking=2, once=800, minutes=360)
    await _rage(deployment, plan, "jobs")
