"""Kills while jobs run, at named points and at random: each slot is delivered once."""

import asyncio
import math
import random
import time
from dataclasses import dataclass

import pytest

from tests.faults.deployment import Deployment
from tests.faults.event_jobs import EventJobs
from tests.faults.job_checks import JobChecks
from tests.faults.population import lose_power
from tests.faults.report import RESULTS, take_seed
from tests.patience import PATIENCE

POINTS = ("jobs.take", "runs.begin", "runs.end", "turns.begin", "turns.settle", "outbox.sent")
EVENT_POINTS = ("jobs.hear", "jobs.call", "jobs.sources")
PHASES = ("begin", "committed")
FIRST = (("begin", "jobs.take"), ("committed", "jobs.take"), ("committed", "runs.end"))
"""Kills of the short form: before a slot is taken, before its run begins, before its delivery."""
SPEED = 60
"""A minute takes a second."""
_POLL = 0.05
_STUCK = PATIENCE
"""Seconds without progress after which a test stops waiting."""
_LONGEST_LIFE = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many jobs of each kind and how many kills; `mean_life` is in seconds."""

    kills: int
    ticking: int
    thinking: int
    once: int
    minutes: int
    mean_life: float = 0.5


def _list_kills() -> list[object]:
    """Return every point and phase. Most are left to the long form and to random kills."""
    return [
        pytest.param(phase, name, marks=() if (phase, name) in FIRST else pytest.mark.long)
        for name in POINTS
        for phase in PHASES
    ]


async def _prepare(deployment: Deployment) -> JobChecks:
    """Have one person known to the gateway, then kill it."""
    checks = JobChecks(deployment, EventJobs(deployment))
    deployment.anthropic.answer = checks.answer
    await deployment.open_process()
    await deployment.all_seen([await deployment.says(1)])
    await lose_power(deployment)
    deployment.speed, deployment.epoch = SPEED, time.time_ns() // 1_000_000
    return checks


async def _wait_until_idle(checks: JobChecks) -> None:
    """Return once all is done, or no more progress is made."""
    least, since = math.inf, time.monotonic()
    while left := len(await asyncio.to_thread(checks.list_open)):
        if left < least:
            least, since = left, time.monotonic()
        if time.monotonic() - since > _STUCK:
            return  # the caller reports what is missing
        await asyncio.sleep(_POLL)


async def _finish(deployment: Deployment, checks: JobChecks) -> None:
    """Let a gateway finish all work, then compare it with what people saw."""
    deployment.clear_faults()
    checks.stop()
    process = await deployment.open_process()
    await _wait_until_idle(checks)
    process.terminate()
    await process.died()
    assert process.outcome == "ended"
    assert checks.list_open() == []
    missing, doubled = checks.compare()
    assert (missing, doubled) == ([], [])


@pytest.mark.parametrize(("phase", "name"), _list_kills())
async def test_jobs_survive_a_kill_at_a_commit(
    deployment: Deployment, phase: str, name: str
) -> None:
    checks = await _prepare(deployment)
    checks.enter(ticking=1, thinking=1, once=4, minutes=1)
    process = await deployment.open_process(f"{phase}:{name}:1")
    await process.died()
    await _finish(deployment, checks)


@pytest.mark.parametrize("phase", PHASES)
async def test_deferred_messages_survive_a_kill_at_their_release(
    deployment: Deployment, phase: str
) -> None:
    checks = await _prepare(deployment)
    checks.enter(ticking=1, thinking=1, once=4, minutes=1)
    checks.start_quiet_hours(minutes=8)
    process = await deployment.open_process(f"{phase}:held.release:1")
    await process.died()
    await _finish(deployment, checks)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", EVENT_POINTS)
async def test_events_survive_a_kill_at_a_commit(
    deployment: Deployment, phase: str, name: str
) -> None:
    checks = await _prepare(deployment)
    checks.enter(ticking=0, thinking=0, once=2, minutes=1)
    checks.event_jobs.enter(followed=2)
    for _ in EVENT_POINTS:
        await checks.event_jobs.trigger()
    posting = asyncio.create_task(checks.event_jobs.post())
    process = await deployment.open_process(f"{phase}:{name}:1")
    await process.died()
    await _finish(deployment, checks)
    posting.cancel()


async def _kill_at_random(deployment: Deployment, plan: Plan, name: str) -> None:
    seed, began = take_seed(), time.monotonic()
    chance = random.Random(seed)
    print(f"\nseed {seed}, home {deployment.home}")
    checks = await _prepare(deployment)
    checks.enter(ticking=plan.ticking, thinking=plan.thinking, once=plan.once, minutes=plan.minutes)
    checks.event_jobs.enter(followed=plan.once // 2)
    posting = asyncio.create_task(checks.event_jobs.post())
    for number in range(plan.kills):
        points = []
        if number % 4 == 0:
            await checks.event_jobs.trigger()
        if chance.random() < 0.5:
            name_of = chance.choice((*POINTS, *EVENT_POINTS))
            points = [f"{chance.choice(PHASES)}:{name_of}:{chance.choice((1, 2))}"]
        process = await deployment.open_process(*points)
        deployment.drivers[0].clear_faults()  # otherwise faults that no gateway met pile up
        if chance.random() < 0.2:
            deployment.drivers[0].inject_fault(chance)
        life = _LONGEST_LIFE if points else chance.expovariate(1 / plan.mean_life)
        try:
            await process.died(within=life)
        except TimeoutError:
            process.kill()
            await process.died()
        checks.count_interruption()
    await _finish(deployment, checks)
    posting.cancel()
    took, runs = round(time.monotonic() - began), checks.count_runs()
    line = (
        f"{name}: seed {seed}, kills {plan.kills}, of them with something under way"
        f" {checks.interrupted}, slots {runs}, lost 0, delivered twice 0,"
        f" commands that were given up {checks.count_given_up()}, seconds {took}"
    )
    print(line)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}.txt").write_text(f"{line}\n")
    assert runs >= plan.once + plan.ticking + plan.thinking


async def test_random_kills_lose_no_slot_and_deliver_none_twice(deployment: Deployment) -> None:
    plan = Plan(kills=6, ticking=2, thinking=2, once=24, minutes=8)
    await _kill_at_random(deployment, plan, "jobs-short")


@pytest.mark.long
async def test_three_hundred_kills_near_slots(deployment: Deployment) -> None:
    plan = Plan(kills=300, ticking=4, thinking=1, once=60, minutes=180, mean_life=0.8)
    await _kill_at_random(deployment, plan, "jobs-of-rules")


@pytest.mark.long
async def test_five_hundred_random_kills_over_two_thousand_slots(deployment: Deployment) -> None:
    plan = Plan(kills=500, ticking=2, thinking=2, once=800, minutes=360)
    await _kill_at_random(deployment, plan, "jobs")
