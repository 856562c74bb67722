"""The questions about jobs: before a job takes effect, and when its person changes time zone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_core.ids import PersonId
from agent_core.localization import Plural, Text
from agent_core.schedule.descriptions import (
    describe_late,
    list_ways,
    say_next,
)
from agent_core.schedule.job_editor import list_followers, next_slot_of
from agent_core.schedule.occurrences import count_often, first_slot
from agent_core.schedule.quiet_times import HeldSlot
from agent_core.schedule.receipts import say_timing
from agent_core.schedule.triggers import Every, OnEvent, load_timing
from agent_core.schedule.wall_clock import find_zone
from agent_core.shown_settings import name_city
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_versions, jobs
from agent_core.state.jobs.jobs import Job, NewJob
from agent_core.tools.clock import ReaderClock
from agent_core.tools.contract import ToolContext
from agent_core.tools.user_questions import Answer, UserPrompt, UserPrompter
from agent_core.transcript import quote

_SHOWN_TITLE = 100
YES, LATER, NO = "yes", "later", "no"
_DO_THAT, _DO_NOT = Text("Yes, do that"), Text("No")
_ASK_TO_SEND = Text("{timing}: shall I send this?\n\n{body}\n\nNext: {moments}\nSent to: {targets}")
_ASK_TO_DO = Text("{timing}: shall I do this?\n\n{body}\n\nNext: {moments}\nSent to: {targets}")
_OFTEN = Plural("That is {n:,} time a day.", "That is {n:,} times a day.")
_REMIND_ANYWAY = Text("Remind you anyway?\n\n{body}\n\nDue: {moments}")
_ANYWAY, _HOLD, _NO_REMINDER = Text("Yes, anyway"), Text("Wait until {moment}"), Text("No reminder")
_THEN_TOO = Text("Should I send it then, too?")
_DO_THEN_TOO, _DO_LATER = Text("Yes, then too"), Text("Yes, but afterwards")
_WHICH_DATE = Text("Which date do you mean by “{words}”?")
_MOVE_ALONG = Plural(
    "{n} of your reminders uses the time zone {zone}. Move it to your new time zone?",
    "{n} of your reminders use the time zone {zone}. Move them to your new time zone?",
)
_FOLLOWS = Text("Reminder {number} “{title}” waits for this one, and doesn't come without it.")
MOVE, KEEP = Text("Yes, move"), Text("No, keep")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A question about jobs. Its keys: `YES`, `NO`, and `LATER` for a held slot."""

    text: str
    choices: tuple[Choice, ...]


def compose_confirmation(
    job: NewJob, clock: ReaderClock, echo: str | None, held: HeldSlot | None
) -> Confirmation:
    """Ask about a job that `echo` describes, or about a held reminder if `echo` is None.

    With a held slot, the person chooses whether the job also sends messages in quiet times.
    """
    if held is None:
        return _ask(echo or "", (YES, _DO_THAT()), (NO, _DO_NOT()))
    if echo is not None:
        text = f"{echo}\n\n{held.sentence} {_THEN_TOO()}"
        return _ask(text, (YES, _DO_THEN_TOO()), (LATER, _DO_LATER()), (NO, _DO_NOT()))
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    moments = say_next(timing, zone, next_slot_of(job), clock)
    text = f"{held.sentence} {_REMIND_ANYWAY(body=job.body, moments=moments)}"
    hold = _HOLD(moment=held.until)
    return _ask(text, (YES, _ANYWAY()), (LATER, hold), (NO, _NO_REMINDER()))


def ask_date(words: str, dates: Sequence[str]) -> Confirmation:
    """Ask which date words such as "3/4/2027" mean; the keys are the places of the dates."""
    choices = [(str(place), date) for place, date in enumerate(dates)]
    return _ask(_WHICH_DATE(words=words), *choices, (NO, _DO_NOT()))


async def ask_person(
    prompter: UserPrompter, context: ToolContext, question: Confirmation
) -> Choice | Answer:
    """Ask the person of a tool call. Raises `QuestionPending` and `StoreError`."""
    return await prompter.ask(
        UserPrompt(
            person_id=context.person_id,
            turn_id=context.turn_id,
            call_id=context.call_id,
            kind="choice",
            text=question.text,
            choices=question.choices,
        )
    )


