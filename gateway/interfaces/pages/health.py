"""Health: platforms, queues and delays, the last errors, the newest backup, and the database.

It tells the owner what `/health` and `/metrics` tell programs, and no words of conversations.
"""

import asyncio
from pathlib import Path
from typing import Any

from agent_core.state.backups.places import find_newest
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.queues import dead_letters
from gateway.config import BACKUPS, DATABASE
from gateway.interfaces.health import examine
from gateway.interfaces.pages.views import Fields, Look
from gateway.texts.jobs import describe_run

_MOST = 5


async def show(look: Look) -> Fields:
    """Read the state of the gateway."""
    gateway, zone = look.gateway, look.viewer.zone
    is_well, report = await examine(gateway)
    now = gateway.now()

    def work(connection: Connection) -> dict[str, Any]:
        return {
            "oldest": min(dead_letters.list_oldest(connection).values(), default=None),
            "dead": dead_letters.list_dead(connection, limit=_MOST),
            "upkeep": [
                (job.title, job_runs.list_of_job(connection, job_id=job.id, limit=1))
                for job in jobs.list_system(connection)
            ],
        }

    found = await gateway.database.read(work)
    backup, size = await asyncio.to_thread(_look_at_files, gateway.settings.home)
    return {
        **found,
        "is_well": is_well,
        "report": report,
        "started": now - int(report["uptime_seconds"] * 1000),
        "platforms": [
            (name, one, _find_time(now, one["seconds_since_alive"]))
            for name, one in report["platforms"].items()
        ],
        "upkeep": [
            (title, describe_run(runs[0], zone) if runs else "") for title, runs in found["upkeep"]
        ],
        "backup": backup,
        "megabytes": size / 1e6,
    }


def _look_at_files(home: Path) -> tuple[tuple[int, str] | None, int]:
    """Return the newest backup, and the bytes of the database."""
    return find_newest(home / BACKUPS), (home / DATABASE).stat().st_size


def _find_time(now: int, seconds: float | None) -> int | None:
    return None if seconds is None else now - int(seconds * 1000)
