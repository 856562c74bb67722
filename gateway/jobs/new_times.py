"""Asks for the new time of a reminder, and moves it there."""

from collections.abc import Callable

from agent_core.chats import Chat
from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId
from agent_core.schedule.job_editor import (
    InvalidJob,
    JobRules,
    change_job,
    name_change_undo,
    redraft_job,
)
from agent_core.schedule.job_fields import JobFields
from agent_core.schedule.receipts import confirm_changed, say_timing
from agent_core.schedule.requests import read_request
from agent_core.schedule.said_times import fill_in, list_dates
from agent_core.schedule.triggers import NeverOccurs, load_timing
from agent_core.state.conversations import questions as stored
from agent_core.state.conversations.questions import Choice, NewQuestion, Question
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job, Target
from agent_core.state.people import deeds, rooms
from agent_core.state.people.deeds import Doer
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.clock import ReaderClock
from gateway.outbound.command_buttons import offer_command
from gateway.outbound.questions import WHEN, AnswerOutcome, Questions, make_secret
from gateway.texts import jobs as jobs_texts
from gateway.texts import reminders
from gateway.texts.memory import UNDO

_LEAVE = "leave"
_LASTS = 86_400_000
"""Milliseconds during which a new time may be written."""


class NewTimes:
    """Asks people in their chats to when a reminder moves."""

    def __init__(self, questions: Questions, zone_of: Callable[[Person], str]) -> None:
        self._questions = questions
        self._zone_of = zone_of

    def ask(
        self, connection: Connection, job: Job, person: Person, chat: Chat, now: int
    ) -> list[OutboxRow]:
        """Ask for the new time of a reminder, once, in the caller's transaction."""
        asked = stored.find_open(connection, person_id=person.id)
        if any(one.kind == WHEN and one.payload == str(job.id) for one in asked):
            return []
        clock = ReaderClock(zone=self._zone_of(person), now=now)
        timing = say_timing(job, clock)
        question = NewQuestion(
            person_id=person.id,
            kind=WHEN,
            text=reminders.ask_when(job.title, timing),
            choices=(Choice(key=_LEAVE, label=reminders.LEAVE()),),
            secret=make_secret(),
            chat=chat,
            expires_at=now + _LASTS,
            payload=str(job.id),
        )
        return self._questions.pose(connection, question, now)


def make_time_answerer(
    zone_of: Callable[[Person], str],
) -> Callable[[Connection, Question, str, Person, int], AnswerOutcome]:
    """Return the handler of the answers: words for a time, or the key to leave it as it is."""

    def answer(
        connection: Connection, question: Question, words: str, person: Person, now: int
    ) -> AnswerOutcome:
        if words == _LEAVE:
            return AnswerOutcome(words=reminders.LEFT())
        job = jobs.find(connection, job_id=JobId(int(question.payload)))
        if job is None or job.state not in ("active", "paused"):
            return AnswerOutcome(words=reminders.UNKNOWN())
        try:
            changed = _move(connection, job, words, now)
        except (InvalidJob, ToolArgumentError, ValueError) as error:
            is_never = isinstance(error.__cause__, NeverOccurs)
            dates = list_dates(words, zone=job.zone, now=now, old=load_timing(job.timing))
            unread = jobs_texts.tell_dates(words, dates) if dates else reminders.NO_TIME()
            return AnswerOutcome(words=str(error) if is_never else unread, stays_open=True)
        clock = ReaderClock(zone=zone_of(person), now=now)
        receipt = confirm_changed(changed, clock, name_change_undo(connection, job.id))
        room = rooms.find_by_id(connection, room_id=job.room_id) if job.room_id else None
        doer = Doer(
            person_id=person.id,
            owner_id=room.person_id if room else person.id,
            platform=question.chat.platform,
        )
        deeds.record_receipts(connection, doer, [receipt], now=now)
        return AnswerOutcome(words=receipt.text, buttons=offer_command(receipt.undo, UNDO()))

    return answer


def _move(connection: Connection, job: Job, words: str, now: int) -> Job:
    """Move a job to a time in words, which keep the days or the time of day that they don't name.

    Raises `InvalidJob`, `ToolArgumentError` and `ValueError`.
    """
    rules, old = JobRules(), load_timing(job.timing)
    given = fill_in(JobFields(), words, zone=job.zone, now=now, old=old)
    request = read_request(
        given,
        here=Target(kind="home"),
        zone=job.zone,
        known=job.options,
        now=now,
        calendars={},
    )
    return change_job(connection, redraft_job(job, request, rules=rules, now=now), now)
