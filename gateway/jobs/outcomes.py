"""The outcome of a run: a delivered result, a retry, or a reported failure."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from agent_core.events import TurnEnded
from agent_core.ids import TurnId
from agent_core.schedule.confirmations import name_deletion
from agent_core.schedule.job_editor import PAUSED_DAMAGED, name_failures
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import files, sessions, turns
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.pictures.chart_tool import CHARTS_MISSING
from gateway.jobs.events import (
    MOST_AN_HOUR,
    JobEvent,
    claim_event,
    find_followers,
    is_crowded,
    name_crowd,
)
from gateway.jobs.history import Source
from gateway.jobs.notifier import Notifier, show_message
from gateway.jobs.recipients import Recipients
from gateway.jobs.reports import JobReports, Made
from gateway.texts import job_results
from gateway.texts.reader_language import speak_to

_log = logging.getLogger(__name__)

SILENCE = "[SILENT]"
"""An answer of only this word is not delivered: there is nothing to report."""
_PAUSES = (60_000, 300_000)
"""Milliseconds before the second and the third attempt of a run; there is no fourth."""
_OUTAGES = (
    "model_busy",
    "model_cut",
    "model_unreachable",
    "model_denied",
    "model_unknown",
    "model_misplaced",
)
"""Turn endings that mean: the model did not answer within the time that a job waits."""
_CRASHED = "crashed"
"""A turn during which the process crashed repeatedly is not retried."""
_LOOKED_THROUGH = 50
"""Newest runs searched for the previous run; missed, merged and gated runs don't count."""
LONGEST_PAUSE = max(_PAUSES)


