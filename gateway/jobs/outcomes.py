"""What a run of a job comes to: its words delivered, or its failure told once, and tried again."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from agent_core.events import TurnEnded
from agent_core.ids import TurnId
from agent_core.schedule.descriptions import show_moment
from agent_core.schedule.job_editor import ASKED, next_slot_of
from agent_core.schedule.occurrences import find_zone
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import sessions, turns
from agent_core.state.conversations.turns import Turn
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, Target
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from gateway.jobs.history import Source
from gateway.jobs.notifier import Notification, Notifier
from gateway.jobs.recipients import Recipients
from gateway.texts import job_results
from gateway.texts import system_jobs

_log = logging.getLogger(__name__)

SILENCE = "[SILENT]"
"""An answer of nothing but this is not delivered: there is nothing to tell."""
_LATE = 300_000
"""Milliseconds after which what comes says that it is late."""
_PAUSES = (60_000, 300_000)
"""Before the second try of a run and the third, in milliseconds; there is no fourth."""
_DAMAGED = "its entry in the database is damaged"
_LOST = "what I had noted of this run is damaged in my database."
_AT_HOME = (Target(kind="home"),)
_CRASHED = "crashed"
"""A turn over which processes died is not tried again."""
LONGEST_PAUSE = max(_PAUSES)

NotifyOwners = Callable[[Connection, str, int], Sequence[OutboxRow]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a run made. A `message` is sent as it stands; anything else below its title.

    `whole` is all that was said where `words` are but its ends, else "".
    """

    words: str
    files: tuple[tuple[str, str], ...] = ()
    turn_id: TurnId | None = None
    whole: str = ""


