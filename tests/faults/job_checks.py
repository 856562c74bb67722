"""The jobs of one person, and checks of what they delivered despite kills."""

import json
import re
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from agent_core.ids import PersonId
from agent_core.schedule.occurrences import first_slot
from agent_core.schedule.rules import ALWAYS, RecurrenceRule, read_days, read_times
from agent_core.schedule.triggers import Timing, dump_timing, moment, read_every, read_once
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job, JobKind, NewJob, Options, Target
from tests.emulators.streaming import Reply, text_answer
from tests.faults.deployment import Deployment
from tests.faults.event_jobs import MARK, EventJobs
from tests.faults.script import is_turn

MINUTE = 60_000
_EACH_MINUTE = RecurrenceRule(
    days=read_days("FREQ=DAILY"), times=read_times(["00:00-23:59/1"]), start=ALWAYS
)
_SCHEDULED = re.compile(r"Scheduled: job (\d+), due (\w+ [\d-]+ [\d:]+)")
_MARK = re.compile(rf"(?:once \d+|tick \d+|ran \d+ \w+ [\d-]+ [\d:]+)!|{MARK.pattern}")
_DUE = re.compile(r"was due (?:(\d+) times)?[^\n]*")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_OPEN = (
    "SELECT 'run', id, state, reason FROM job_runs WHERE state NOT IN ('done', 'failed')",
    "SELECT 'job', id, state, reason FROM jobs WHERE next_at > 0 AND kind <> 'system'",
    "SELECT 'outbox', id, state, reason FROM outbox WHERE state <> 'sent'",
    "SELECT 'turn', id, state, reason FROM turns WHERE state <> 'answered'",
    "SELECT 'inbox', id, state, reason FROM inbox WHERE state <> 'done'",
    "SELECT 'held', id, title, release_at FROM deferred_messages",
)
_GIVEN_UP = (
    "SELECT jobs.body FROM job_runs JOIN jobs ON jobs.id = job_runs.job_id"
    " WHERE job_runs.state = 'failed' AND jobs.kind = 'script'"
)
"""Commands that Talaria gave up on after three gateways died while they ran."""
_DELIVERED = "SELECT COUNT(*) FROM job_runs JOIN jobs ON jobs.id = job_runs.job_id"


