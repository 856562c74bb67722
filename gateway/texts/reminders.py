"""Sentences about reminders: how they arrive, and what a person answers to them."""

from collections.abc import Sequence
from typing import Literal

from agent_core.localization import Text
from agent_core.schedule.reminder_answers import ReminderAnswer
from agent_core.tools.clock import ReaderClock

SIGN = "⏰"
_ANSWERS = (SIGN, "⏭", "✓")
"""What a line begins with that says what was answered to a reminder."""
DONE, SKIP_NEXT, CHANGE = Text("Done"), Text("Skip next"), Text("Change")
TEN_MINUTES, ONE_HOUR, TOMORROW = Text("+10 min"), Text("+1 h"), Text("Tomorrow")
LEAVE = Text("Leave it")
_ASK_WHEN = Text(
    "Move it to when? Write a time, like “every Tuesday at 9:00” or “at 10:30”.\n"
    "\n"
    "“{title}” is now: {timing}"
)
_TOO_LATE_TO_SET = Text("⚠️ I haven't set this reminder, because {moment} has passed. When instead?")
NO_TIME = Text(
    "I can't move the reminder to that time. Write another one, like “every Tuesday at 9:00”."
)
LEFT = Text("The reminder stays as it is.")
NOT_THEIRS = Text("This is somebody else's reminder, so I leave it as it is.")
ANSWERED = Text("You've answered that reminder already.")
NOT_WAITING = Text("This reminder has no next time, so there's nothing to skip.")
TOO_LATE = Text(
    "I can't undo that any more: it's too late, or the reminder was changed since. /reminders "
    "shows your reminders."
)
UNKNOWN = Text("I don't know that reminder any more. /reminders lists yours.")
_CHECKED = Text("✓ Done")
_AGAIN_AT, _AGAIN_ON = Text("⏰ again at {clock}"), Text("⏰ again {moment}")
_SKIPPED = Text("⏭ Skipped: {moment}. Next: {due_next}.")
_SKIPPED_LAST = Text("⏭ Skipped: {moment}. That was the last one.")
_NEXT_AGAIN = Text("↩ Undone. Next: {moment}.")
_NOT_PUT_OFF = Text("↩ Undone. The reminder is no longer put off.")
_OPEN_AGAIN = Text("↩ Undone. The reminder is open again.")
_OF = Text("{done}: {title}")
_DUE_OFF = Text("(was due {due}; I was switched off)")
_DUE_QUIET = Text("(was due {due}; you had quiet hours)")
_DUE_OFTEN = Text("{count} times, from {due} to {due_next}")
_MOST_DUE = 4
"""Due times in one note; of more, the first and the last are shown."""


def show_reminder(body: str) -> str:
    """Show the text of a reminder as it arrives."""
    return body if body.startswith(SIGN) else f"{SIGN} {body}"


def leave_out_answer(body: str, title: str = "") -> str:
    """Return a message without the line that says what was answered to its reminder before.

    It is the last line; where the message holds several, the one that ends with the `title`.
    """
    first, *lines = body.split("\n")
    end = f": {title}" if title else ""
    looked = range(len(lines)) if title else range(len(lines))[-1:]
    left_out = {at for at in looked if lines[at].startswith(_ANSWERS) and lines[at].endswith(end)}
    return "\n".join([first, *(line for at, line in enumerate(lines) if at not in left_out)])


def ask_when(title: str, timing: str) -> str:
    """Ask for another time of a reminder; `timing` is the present one in words."""
    return _ASK_WHEN(title=title, timing=timing)


def ask_for_new_time(moment: str) -> str:
    """Say that a reminder's time has passed before it was set, and ask for another one."""
    return _TOO_LATE_TO_SET(moment=moment)


def describe_answer(answer: ReminderAnswer, clock: ReaderClock, title: str = "") -> str:
    """Say in a line what came of an answer; `title` names the reminder where there are several."""
    if answer.again_at is not None:
        is_today = clock.show(answer.again_at) != clock.show_short(answer.again_at)
        shown = clock.show_short(answer.again_at)
        line = _AGAIN_AT(clock=shown) if is_today else _AGAIN_ON(moment=shown)
    elif answer.skipped_at is not None and answer.next_at is not None:
        line = _SKIPPED(moment=clock.show(answer.skipped_at), due_next=clock.show(answer.next_at))
    elif answer.skipped_at is not None:
        line = _SKIPPED_LAST(moment=clock.show(answer.skipped_at))
    elif answer.is_open_again:
        line = _OPEN_AGAIN()
    elif answer.verb == "undo":
        shown = clock.show(answer.next_at) if answer.next_at is not None else ""
        line = _NEXT_AGAIN(moment=shown) if shown else _NOT_PUT_OFF()
    else:
        line = _CHECKED()
    return _OF(done=line.rstrip("."), title=title) if title else line


def note_missed(
    body: str, due: Sequence[int], clock: ReaderClock, why: Literal["off", "quiet"]
) -> str:
    """Put behind a reminder that comes late when it was due, and why it didn't come then."""
    if len(due) > _MOST_DUE:
        first, last = clock.show(due[0]), clock.show(due[-1])
        times = _DUE_OFTEN(count=len(due), due=first, due_next=last)
    else:
        times = clock.list_moments(due)
    note = (_DUE_OFF if why == "off" else _DUE_QUIET)(due=times)
    return f"{body}\n{note}" if "\n" in body else f"{body} {note}"