class Outcomes:
    """Ends runs, in the transactions of their callers. Every method returns the rows to send."""

    def __init__(self, notifier: Notifier, *, zone_of: Callable[[Person], str]) -> None:
        self._notifier = notifier
        self._reports = JobReports(notifier, zone_of)

    def succeed(
        self, connection: Connection, job: Job, run: Run, made: Made, now: int
    ) -> Sequence[OutboxRow]:
        """End a run as done, and deliver its result; a repeated call delivers nothing."""
        # The report of a system job is only recorded, not sent.
        said = made.words.strip() if job.kind == "system" else ""
        if not job_runs.end(connection, run_id=run.id, state="done", now=now, reason=said):
            return ()
        fresh = jobs.find(connection, job_id=job.id) or job  # the job may have changed meanwhile
        job = fresh if fresh.is_whole else job
        words = made.words.strip()
        words = "" if words == SILENCE else words
        rows = self._start_followers(connection, (fresh, run), "done", words, now)
        options = fresh.options
        if options.gate_passed == run.id:
            options = replace(options, gate_seen=options.gate_next)
        if fresh.failures or options != fresh.options:
            jobs.change(connection, replace(fresh, failures=0, options=options))
        if job.kind == "system":  # alerts tell the owners of its failures
            return ()
        is_reported = words or made.files or fresh.failures
        is_unwanted = fresh.state == "dropped" and not _has_deleted(connection, made, fresh)
        if not is_reported or is_unwanted:
            return rows
        known = self._notifier.load_recipients(connection, now)
        body = self._reports.add_notes(known, fresh, [run], words)
        if job.kind == "script":
            body = job_results.title_body(job.title, body)
        elif job.kind == "prompt":
            body = job_results.sign_body(job.title, job.id, body)
        if made.turn_id and _lacks_charts(connection, made.turn_id):
            body += job_results.note_missing_chart()
        is_own = bool(words) and made.turn_id is None
        source = Source(job=job, run=run, whole=made.whole) if is_own else None
        buttons = self._reports.make_buttons(known, fresh, run)
        made = replace(made, words=body, buttons=buttons)
        return [*rows, *self._reports.deliver(known, job, run, made, source)]

    def take_event(
        self, connection: Connection, job: Job, event: JobEvent, now: int
    ) -> Sequence[OutboxRow]:
        """Claim the run that an event starts, once.

        The first event beyond the hourly limit is recorded as a skipped run and reported. Events
        beyond the limit don't count as taken, so their sender may retry.
        """
        is_left_out = is_crowded(connection, job, now)
        run = claim_event(connection, job, name_crowd(event, now) if is_left_out else event, now)
        if run is None or not is_left_out:
            return ()

        def describe(title: str, *_: str) -> str:
            return job_results.TOO_OFTEN(title=title, count=MOST_AN_HOUR)

        return self._skip_run(connection, (job, run), job_runs.CROWDED, describe, now)

    def tell(
        self, connection: Connection, job: Job, report: Callable[[], str], now: int
    ) -> Sequence[OutboxRow]:
        """Send a report on a job to its person, in their language."""
        return self._reports.report(connection, job, None, report, now)

    def _start_followers(
        self, connection: Connection, ended: tuple[Job, Run], ending: str, words: str, now: int
    ) -> list[OutboxRow]:
        """Claim the runs of the jobs that come after a job."""
        job, run = ended
        if job.state == "dropped":
            return []
        found = find_followers(connection, job, run, ending, words)
        return [row for one, event in found for row in self.take_event(connection, one, event, now)]

    def send_message(self, known: Recipients, job: Job, runs: Sequence[Run]) -> Sequence[OutboxRow]:
        """Send a message job once, in the transaction that has claimed its slots.

        A deferred message stands for one run; its repeats are merged when they are released.
        """
        if len(runs) > 1 and self._reports.is_held(known, job, runs[-1]):
            return [row for run in runs for row in self.send_message(known, job, [run])]
        words = self._reports.add_notes(known, job, runs, show_message(job, job.body))
        buttons = self._reports.make_buttons(known, job, runs[-1])
        made = Made(words=words, buttons=buttons)
        if job.failures:
            jobs.change(known.connection, replace(job, failures=0))
        source = Source(job=job, run=runs[-1])
        rows = self._start_followers(known.connection, (job, runs[-1]), "done", job.body, known.now)
        return [*rows, *self._reports.deliver(known, job, runs[-1], made, source)]

    def fail(
        self, connection: Connection, job: Job, run: Run, reason: str, now: int
    ) -> Sequence[OutboxRow]:
        """Postpone a failed run to its next attempt, or end it if that was the last one."""
        if run.attempts <= len(_PAUSES):
            pause = _PAUSES[run.attempts - 1]
            job_runs.postpone(connection, run_id=run.id, due_at=now + pause, reason=reason)
            return ()
        return self.fail_for_good(connection, job, run, reason, now)

    def fail_for_good(
        self, connection: Connection, job: Job, run: Run, reason: str, now: int
    ) -> Sequence[OutboxRow]:
        """End a run as failed. Only the first failure in a row, and the pause, are reported."""
        if not job_runs.end(connection, run_id=run.id, state="failed", now=now, reason=reason):
            return ()
        fresh = jobs.find(connection, job_id=job.id) or job  # its person may be another one now
        job = fresh if fresh.is_whole else job
        failures = fresh.failures + 1
        is_enough = failures >= fresh.options.pause_after and fresh.state == "active"
        state = "paused" if is_enough else fresh.state
        why = name_failures(failures) if is_enough else fresh.reason
        changed = replace(fresh, failures=failures, state=state, reason=why)
        jobs.change(connection, changed)
        if fresh.state == "dropped":
            return ()
        if job.kind == "system":
            return ()
        rows = self._start_followers(connection, (fresh, run), "failed", reason, now)
        if is_enough:
            report = partial(job_results.describe_pause, job.title, job.id, failures, reason)
            return [*rows, *self._reports.report(connection, changed, run, report, now)]
        if failures == 1:
            report = partial(self._describe_failure, connection, fresh, reason, now)
            rows += self._reports.report(connection, job, run, report, now)
        return rows

    def pause(self, connection: Connection, job: Job, reason: str, now: int) -> list[OutboxRow]:
        """Pause a job that can't run as it is, and report it."""
        paused = replace(job, state="paused", reason=reason)
        jobs.change(connection, paused)
        report = partial(job_results.describe_unfit, job.title, job.id, reason)
        return [*self._reports.report(connection, paused, None, report, now)]

    def pause_damaged(self, connection: Connection, job: Job, now: int) -> Sequence[OutboxRow]:
        """Pause a job that is damaged on disk, and report it once."""
        if job.state != "active":
            return ()
        jobs.change(connection, replace(job, state="paused", reason=PAUSED_DAMAGED))
        _log.error(
            "job %d is damaged on disk and paused; restore a backup or delete the job", job.id
        )
        report = partial(job_results.DAMAGED, job_id=job.id)
        return self._reports.report(connection, job, None, report, now)

    def fail_damaged(
        self, connection: Connection, job: Job | None, run: Run, now: int
    ) -> Sequence[OutboxRow]:
        """Fail a run that is damaged on disk, or whose job is."""
        if job and job.is_whole:
            with speak_to(connection, job.person_id):
                return self.fail_for_good(connection, job, run, job_results.LOST_RUN(), now)
        job_runs.end(connection, run_id=run.id, state="failed", now=now, reason=PAUSED_DAMAGED)
        return self.pause_damaged(connection, job, now) if job else ()

    def refuse(
        self, connection: Connection, job: Job, run: Run, reason: str, now: int
    ) -> Sequence[OutboxRow]:
        """Skip a run whose job has reached its daily limit; report only the first skip in a row."""
        return self._skip_run(connection, (job, run), reason, job_results.describe_spent, now)

    def _skip_run(
        self,
        connection: Connection,
        whose: tuple[Job, Run],
        reason: str,
        describe: Callable[[str, str, str], str],
        now: int,
    ) -> Sequence[OutboxRow]:
        """Skip a run through no fault of its job; report only the first skip in a row.

        `describe` takes the job's title, the reason, and when it runs next.
        """
        job, run = whose
        newest = job_runs.list_of_job(connection, job_id=job.id, limit=_LOOKED_THROUGH)
        left_out = (job_runs.MISSED, job_runs.MERGED, job_runs.GATED)
        before = next(
            (one for one in newest if one.id < run.id and one.reason not in left_out), None
        )
        if not job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason=reason):
            return ()
        if before and before.reason == reason:
            return ()
        next_at = self._reports.show_next(
            connection, jobs.find(connection, job_id=job.id) or job, now
        )
        report = partial(describe, job.title, reason, next_at)
        return self._reports.report(connection, job, run, report, now)

    def end_turn(
        self,
        connection: Connection,
        job_turn: JobTurn,
        ended: TurnEnded,
        *,
        turn_id: TurnId,
        words: str,
        now: int,
    ) -> Sequence[OutboxRow]:
        """End the run of a turn; `words` are those that the person would read."""
        run = job_runs.find(connection, run_id=job_turn.run_id)
        job = jobs.find(connection, job_id=run.job_id) if run else None
        if run is None or job is None:
            return ()
        turn = turns.find(connection, turn_id=turn_id)
        added = files.list_of_turn(connection, turn_id=turn_id)
        made = Made(
            words=words, files=tuple((file.key, file.name) for file in added), turn_id=turn_id
        )
        if turn:
            sessions.set_title(connection, session_id=turn.session_id, title=job.title)
        if turn and not job.options.is_aware:  # another run may wait for this conversation
            sessions.end(connection, conversation_id=turn.conversation_id, now=now)
        if ended.ending == "answered" or (ended.ending == "exhausted" and not ended.quota):
            return self.succeed(connection, job, run, made, now)
        if ended.ending == "stopped":
            job_runs.end(connection, run_id=run.id, state="skipped", now=now, reason="stopped")
            return ()
        if ended.quota:  # a daily limit is not the job's fault: it counts as no failure
            reason = made.words.removeprefix(ended.text).strip()
            return self.refuse(connection, job, run, reason, now)
        if ended.reason in _OUTAGES:  # nor is an outage
            reason, describe = ended.reason, job_results.describe_outage
            return self._skip_run(connection, (job, run), reason, describe, now)
        if ended.ending == "failed" and ended.reason != _CRASHED:
            return self.fail(connection, job, run, made.words, now)
        return self.fail_for_good(connection, job, run, made.words, now)

    def end_damaged_turn(
        self, connection: Connection, turn: StoredTurn, now: int
    ) -> Sequence[OutboxRow]:
        """Fail the run of a turn with a damaged conversation; the next run starts a new session."""
        sessions.end(connection, conversation_id=turn.conversation_id, now=now)
        run_id = job_runs.find_of_turn(connection, turn_id=turn.id)
        run = job_runs.find(connection, run_id=run_id) if run_id else None
        job = jobs.find(connection, job_id=run.job_id) if run else None
        if run is None or job is None:
            return ()
        with speak_to(connection, job.person_id):
            reason = job_results.BROKEN_CONVERSATION()
        return self.fail_for_good(connection, job, run, reason, now)

    def skip(self, connection: Connection, job: Job, missed: int, now: int) -> Sequence[OutboxRow]:
        """Report slots that the job's late rule skipped. `job` has its next slot already."""

        def report() -> str:
            next_at = self._reports.show_next(connection, job, now)
            return job_results.describe_skipped(job.title, missed, next_at)

        return self._reports.report(connection, job, None, report, now)

    def _describe_failure(self, connection: Connection, job: Job, reason: str, now: int) -> str:
        next_at = self._reports.show_next(connection, job, now)
        return job_results.describe_failure(job.title, job.id, reason, next_at)


def _has_deleted(connection: Connection, made: Made, job: Job) -> bool:
    """Return whether the turn of a run has deleted its own job: its answer is the last one."""
    steps = turns.list_steps(connection, turn_id=made.turn_id) if made.turn_id else []
    said = name_deletion(job)
    return any((step.outcome or "").startswith(said) and not step.is_error for step in steps)


def _lacks_charts(connection: Connection, turn_id: TurnId) -> bool:
    """Return whether a turn asked for a chart while the extra for charts is not installed."""
    steps = turns.list_steps(connection, turn_id=turn_id)
    return any(step.outcome == CHARTS_MISSING for step in steps)
