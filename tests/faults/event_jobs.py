"""Trigger jobs by events during kills: messages, web requests, files, ended jobs."""

import asyncio
import itertools
import re
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp

from agent_core.digest.formatting import SOURCES
from agent_core.ids import JobId, PersonId
from agent_core.schedule.job_editor import (
    JobOwner,
    JobRequest,
    JobRules,
    create_job,
    draft_job,
    renew_webhook,
)
from agent_core.schedule.triggers import read_event
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_marks
from agent_core.state.jobs.jobs import Job, JobKind
from tests.emulators.streaming import Reply, text_answer
from tests.faults.deployment import Deployment
from tests.integration.processes import free_port

MARK = re.compile(r"next \d+!|wrote: say m1-\d+|arrived: drop\d+|called hook\d+")
_CALLED = re.compile(r"Started by an event: job.*(hook\d+)", re.DOTALL)
_RULES = JobRules(per_person=10_000)
_RETRY = 0.05
_COUNT = "SELECT COUNT(*) FROM job_runs WHERE job_id = ? AND state <> 'skipped'"


class EventJobs:
    """Jobs that events start. Each mark must be seen exactly once."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._numbers = itertools.count(1)
        self._expected: Counter[JobId] = Counter()
        self._marks: list[str] = []
        self._posts: asyncio.Queue[str] = asyncio.Queue()
        self._address = ""
        self._jobs: dict[str, JobId] = {}

    def enter(self, followed: int) -> None:
        """Create the jobs; `followed` one-time jobs get a follow-up job. No gateway may run."""
        port = free_port()
        self._deployment.settings |= {"TALARIA_HTTP__PORT": str(port)}
        with closing(sqlite3.connect(self._deployment.home / "state.db")) as connection, connection:
            rows = connection.execute(
                "SELECT id FROM jobs WHERE timing GLOB 'once *' ORDER BY id LIMIT ?", (followed,)
            ).fetchall()
            for (number,) in rows:
                mark = f"next {number}!"
                job = _add(connection, "message", mark, f"after {number} ended")
                self._expect(job.id, mark)
            self._jobs["message"] = _add(connection, "message", "Heard.", "message say").id
            file = _add(connection, "message", "Seen.", "file drop*")
            self._jobs["file"] = file.id
            job_marks.store(connection, job_id=file.id, marks={})
            hook = _add(connection, "prompt", "Say so.", "webhook")
            self._jobs["hook"] = hook.id
            secret = renew_webhook(connection, hook)
        self._address = f"http://127.0.0.1:{port}/hooks/{secret}"

    def answer(self, body: dict[str, Any]) -> Reply | None:
        """Answer a web request as the model; None for anything else."""
        found = _CALLED.search(str(body["messages"][-1]))
        return text_answer(f"called {found[1]}") if found else None

    async def trigger(self) -> None:
        """Trigger one more event, of each kind in turn."""
        number = next(self._numbers)
        match number % 3:
            case 0:
                saying = await self._deployment.says(1)
                self._expect(self._jobs["message"], f"wrote: {saying.text}")
            case 1:
                await asyncio.to_thread(_write, self._deployment.home / SOURCES / f"drop{number}")
                self._expect(self._jobs["file"], f"arrived: drop{number}")
            case _:
                self._expect(self._jobs["hook"], f"called hook{number}")
                self._posts.put_nowait(f"hook{number}")

    async def post(self) -> None:
        """Send each web request until a gateway accepts it. Runs until cancelled."""
        async with aiohttp.ClientSession() as session:
            while True:
                name = await self._posts.get()
                while not await self._is_accepted(session, name):
                    await asyncio.sleep(_RETRY)
                self._posts.task_done()

    async def _is_accepted(self, session: aiohttp.ClientSession, name: str) -> bool:
        headers = {"Idempotency-Key": name}
        try:
            async with session.post(self._address, data=name, headers=headers) as answer:
                return answer.status == 202
        except aiohttp.ClientError:
            return False  # the gateway is dead, or died before it answered

    def list_open(self, connection: sqlite3.Connection) -> list[str]:
        """Return the jobs that were started less often than their events."""
        return [
            f"job {job_id}: {expected} events"
            for job_id, expected in self._expected.items()
            if connection.execute(_COUNT, (job_id,)).fetchone()[0] < expected
        ]

    @property
    def marks(self) -> Counter[str]:
        return Counter(self._marks)

    def _expect(self, job_id: JobId, mark: str) -> None:
        self._expected[job_id] += 1
        self._marks.append(mark)


def _write(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(".")


def _add(connection: Connection, kind: JobKind, body: str, event: str) -> Job:
    (person,) = connection.execute("SELECT person_id FROM accounts LIMIT 1").fetchone()
    whose = JobOwner(person_id=PersonId(person), room_id=None, actor="test")
    wish = JobRequest(kind=kind, title="Job", body=body, timing=read_event(event))
    now = time.time_ns() // 1_000_000
    job = draft_job(wish, whose, zone="UTC", rules=_RULES, now=now)
    return create_job(connection, job, rules=_RULES, now=now)
