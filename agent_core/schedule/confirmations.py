"""The questions that show a job to the person who confirms it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.localization import Text
from agent_core.schedule.descriptions import (
    describe_late,
    describe_next,
    describe_timing,
    list_ways,
)
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.occurrences import find_zone
from agent_core.schedule.quiet_times import HeldSlot
from agent_core.schedule.triggers import load_timing
from agent_core.state.conversations.questions import Choice
from agent_core.state.jobs.jobs import NewJob

YES, LATER, NO = "yes", "later", "no"
_DO_THAT, _DO_NOT = Text("Yes, do that"), Text("No")
_ASK_TO_SEND = Text("{timing}, shall I send this?\n\n{body}\n\nNext: {moments}\nSent to: {targets}")
_ASK_TO_DO = Text("{timing}, shall I do this?\n\n{body}\n\nNext: {moments}\nSent to: {targets}")
_IN_ZONE = Text("{timing} ({zone})")
_REMIND_ANYWAY = Text("Remind you anyway?\n\n{body}\n\nDue: {moments}")
_ANYWAY, _HOLD, _NO_REMINDER = Text("Yes, anyway"), Text("Hold until {moment}"), Text("No reminder")
_THEN_TOO = Text("Shall it come then, too?")
_DO_THEN_TOO, _DO_LATER = Text("Yes, then too"), Text("Yes, but held until after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A question before a job counts. Its keys are `YES`, `NO`, and `LATER` for a held slot."""

    text: str
    choices: tuple[Choice, ...]


def compose_confirmation(
    job: NewJob, reader: str, echo: str | None, held: HeldSlot | None
) -> Confirmation:
    """Ask about a job that `echo` describes, or about a held reminder if it is None.

    With a held slot, the person chooses whether the job counts in quiet times, too.
    """
    if held is None:
        return _ask(echo or "", (YES, _DO_THAT()), (NO, _DO_NOT()))
    if echo is not None:
        text = f"{echo}\n\n{held.sentence} {_THEN_TOO()}"
        return _ask(text, (YES, _DO_THEN_TOO()), (LATER, _DO_LATER()), (NO, _DO_NOT()))
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    moments = describe_next(timing, zone, next_slot_of(job), find_zone(reader))
    text = f"{held.sentence} {_REMIND_ANYWAY(body=job.body, moments=moments)}"
    hold = _HOLD(moment=held.until)
    return _ask(text, (YES, _ANYWAY()), (LATER, hold), (NO, _NO_REMINDER()))


def _ask(text: str, *choices: tuple[str, str]) -> Confirmation:
    return Confirmation(
        text=text,
        choices=tuple(
            Choice(key=key, label=label, style="good" if key == YES else "plain")
            for key, label in choices
        ),
    )


def echo_job(job: NewJob, reader: str, places: Sequence[str]) -> str:
    """Describe a job with its next moments, its targets and its options."""
    timing, zone = load_timing(job.timing), find_zone(job.zone)
    shown = describe_next(timing, zone, next_slot_of(job), find_zone(reader))
    meaning = describe_timing(timing, zone)
    if job.zone != reader:
        meaning = _IN_ZONE(timing=meaning, zone=job.zone)
    question = _ASK_TO_SEND if job.kind == "message" else _ASK_TO_DO
    targets = "; ".join(places)
    asked = question(timing=meaning, body=job.body, moments=shown, targets=targets)
    late = [describe_late(job)] if job.late != "catch_up" else []
    return "\n".join([asked, *late, *list_ways(job)])
