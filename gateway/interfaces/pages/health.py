"""Health: incidents, platforms, queues and delays, errors, the newest backup, the database.

It shows owners what `/health` and `/metrics` report to programs. It shows no message texts.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.responses import Response

from agent_core.state.backups.places import find_newest
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.queues import dead_letters, incidents, tasks
from agent_core.tools.clock import ReaderClock
from gateway.home import BACKUPS, DATABASE
from gateway.interfaces.health import examine
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.jobs.system_jobs import BACKUP
from gateway.operations.job_types import ActOnJob
from gateway.operations.jobs import do_verb
from gateway.texts import forms
from gateway.texts import health as texts
from gateway.texts.health import describe_incident
from gateway.texts.job_results import describe_run
from gateway.texts.system_jobs import name_system_job

_MOST = 5
_SAMPLE = 500
"""Newest messages, of all platforms together, whose delays are measured."""


async def show(look: Look) -> Fields:
    """Read the state of the gateway."""
    gateway = look.gateway
    is_well, report = await examine(gateway)
    now = gateway.now()
    clock = ReaderClock(zone=look.viewer.zone, now=now)

    def work(connection: Connection) -> dict[str, Any]:
        oldest = dead_letters.list_oldest(connection)
        delays = dead_letters.list_delays(connection, limit=_SAMPLE)
        due = tasks.find_earliest_due(connection)
        return {
            "incidents": [
                (describe_incident(one, clock).replace("**", ""), one.since)
                for one in incidents.list_all(connection)
                if one.ended_at is None
            ],
            "delays": [
                (name, oldest.get(name), *_measure(delays.get(name, [])))
                for name in sorted(oldest.keys() | delays.keys())
            ],
            "late_work": due if due is not None and due < now else None,
            "dead": dead_letters.list_dead(connection, limit=_MOST),
            "upkeep": [
                (
                    job.id,
                    name_system_job(job.body, job.title),
                    job_runs.list_of_job(connection, job_id=job.id, limit=1),
                )
                for job in jobs.list_system(connection)
            ],
            "backup_chore": next(
                (job.id for job in jobs.list_system(connection) if job.body == BACKUP), None
            ),
        }

    found = await gateway.database.read(work)
    backup, size = await asyncio.to_thread(_look_at_files, gateway.settings.home)
    return {
        **found,
        "h": texts,
        "is_well": is_well and not found["incidents"],
        "report": report,
        "started": now - int(report["uptime_seconds"] * 1000),
        "platforms": [
            (name, one, _find_time(now, one["seconds_since_alive"]))
            for name, one in report["platforms"].items()
        ],
        "upkeep": [
            (number, title, describe_run(runs[0], clock) if runs else "")
            for number, title, runs in found["upkeep"]
        ],
        "backup": backup,
        "megabytes": size / 1e6,
    }


async def run(look: Look) -> Response:
    """Run one of Talaria's chores now. Raises `Missing` and `Declined`."""
    chores = await look.gateway.database.read(jobs.list_system)
    chore = next((one for one in chores if one.id == look.find_id("chore")), None)
    if chore is None:
        raise Missing
    await do_verb(look.context, ActOnJob(id=chore.id), verb="run")
    title = name_system_job(chore.body, chore.title)
    return look.redirect("/condition", note=forms.ACTED["run"](title=title))


def _measure(delays: Sequence[int]) -> tuple[float | None, float | None]:
    """Return the delays, in seconds, within which 50 % and 95 % of the messages were sent."""
    if not delays:
        return None, None
    half, most = (delays[min(len(delays) * share // 100, len(delays) - 1)] for share in (50, 95))
    return half / 1000, most / 1000


def _look_at_files(home: Path) -> tuple[tuple[int, str] | None, int]:
    """Return the newest backup, and the size of the database in bytes."""
    return find_newest(home / BACKUPS), (home / DATABASE).stat().st_size


def _find_time(now: int, seconds: float | None) -> int | None:
    return None if seconds is None else now - int(seconds * 1000)