@dataclass
class JobChecks:
    """The jobs. Each mark that a run produces must be seen exactly once."""

    deployment: Deployment
    event_jobs: EventJobs
    marks: list[str] = field(default_factory=list)
    ticking: list[Job] = field(default_factory=list)
    thinking: list[Job] = field(default_factory=list)
    interrupted: int = 0
    """How many kills hit a run that was running or not delivered yet."""

    def answer(self, body: dict[str, Any]) -> Reply:
        """Answer as the model: with the mark of the job run that asked."""
        if is_turn(body) and (called := self.event_jobs.answer(body)):
            return called
        found = _SCHEDULED.findall(json.dumps(body["messages"])) if is_turn(body) else ()
        return (
            text_answer(f"ran {' '.join(found[-1])}!")
            if found
            else self.deployment.script.answer(body)
        )

    def enter(self, *, ticking: int, thinking: int, once: int, minutes: int) -> None:
        """Create jobs: some run each minute, others once within `minutes`. No gateway may run."""
        now = time.time_ns() // 1_000_000
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection, connection:
            (person,) = connection.execute("SELECT person_id FROM accounts LIMIT 1").fetchone()
            for _ in range(ticking):
                number = len(self.ticking)
                timing = _EACH_MINUTE if number % 2 else read_every(60, now - 50_000)
                self.ticking.append(_add(connection, person, "message", f"tick {number}!", timing))
            for _ in range(thinking):
                timing = read_every(60, now - 30_000)
                self.thinking.append(_add(connection, person, "prompt", "Run.", timing))
            for number in range(once):
                mark = f"once {number}!"
                at = moment(now + MINUTE + number * minutes * MINUTE // max(once, 1))
                kind: JobKind = "script" if number % 2 else "message"
                words = json.dumps(["echo", mark]) if kind == "script" else mark
                _add(connection, person, kind, words, read_once(f"{at:%Y-%m-%dT%H:%M}"))
                self.marks.append(mark)

    def start_quiet_hours(self, *, minutes: int) -> None:
        """Start quiet hours that end in `minutes`. No gateway may run."""
        now = datetime.now(UTC)
        end = now + timedelta(minutes=minutes)
        quiet = [at.hour * 60 + at.minute for at in (now - timedelta(hours=1), end)]
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection, connection:
            connection.execute("UPDATE people SET quiet_from = ?, quiet_until = ?", quiet)

    def count_interruption(self) -> None:
        """Count a kill that interrupted a run or a delivery. No gateway may run."""
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection:
            (runs,) = connection.execute(
                "SELECT COUNT(*) FROM job_runs WHERE state IN ('running', 'waiting')"
            ).fetchone()
            (queued,) = connection.execute(
                "SELECT COUNT(*) FROM outbox WHERE state <> 'sent'"
            ).fetchone()
        self.interrupted += bool(runs or queued)

    def stop(self) -> None:
        """End all recurring jobs. No gateway may run."""
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection, connection:
            for job in (*self.ticking, *self.thinking):
                jobs.await_slot(connection, job_id=job.id, slot=None, is_over=True)

    def list_open(self) -> list[str]:
        """Return rows that are not done, or that failed."""
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection:
            found = [str(row) for query in _OPEN for row in connection.execute(query)]
            return found + self.event_jobs.list_open(connection)

    def count_runs(self) -> int:
        """Return how many slots of people's jobs were taken."""
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection:
            query = f"{_DELIVERED} WHERE jobs.kind <> 'system'"
            return int(connection.execute(query).fetchone()[0])

    def count_given_up(self) -> int:
        """Return how many commands were given up because gateways died while they ran."""
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection:
            return len(connection.execute(_GIVEN_UP).fetchall())

    def compare(self) -> tuple[list[str], list[str]]:
        """Return the marks that nobody saw, and those that were seen too often."""
        texts = [text for shown in self.deployment.shown().values() for text in shown]
        seen = sum((_count_marks(text) for text in texts), Counter[str]())
        wanted = self._expect()
        return sorted((wanted - seen).elements()), sorted((seen - wanted).elements())

    def _expect(self) -> Counter[str]:
        wanted = Counter(self.marks) + self.event_jobs.marks
        with closing(sqlite3.connect(self.deployment.home / "state.db")) as connection:
            for (body,) in connection.execute(_GIVEN_UP):
                del wanted[json.loads(body)[-1]]
            for number, job in enumerate(self.ticking):
                wanted[f"tick {number}!"] = len(_list_slots(connection, job))
            for job in self.thinking:
                for at in _list_slots(connection, job):
                    wanted[f"ran {job.id} {moment(at):%a %Y-%m-%d %H:%M}!"] += 1
        return wanted


def _count_marks(text: str) -> Counter[str]:
    """Count the marks of a message. One message may stand for several late repeats."""
    found = Counter[str]()
    marks = list(_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):  # a text may have no mark
        due = _DUE.search(text, mark.end(), end)
        often = int(due[1]) if due and due[1] else len(_CLOCK.findall(due[0])) if due else 1
        found[mark[0]] += often if mark[0].startswith("tick") else 1
    return found


def _add(
    connection: sqlite3.Connection, person: int, kind: JobKind, body: str, timing: Timing
) -> Job:
    now = time.time_ns() // 1_000_000
    first = first_slot(timing, find_zone("UTC"), now)
    assert first
    job = NewJob(
        person_id=PersonId(person),
        room_id=None,
        kind=kind,
        title="Job",
        body=body,
        timing=dump_timing(timing),
        zone="UTC",
        late="all",
        options=Options(),
        targets=(Target(kind="home"),),
        is_urgent=False,
        next_slot=(first.name, first.at),
        actor="test",
    )
    return jobs.insert(connection, job, now=now)


def _list_slots(connection: sqlite3.Connection, job: Job) -> range:
    """Return the slots of a job that runs each minute, up to the last one taken."""
    assert job.next_slot
    (last,) = connection.execute(
        "SELECT COALESCE(MAX(slot_at), 0) FROM job_runs WHERE job_id = ?", (job.id,)
    ).fetchone()
    return range(job.next_slot[1], last + 1, MINUTE)