class Outcomes:
    """Ends runs, within the transactions of those who ran them."""

    def __init__(
        self,
        notifier: Notifier,
        *,
        zone_of: Callable[[Person], str],
        notify_owners: NotifyOwners,
        wakeup: asyncio.Event,
    ) -> None:
        """Set `wakeup` after a write that may make a job or a run due earlier.

        `notify_owners` enqueues reports on system jobs, which belong to no person.
        """
        self._notifier = notifier
        self.zone_of = zone_of
        self._notify_owners = notify_owners
        self.wakeup = wakeup
        """The IANA time zone that a person lives by."""

    def succeed(
        self, connection: Connection, job: Job, run: Run, made: Made, now: int
    ) -> Sequence[OutboxRow]:
        """A run did what it should. Delivers once, however often it is called."""
        # What the house's own works say is for the record; nobody is sent it.
        said = made.words.strip() if job.kind == "system" else ""
        if not job_runs.end(connection, run_id=run.id, state="done", now=now, reason=said):
            return ()
        fresh = jobs.find(connection, job_id=job.id) or job  # it may have been changed meanwhile
        if fresh.failures:
            jobs.change(connection, replace(fresh, failures=0))
        if job.kind == "system":
            told = system_jobs.describe_recovery(job.title, fresh.failures)
            return self._notify_owners(connection, told, now) if fresh.failures else ()
        words = made.words.strip()
        words = "" if words == SILENCE else words
        is_told = words or made.files or fresh.failures
        if not is_told or fresh.state == "dropped":
            return ()
        known = self.look(connection, now)
        body = words if job.kind == "message" else job_results.title_body(job.title, words)
        body += self._note(known, fresh, run)
        is_own = bool(words) and made.turn_id is None
        source = Source(job=job, run=run, whole=made.whole) if is_own else None
        return self._deliver(known, job, run, replace(made, words=body), source)

    def look(self, connection: Connection, now: int) -> Recipients:
        """What one transaction has to know of people to tell them what their jobs did."""
        return self._notifier.look(connection, now)

    def say(self, known: Recipients, job: Job, run: Run) -> Sequence[OutboxRow]:
        """A message is sent, in the transaction that has taken its slot and ended its run."""
        made = Made(words=job.body + self._note(known, job, run))
        if job.failures:
            jobs.change(known.connection, replace(job, failures=0))
        return self._deliver(known, job, run, made, Source(job=job, run=run))

    def fail(
        self, connection: Connection, job: Job, run: Run, reason: str, now: int
    ) -> Sequence[OutboxRow]:
        """A run did not work: it is tried again soon, or told, the first time in a row."""
        if run.attempts <= len(_PAUSES):
            pause = _PAUSES[run.attempts - 1]
            job_runs.postpone(connection, run_id=run.id, due_at=now + pause, reason=reason)
            return ()
        return self.give_up(connection, job, run, reason, now)

    def give_up(
        self, connection: Connection, job: Job, run: Run, reason: str, now: int
    ) -> Sequence[OutboxRow]:
        """A run failed for good. Only the first failure in a row and the pause are told."""
        if not job_runs.end(connection, run_id=run.id, state="failed", now=now, reason=reason):
            return ()
        fresh = jobs.find(connection, job_id=job.id) or job
        failures = fresh.failures + 1
        is_enough = failures >= fresh.options.pause_after and fresh.state == "active"
        state = "paused" if is_enough else fresh.state
        why = f"failed {failures} times" if is_enough else fresh.reason
        jobs.change(connection, replace(fresh, failures=failures, state=state, reason=why))
        if fresh.state == "dropped":
            return ()
        if job.kind == "system":
            told = system_jobs.describe_failure(job.title, job.id, reason)
            return self._notify_owners(connection, told, now) if failures == 1 else ()
        if is_enough:
            told = job_results.describe_pause(job.title, job.id, failures, reason)
        elif failures == 1:
            told = job_results.describe_failure(
                job.title, job.id, reason, self._show_next(connection, fresh)
            )
        else:
            return ()
        return self._deliver(self.look(connection, now), job, run, Made(words=told))

    def pause(self, connection: Connection, job: Job, reason: str, now: int) -> list[OutboxRow]:
        """A job can't be run as it is: it waits until somebody changes it. Its person is told."""
        jobs.change(connection, replace(job, state="paused", reason=reason))
        told = job_results.describe_unfit(job.title, job.id, reason)
        return [*self._deliver(self.look(connection, now), job, None, Made(words=told))]

    def set_aside(self, connection: Connection, job: Job, now: int) -> Sequence[OutboxRow]:
        """A job is damaged on disk: nothing of it is done any more. Its person is told, once."""
        if job.state != "active":
            return ()
        jobs.change(connection, replace(job, state="paused", reason=_DAMAGED))
        _log.error("job %d is damaged on disk and paused; restore a backup, or drop it", job.id)
        told = job_results.describe_damaged(job.id)
        return self._deliver(self.look(connection, now), job, None, Made(words=told))

    def lose(
        self, connection: Connection, job: Job | None, run: Run, now: int
    ) -> Sequence[OutboxRow]:
        """A run is damaged on disk, or its job is: nothing is done for it."""
        if job and job.is_whole:
            return self.give_up(connection, job, run, _LOST, now)
        job_runs.end(connection, run_id=run.id, state="failed", now=now, reason=_DAMAGED)
        return self.set_aside(connection, job, now) if job else ()

    def refuse(
        self, connection: Connection, job: Job, run: Run, reason: str, now: int
    ) -> Sequence[OutboxRow]:
        """A run may not be: its job has spent what it may in a day. Told once in a row."""
        newest = job_runs.list_of_job(connection, job_id=job.id, limit=2)
        before = next((one for one in newest if one.id != run.id), None)
        if not job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason=reason):
            return ()
        if before and before.reason == reason:
            return ()
        next_at = self._show_next(connection, jobs.find(connection, job_id=job.id) or job)
        told = job_results.describe_spent(job.title, reason, next_at)
        return self._deliver(self.look(connection, now), job, run, Made(words=told))

    def close(
        self, connection: Connection, job_turn: JobTurn, ended: TurnEnded, made: Made, now: int
    ) -> Sequence[OutboxRow]:
        """The turn of a run has ended; `made.words` are those that its person would read."""
        run = job_runs.find(connection, run_id=job_turn.run_id)
        job = jobs.find(connection, job_id=run.job_id) if run else None
        if run is None or job is None:
            return ()
        turn = turns.find(connection, turn_id=made.turn_id) if made.turn_id else None
        if turn:
            sessions.set_title(connection, session_id=turn.session_id, title=job.title)
        if turn and not job.options.is_aware:  # another run may wait to be begun in this talk
            sessions.end(connection, conversation_id=turn.conversation_id, now=now)
        if ended.ending == "answered" or (ended.ending == "exhausted" and not ended.quota):
            return self.succeed(connection, job, run, made, now)
        if ended.ending == "stopped":
            job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason="stopped")
            return ()
        if ended.quota:  # a day's ceiling says nothing about the job: no failure is counted
            reason = made.words.removeprefix(ended.text).strip()
            return self.refuse(connection, job, run, reason, now)
        if ended.ending == "failed" and ended.reason != _CRASHED:
            return self.fail(connection, job, run, made.words, now)
        return self.give_up(connection, job, run, made.words, now)

    def break_off(self, connection: Connection, turn: Turn, now: int) -> Sequence[OutboxRow]:
        """The turn of a run was ended, for its talk is damaged; the next run begins a new one."""
        sessions.end(connection, conversation_id=turn.conversation_id, now=now)
        run_id = job_runs.find_of_turn(connection, turn_id=turn.id)
        run = job_runs.find(connection, run_id=run_id) if run_id else None
        job = jobs.find(connection, job_id=run.job_id) if run else None
        if run is None or job is None:
            return ()
        return self.give_up(connection, job, run, job_results.BROKEN_CONVERSATION(), now)

    def skip(self, connection: Connection, job: Job, missed: int, now: int) -> Sequence[OutboxRow]:
        """Slots were passed over because the job is set to that. `job` waits for its next."""
        told = job_results.describe_skipped(job.title, missed, self._show_next(connection, job))
        return self._deliver(self.look(connection, now), job, None, Made(words=told))

    async def prepare(self) -> None:
        """To be called before any run ends that no turn was for. Raises `StoreError`."""
        await self._notifier.history.prepare()

    def release(self, connection: Connection, now: int) -> Sequence[OutboxRow]:
        """Owe what was held until now."""
        return self._notifier.release(connection, now)

    def _note(self, known: Recipients, job: Job, run: Run) -> str:
        """The lines below what was made: that it is late, that it works again."""
        note = ""
        if not is_asked(run) and (run.missed or known.now - run.slot_at > _LATE):
            zone = self._zone_for(known.find_person(job.person_id), job)
            note = job_results.note_late(show_moment(run.slot_at, zone), run.missed)
        if job.failures:
            note += job_results.describe_recovery(job.failures)
        return note

    def _deliver(
        self,
        known: Recipients,
        job: Job,
        run: Run | None,
        made: Made,
        source: Source | None = None,
    ) -> Sequence[OutboxRow]:
        person = known.find_person(job.person_id)
        if person is None:
            return ()
        parcel = Notification(
            person=person,
            title=job.title,
            body=made.words,
            files=made.files,
            is_urgent=job.is_urgent,
            run_id=run.id if run else None,
            turn_id=made.turn_id,
            source=source,
        )
        return self._notifier.deliver(known, parcel, job.targets or _AT_HOME)

    def _show_next(self, connection: Connection, job: Job) -> str:
        """When a job runs again; "" if it does not."""
        waits = next_slot_of(job)
        if waits is None:
            return ""
        person = people.find(connection, person_id=job.person_id) if job.person_id else None
        return show_moment(waits.at, self._zone_for(person, job))

    def _zone_for(self, person: Person | None, job: Job) -> ZoneInfo:
        """The zone in which moments are told; a tzdata of today may not know one of yesterday."""
        for name in (self.zone_of(person) if person else "", job.zone):
            with suppress(ValueError):
                return find_zone(name)
        return find_zone("UTC")


def is_asked(run: Run) -> bool:
    """True for a run that somebody asked for besides the job's times."""
    return run.slot.startswith(ASKED)