def _ask(text: str, *choices: tuple[str, str]) -> Confirmation:
    return Confirmation(
        text=text,
        choices=tuple(
            Choice(key=key, label=label, style="good" if key == YES else "plain")
            for key, label in choices
        ),
    )


def echo_job(job: NewJob, clock: ReaderClock, places: Sequence[str]) -> str:
    """Describe a job with its next moments, its targets and its options."""
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    shown = say_next(timing, zone, next_slot_of(job), clock)
    question = _ASK_TO_SEND if job.kind == "message" else _ASK_TO_DO
    targets = "; ".join(places)
    asked = question(timing=say_timing(job, clock), body=job.body, moments=shown, targets=targets)
    slot = next_slot_of(job)
    count = count_often(timing, zone, slot) if slot else 0
    often = [_OFTEN(count)] if count else []
    late = [describe_late(job)] if job.late != "catch_up" else []
    return "\n".join([asked, *often, *late, *list_ways(job)])


def describe_followers(connection: Connection, job: Job) -> str:
    """Name the jobs that run after a paused or deleted job, with a leading space; "" for none."""
    found = list_followers(connection, job)
    return "".join(f" {_FOLLOWS(number=one.id, title=one.title)}" for one in found)


def name_job(job: Job) -> str:
    """Return a job's number and title, for the model."""
    return f"Job {job.id} {quote(job.title, _SHOWN_TITLE)}"


def name_deletion(job: Job) -> str:
    """Return the sentence with which the tool's result begins after it has deleted a job."""
    return f"{name_job(job)} is deleted."


def list_left(connection: Connection, *, person_id: PersonId, zone: str) -> list[Job]:
    """List a person's jobs in a time zone, except intervals and events, which have none."""
    return [
        job
        for job in jobs.list_of_person(connection, person_id=person_id)
        if job.zone == zone
        and job.is_whole
        and not isinstance(load_timing(job.timing), Every | OnEvent)
    ]


def move_jobs(
    connection: Connection, *, person_id: PersonId, zone: str, to: str, now: int
) -> list[Job]:
    """Move a person's jobs from a zone to another one; return the moved jobs.

    A job for a single moment stays if that moment would be past in the other zone.
    """
    moved = []
    for job in list_left(connection, person_id=person_id, zone=zone):
        slot = first_slot(load_timing(job.timing), find_zone(to), now)
        if slot:
            moved.append(replace(job, zone=to, next_slot=(slot.name, slot.at)))
            job_versions.record(connection, job_id=job.id, now=now)
            jobs.change(connection, moved[-1])
    return moved


def ask_to_move(count: int, zone: str) -> str:
    """Ask whether jobs move to the new time zone, too."""
    return _MOVE_ALONG(count, zone=name_city(zone))


@dataclass(slots=True)
class JobMover:
    """Asks in a turn whether jobs move to the new time zone, too, before the zone changes."""

    database: Database
    prompter: UserPrompter
    zone: str
    """The zone of people who have set none."""
    changed: Callable[[], None]
    """Called after jobs have moved."""

    async def ask(self, context: ToolContext, old: str | None, new: str | None) -> bool:
        """Ask, if there are such jobs. Raises `QuestionPending` and `StoreError`."""
        zone = old or self.zone
        if zone == (new or self.zone) or context.is_accepted:
            return False
        left = await self.database.read(list_left, person_id=context.person_id, zone=zone)
        if not left:
            return False
        question = _ask(ask_to_move(len(left), zone), (YES, MOVE()), (NO, KEEP()))
        answer = await ask_person(self.prompter, context, question)
        return isinstance(answer, Choice) and answer.key == YES

    def move(
        self, connection: Connection, context: ToolContext, old: str | None, new: str | None
    ) -> None:
        """Move the jobs, in the transaction that changes the time zone."""
        zone, to = old or self.zone, new or self.zone
        move_jobs(connection, person_id=context.person_id, zone=zone, to=to, now=context.now)
        self.changed()
