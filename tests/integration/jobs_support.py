"""Jobs made without a conversation, and their results."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

from agent_core.ids import JobId, PersonId
from agent_core.schedule import job_editor
from agent_core.schedule.job_editor import JobOwner, JobRequest, JobRules
from agent_core.schedule.triggers import Timing, read_cron, read_event, read_every, read_once
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs, waiting_jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, JobKind, Options, Target
from agent_core.state.jobs.missed_slots import Late
from agent_core.state.people import people
from agent_core.state.queues import deferred_messages, outbox
from tests.fakes.model import FakeModel, say
from tests.integration.harness import Harness
from tests.patience import PATIENCE

_RULES = JobRules(per_person=100_000, least_minutes=1)
_OVER = ("done", "failed", "skipped")


def greeted(*plays: object) -> FakeModel:
    """A model that answers a greeting and then plays these."""
    return FakeModel(say("Hello."), *plays)  # type: ignore[arg-type]


async def greet(harness: Harness) -> None:
    """Introduce Ana to the gateway."""
    await harness.chat.says("hi")
    await harness.chat.sees_text("Hello.")
    await harness.at_rest()


def ana(connection: Connection, user_id: str = "1") -> PersonId:
    """Return the person of these tests."""
    account = people.find_account(connection, platform="fake", user_id=user_id)
    assert account
    return account.person_id


def read_timing(text: str, anchor: int) -> Timing:
    """Parse `every SECONDS`, `on EVENT`, a time, or a cron expression."""
    if text.startswith("on "):
        return read_event(text.removeprefix("on "))
    if text.startswith("every "):
        return read_every(int(text.removeprefix("every ")), anchor)
    return read_once(text) if "T" in text and "*" not in text else read_cron(text)


async def give_job(
    harness: Harness,
    text: str,
    when: str,
    *,
    kind: JobKind = "message",
    late: Late = "catch_up",
    zone: str = "Europe/Berlin",
    options: Options | None = None,
    targets: Sequence[Target] = (),
    is_urgent: bool = False,
) -> Job:
    """Store a job of Ana's. `when` is as for `read_timing`."""
    now = harness.gateway.now()
    wish = JobRequest(
        kind=kind,
        title=text,
        body=json.dumps(["sh", "-c", text]) if kind == "script" else text,
        timing=read_timing(when, now),
        late=late,
        options=options,
        targets=tuple(targets) or None,
        is_urgent=is_urgent,
    )

    def work(connection: Connection) -> Job:
        whose = JobOwner(person_id=ana(connection), room_id=None, actor="test")
        job = job_editor.draft_job(wish, whose, zone=zone, rules=_RULES, now=now)
        return job_editor.create_job(connection, job, rules=_RULES, now=now)

    made = await harness.gateway.database.write("test", work)
    harness.gateway.wake_jobs()
    return made


async def find(harness: Harness, job: Job) -> Job:
    """Return a job's current state."""
    found = await harness.read(lambda c: jobs.find(c, job_id=job.id))
    assert found
    return found


async def runs_of(harness: Harness, job_id: JobId) -> list[Run]:
    """The runs of a job, oldest first, without the slots that were missed."""
    found = await harness.read(lambda c: job_runs.list_of_job(c, job_id=job_id, limit=10_000))
    return [run for run in found[::-1] if run.reason != job_runs.MISSED]


async def over(harness: Harness, job: Job, count: int) -> list[Run]:
    """Return a job's runs once `count` have ended; what they say may still be on its way."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await runs_of(harness, job.id)
            if sum(run.state in _OVER for run in found) >= count:
                return found
            await asyncio.sleep(0.01)


async def looked(harness: Harness) -> None:
    """Return once everything due by now has ended and was sent."""
    gateway = harness.gateway

    def is_due(connection: Connection) -> bool:
        found = (find(connection) for find in (waiting_jobs.find_next_at, job_runs.find_next_at))
        soonest = [
            at for at in (*found, deferred_messages.find_next_at(connection)) if at is not None
        ]
        is_any = bool(soonest) and min(soonest) <= gateway.now()
        is_queued = any(outbox.count(connection, state=state) for state in ("owed", "sending"))
        return is_any or is_queued or bool(job_runs.list_running(connection))

    async with asyncio.timeout(PATIENCE):
        while await harness.read(is_due) or not gateway.is_at_rest():
            await asyncio.sleep(0.01)


async def waits_for(harness: Harness, job: Job, slot: str) -> None:
    """Return once a job waits for a slot."""
    async with asyncio.timeout(PATIENCE):
        while ((await find(harness, job)).next_slot or ("",))[0] != slot:
            await asyncio.sleep(0.01)


def texts(harness: Harness) -> list[str]:
    """Return what people see."""
    return [shown.text for shown in harness.chat.shown]


async def give_skills(harness: Harness, job: Job, *names: str) -> None:
    changed = replace(job, options=replace(job.options, skills=names))
    await harness.gateway.database.write("change", lambda c: jobs.change(c, changed))
