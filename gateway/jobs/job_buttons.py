"""The buttons below a job and below a reminder: each sends a command."""

from collections.abc import Mapping

from agent_core.localization import Text
from agent_core.schedule.reminder_answers import ReminderVerb, list_open_verbs
from agent_core.state.conversations.questions import Choice
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job
from gateway.outbound.command_buttons import stand_for
from gateway.texts import jobs as job_texts
from gateway.texts import memory, reminders
from gateway.texts.job_results import shorten

_LONGEST_LABEL = 30
SENT = "sent"
"""The word of `/jobs` that names a reminder which was sent, by the number of its run."""
_LABELS: Mapping[ReminderVerb, Text] = {
    "done": reminders.DONE,
    "10m": reminders.TEN_MINUTES,
    "1h": reminders.ONE_HOUR,
    "tomorrow": reminders.TOMORROW,
    "skip": reminders.SKIP_NEXT,
    "change": reminders.CHANGE,
    "undo": memory.UNDO,
}
_SIGNS: Mapping[ReminderVerb, str] = {"done": "✓", "undo": "↩"}
"""What stands before the title of a reminder on its button in a message that holds several."""


def make_reminder_buttons(job: Job, run: Run, title: str = "") -> tuple[Choice, ...]:
    """Return the buttons below a reminder, after what was answered to it so far.

    There are none below anything else that a job sends.

    With a `title`, there is one button, for a message that holds several reminders.
    """
    verbs = list_open_verbs(job, run)
    if title:
        verb: ReminderVerb = "done" if "done" in verbs else "undo"
        return (_answer(run, verb, f"{_SIGNS[verb]} {title}"),) if verb in verbs else ()
    return tuple(_answer(run, verb, _LABELS[verb]()) for verb in verbs)


def _answer(run: Run, verb: ReminderVerb, label: str) -> Choice:
    return stand_for(f"jobs {SENT} {run.id} {verb}", label)


def is_button_of(choice: Choice, run: Run) -> bool:
    """Return whether a button answers the reminder of a run."""
    return choice.key.startswith(stand_for(f"jobs {SENT} {run.id} ", "").key)


def make_job_buttons(job: Job) -> tuple[Choice, ...]:
    """Return the buttons that pause or resume a job, run it now, and delete it."""
    if job.state == "paused":
        first = stand_for(f"jobs resume {job.id}", job_texts.RESUME(), "good")
    else:
        first = stand_for(f"jobs pause {job.id}", job_texts.PAUSE())
    return (
        first,
        stand_for(f"jobs run {job.id}", job_texts.RUN()),
        stand_for(f"jobs delete {job.id}", job_texts.DELETE(), "danger"),
    )


def make_open_button(job: Job) -> Choice:
    """Return the button that shows a job with the buttons that change it."""
    return stand_for(f"jobs {job.id}", shorten(job.title, _LONGEST_LABEL))


def make_list_button() -> Choice:
    """Return the button that lists all jobs again."""
    return stand_for("jobs", job_texts.ALL())
