"""Results of jobs with their notes, and reports on runs that failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.ids import TurnId
from agent_core.localization import use_language
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.triggers import is_event
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, Target
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.clock import ReaderClock
from gateway.jobs.history import Source
from gateway.jobs.job_buttons import make_job_buttons, make_reminder_buttons
from gateway.jobs.notifier import Notification, Notifier, is_asked, is_wanted, note_due
from gateway.jobs.recipients import Recipients, add_chat_app
from gateway.texts import job_results

_LATE = 300_000
"""Milliseconds after which a message says that it is late."""
_AT_HOME = (Target(kind="home"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The result of a run. A `message` is sent as it is; any other result is sent below its title.

    `whole` is the full output if `words` are only its beginning and end, else an empty text.
    """

    words: str
    files: tuple[tuple[str, str], ...] = ()
    turn_id: TurnId | None = None
    whole: str = ""
    buttons: tuple[Choice, ...] = ()


class JobReports:
    """Delivers results and reports, in the transactions of their callers."""

    def __init__(self, notifier: Notifier, zone_of: Callable[[Person], str]) -> None:
        """`zone_of` returns the IANA time zone of a person."""
        self._notifier = notifier
        self._zone_of = zone_of

    def add_notes(self, known: Recipients, job: Job, runs: Sequence[Run], words: str) -> str:
        """Add the notes to a result: that it is late, and that the job works again.

        A deferred message gets the due times when it is released, together with its repeats.
        """
        run = runs[-1]
        person = known.find_person(job.person_id)
        is_late = len(runs) > 1 or run.missed or known.now - run.slot_at > _LATE
        is_held = self.is_held(known, job, run)
        with use_language(person.language if person else None):
            if is_late and not is_held and not is_asked(run):
                due = [
                    at for one in runs for at in job_runs.list_due_times(known.connection, run=one)
                ]
                clock = self.clock_for(person, job, known.now)
                words = note_due(job, words, due, clock, "off")
            if job.failures:
                words += job_results.describe_recovery(job.failures)
        return words

    def is_held(self, known: Recipients, job: Job, run: Run) -> bool:
        """Return whether quiet hours defer what a run sends; not if a person wants it now."""
        if job.is_urgent or is_wanted(run):
            return False
        person = known.find_person(job.person_id)
        return person is not None and bool(known.quiet_until(person))

    def make_buttons(self, known: Recipients, job: Job, run: Run) -> tuple[Choice, ...]:
        """Return the buttons below a reminder, in the language of its person."""
        person = known.find_person(job.person_id)
        with use_language(person.language if person else None):
            return make_reminder_buttons(job, run)

    def report(
        self,
        connection: Connection,
        job: Job,
        run: Run | None,
        report: Callable[[], str],
        now: int,
    ) -> Sequence[OutboxRow]:
        """Send a report on a job to its person, in their language; with buttons if it is paused."""
        known = self._notifier.load_recipients(connection, now)
        person = known.find_person(job.person_id)
        with use_language(person.language if person else None):
            buttons = make_job_buttons(job) if job.state == "paused" and job.is_whole else ()
            made = Made(words=report(), buttons=buttons)
        return self.deliver(known, job, run, made)

    def deliver(
        self,
        known: Recipients,
        job: Job,
        run: Run | None,
        made: Made,
        source: Source | None = None,
    ) -> Sequence[OutboxRow]:
        """Send a result to the targets of its job.

        `source` names the run; its `whole`, if any, is the full text.
        """
        person = known.find_person(job.person_id)
        if person is None:
            return ()
        notification = Notification(
            person=person,
            title=job.title,
            body=made.words,
            files=made.files,
            is_urgent=job.is_urgent or is_wanted(run),
            run_id=run.id if run else None,
            turn_id=made.turn_id,
            source=source,
            buttons=made.buttons,
        )
        return self._notifier.deliver(known, notification, add_chat_app(job.targets) or _AT_HOME)

    def show_next(self, connection: Connection, job: Job, now: int) -> str:
        """Return when a job runs next, or an empty text."""
        waits = next_slot_of(job)
        if waits is None:
            return job_results.NEXT_EVENT() if is_event(job.timing) else ""
        person = people.find(connection, person_id=job.person_id) if job.person_id else None
        return self.clock_for(person, job, now).show(waits.at)

    def clock_for(self, person: Person | None, job: Job, now: int) -> ReaderClock:
        """Return the clock on which to show moments."""
        return ReaderClock(zone=self._zone_of(person) if person else job.zone, now=now)
