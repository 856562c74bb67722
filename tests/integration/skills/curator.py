"""The curator, and what it has to look at."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from agent_core.memory.files import render
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.job_runs import Run
from agent_core.state.people import people
from agent_core.state.queues import curations
from gateway.jobs import system_jobs
from tests.fakes.model import ask, call
from tests.integration.clock import Clock
from tests.integration.harness import Harness
from tests.integration.jobs_support import ana, over
from tests.integration.skills.own_skills import own
from tests.integration.system_jobs import own_job
from tests.patience import PATIENCE

ZONE = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
START = (2026, 11, 20, 11, 0)
"""A Friday; the curator comes on Sundays at half past four."""
NOTES = [
    "Lives in Graz",
    "Has a cat called Mimi",
    "The cat is called Mimi",
    "Rows every Tuesday",
    "Likes short answers",
]
TIDY = ask(
    call("tidy", json.dumps({"kind": "duplicate", "remove": [2], "keep": 1, "reason": "Twice."}))
)
TEXT = "---\nname: notes\ndescription: Keeps notes.\n---\nSort and file them.\n"
MERGE = ask(
    call(
        "merge",
        json.dumps(
            {
                "skills": ["file-notes", "sort-notes"],
                "into": "notes",
                "text": TEXT,
                "reason": "Both keep notes.",
            }
        ),
    )
)


async def curated(harness: Harness, clock: Clock, *, days: int, count: int) -> Run:
    """Let days pass; return the newest of `count` curator runs."""
    clock.move(harness, days=days)
    job = await own_job(harness, system_jobs.CURATOR)
    return (await over(harness, job, count))[-1]


def find_notes(home: Path) -> Path:
    return next(home.glob("memories/people/*")) / "USER.md"


async def begin(harness: Harness, home: Path) -> None:
    """Make Ana an owner who has written notes by hand."""
    await own(harness)
    person = await harness.read(lambda c: people.find(c, person_id=ana(c)))
    assert person
    (home / "memories" / "people" / person.slug).mkdir(parents=True)
    write_notes(home)


def write_notes(home: Path, notes: Sequence[str] = NOTES) -> None:
    find_notes(home).write_text(render(tuple(notes)))


async def looked(harness: Harness, count: int) -> None:
    """Return once `count` looks are done, and everything is told."""

    def done(connection: Connection) -> int:
        query = "SELECT COUNT(*) FROM tasks WHERE kind = :kind AND state = 'done'"
        return int(connection.execute(query, {"kind": curations.KIND}).fetchone()[0])

    async with asyncio.timeout(PATIENCE):
        while await harness.read(done) < count:
            await asyncio.sleep(0.01)
    await harness.at_rest()
