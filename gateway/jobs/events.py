"""Events that start jobs. An event starts a job once; events beyond an hourly limit are skipped."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from agent_core.ids import PersonId, RoomId
from agent_core.localization import use_language
from agent_core.schedule.job_editor import find_webhook, list_followers
from agent_core.schedule.triggers import OnEvent, load_timing
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs, waiting_jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import people
from agent_core.state.queues.outbox import OutboxRow
from agent_core.transcript import flatten
from gateway.queued_message import QueuedMessage
from gateway.texts import job_results

MOST_AN_HOUR = 60
"""Runs of one job that events start in an hour; a feed or a room can't cost more."""
_HOUR = 3_600_000
_LONGEST_INPUT = 64_000
_LONGEST_QUOTE = 200
_MOST_LISTENERS = 10_000
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7a3]")
"""Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean letters: their words have no borders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """An event that can start a job. Its `key` is unique, so it starts the job once.

    A person reads the `line`, in their language. Only the run sees the `details`: they come from
    outside and are unchecked.
    """

    key: str
    line: Callable[[], str]
    details: str = ""


def claim_event(connection: Connection, job: Job, event: JobEvent, now: int) -> Run | None:
    """Claim the run that an event starts; None if it has started the job before."""
    person = people.find(connection, person_id=job.person_id) if job.person_id else None
    with use_language(person.language if person else None):
        text = f"{event.line()}\n{event.details}".strip()[:_LONGEST_INPUT]
    claimed = job_runs.claim_event(connection, job_id=job.id, key=event.key, text=text, now=now)
    return job_runs.find(connection, run_id=claimed) if claimed else None


def compose_message(job: Job, run: Run) -> str:
    """Return the text of a message job, with the line of the event that started it."""
    line = run.input.partition("\n")[0]
    return f"{job.body}\n\n{line}" if line else job.body


def is_crowded(connection: Connection, job: Job, now: int) -> bool:
    """Return whether events have started a job as often as they may within an hour.

    Runs of the future don't count: the clock was ahead, and has been put back.
    """
    count = job_runs.count_events(connection, job_id=job.id, since=now - _HOUR, until=now)
    return count >= MOST_AN_HOUR


def name_crowd(event: JobEvent, now: int) -> JobEvent:
    """Return the key for an event beyond the limit; all such events of an hour share it."""
    return replace(event, key=f"crowd:{now // _HOUR}")


def find_followers(
    connection: Connection, job: Job, run: Run, ending: str, words: str
) -> list[tuple[Job, JobEvent]]:
    """List the jobs that follow a run with this ending, each with its event.

    `ending` is "done" or "failed"; `words` are the result or the reason.
    """
    line = partial(job_results.ENDED[ending], title=job.title, number=job.id)
    event = JobEvent(key=f"run:{run.id}", line=line, details=words)
    return [
        (follower, event)
        for follower in list_followers(connection, job)
        if _event_of(follower).ending in (ending, "ended")
    ]


CallOutcome = Literal["taken", "unknown", "crowded"]
"""The result of a web request: the job starts, no job has the secret, or too many requests came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventJobs:
    """Starts the jobs that wait for a message or for a web request.

    `take` claims the run of an event; `wake` is called after a write.
    """

    database: Database
    take: Callable[[Connection, Job, JobEvent, int], Sequence[OutboxRow]]
    enqueue: Callable[[Sequence[OutboxRow]], None]
    wake: Callable[[], None]
    now: Callable[[], int]
    _without: dict[tuple[PersonId, RoomId | None], int] = field(default_factory=dict)
    """People and rooms without a job that waits for messages, and the job change count when read.
    """

    async def hear(self, message: QueuedMessage) -> None:
        """Start the jobs that wait for a message, once. Raises `StoreError`.

        A person's own jobs hear the messages of their direct chats, and a room's jobs those of the
        room.
        """
        listener = (message.person.id, message.room_id)
        changes = self.database.count_changes("jobs")
        if self._without.get(listener) == changes:
            return
        waiting = await self.database.read(_list_waiting, message)
        if not waiting:
            if len(self._without) >= _MOST_LISTENERS:
                self._without.clear()
            self._without[listener] = changes
        if not _choose_matching(waiting, message):
            return
        now, text = self.now(), message.message.text

        def work(connection: Connection) -> list[OutboxRow]:
            line = partial(
                job_results.HEARD_MESSAGE,
                name=message.person.name,
                words=flatten(text, _LONGEST_QUOTE),
            )
            key = job_runs.message_key(message.inbox_ids[0])
            event = JobEvent(key=key, line=line, details=text)
            return [
                row
                for job in _choose_matching(_list_waiting(connection, message), message)
                for row in self.take(connection, job, event, now)
            ]

        self.enqueue(await self.database.write("jobs.hear", work))
        self.wake()

    async def call(self, secret: str, key: str, body: str) -> CallOutcome:
        """Start the job with a webhook's secret, once for each `key`. Raises `StoreError`."""
        now = self.now()

        def work(connection: Connection) -> tuple[Sequence[OutboxRow], CallOutcome]:
            job = find_webhook(connection, secret)
            if job is None:
                return (), "unknown"
            event = JobEvent(key=f"webhook:{key}", line=job_results.CALLED, details=body)
            outcome: CallOutcome = "crowded" if is_crowded(connection, job, now) else "taken"
            return self.take(connection, job, event, now), outcome

        rows, outcome = await self.database.write("jobs.call", work)
        self.enqueue(rows)
        self.wake()
        return outcome


def _list_waiting(connection: Connection, message: QueuedMessage) -> list[tuple[Job, str]]:
    """List the jobs that wait for messages where this one came, with the words they wait for."""
    waiting = waiting_jobs.list_on_event(
        connection, person_id=message.person.id, room_id=message.room_id
    )
    events = [(job, _event_of(job)) for job in waiting]
    return [(job, event.value) for job, event in events if event.kind == "message"]


def _choose_matching(waiting: Iterable[tuple[Job, str]], message: QueuedMessage) -> list[Job]:
    return [job for job, words in waiting if contains_words(message.message.text, words)]


def contains_words(text: str, words: str) -> bool:
    """Return whether a text contains words side by side, as whole words and in any case."""
    said, wanted = (" ".join(one.casefold().split()) for one in (text, words))
    if not wanted:
        return True
    before = "" if _UNSPACED.match(wanted[0]) else r"(?<!\w)"
    behind = "" if _UNSPACED.match(wanted[-1]) else r"(?!\w)"
    return re.search(f"{before}{re.escape(wanted)}{behind}", said) is not None


def _event_of(job: Job) -> OnEvent:
    timing = load_timing(job.timing)
    assert isinstance(timing, OnEvent)  # noqa: S101 - the query lists no other jobs
    return timing
