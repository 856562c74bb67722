"""The buttons below reminders: done, later, not the next time, to another time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from agent_core.chats import Chat
from agent_core.ids import RunId
from agent_core.schedule.job_editor import InvalidJob
from agent_core.schedule.reminder_answers import (
    ReminderAnswer,
    ReminderVerb,
    answer_reminder,
    list_verbs,
)
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import SKIPPED_NEXT, Run
from agent_core.state.jobs.jobs import Job
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import OutboxRow
from gateway.chats import name_chat
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Outcome
from gateway.jobs.history import record_answer
from gateway.jobs.job_buttons import SENT, is_button_of, make_reminder_buttons
from gateway.jobs.new_times import NewTimes
from gateway.texts import reminders
from gateway.texts.reader_language import speak_to

_LOOKED_THROUGH = 100
"""The newest messages of a chat among which a reminder's message is looked for."""
_VERBS: dict[str, ReminderVerb] = {verb: verb for verb in get_args(ReminderVerb)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderPress:
    """An answer to the reminder that a run sent."""

    run_id: RunId
    verb: ReminderVerb


def read_press(words: Sequence[str]) -> ReminderPress | None:
    """Parse `812 done`, which a button sends; None for anything else."""
    verb = _VERBS.get(words[1]) if len(words) == 2 else None
    number = read_number(words[0]) if verb else None
    if verb is None or number is None:
        return None
    return ReminderPress(run_id=RunId(number), verb=verb)


def take_press(
    connection: Connection, call: Call, press: ReminderPress, new_times: NewTimes
) -> Outcome:
    """Apply an answer, and show in the reminder's own message what came of it.

    A second press changes nothing, and says nothing where the message shows the answer.
    """
    run = job_runs.find(connection, run_id=press.run_id)
    job = jobs.find(connection, job_id=run.job_id) if run else None
    if run is None or job is None or press.verb not in list_verbs(job, run):
        return reminders.UNKNOWN(), ()
    if not _may_answer(call, job, run, press.verb):
        return reminders.NOT_THEIRS(), ()
    if press.verb == "change":
        return "", new_times.ask(connection, job, call.person, call.chat, call.now)
    try:
        answer = answer_reminder(connection, job, run, press.verb, call.now)
    except InvalidJob:
        is_late = press.verb == "undo"
        return (reminders.TOO_LATE() if is_late else reminders.NOT_WAITING()), ()
    if answer is None:
        return ("" if _find_pressed(connection, call) else reminders.ANSWERED()), ()
    sent = f"jobs {SENT} {run.id}"
    record_answer(connection, job, run, reminders.describe_answer(answer, call.clock), call.now)
    named = reminders.describe_answer(answer, call.clock, job.title)
    undo = "" if press.verb == "undo" else f"{sent} undo"
    call.note_deed(connection, f"{sent} {press.verb}", undo, named)
    answered = job_runs.find(connection, run_id=run.id) or run
    rows = _show_answer(connection, call, (job, run, answered), answer)
    return ("" if rows and call.is_press else named), rows


def _may_answer(call: Call, job: Job, run: Run, verb: ReminderVerb) -> bool:
    """Return whether the caller may answer: the person, and in a group those who see its reminder.

    The times of a group's reminder are changed by its maker and by owners only.
    """
    if job.person_id == call.person.id:
        return True
    is_of_group = call.room is not None and job.room_id == call.room.id
    is_of_times = verb in ("skip", "change") or run.reason == SKIPPED_NEXT
    return is_of_group and (not is_of_times or call.person.is_owner)


def _show_answer(
    connection: Connection, call: Call, sent: tuple[Job, Run, Run], answer: ReminderAnswer
) -> list[OutboxRow]:
    """Write an answer below the messages of a reminder, in each of its chats.

    A group's message keeps the language of whom it was sent to. `sent` is the reminder with its run
    as it was and as it is, which tells the earlier answer. Below a message that holds other
    reminders, too, the line names this one. Their buttons stay, and those that the reminder still
    takes follow.
    """
    job, before, run = sent
    rows = []
    for row in _list_messages(connection, call, run):
        others = tuple(one for one in row.buttons if not is_button_of(one, run))
        title = job.title if others else ""
        body = row.body or reminders.show_reminder(job.body)
        if before.reason:  # it was answered before, and that doesn't count any more
            body = reminders.leave_out_answer(body, title)
        with speak_to(connection, row.person_id or job.person_id):
            if title or answer.verb != "undo":
                body = f"{body}\n{reminders.describe_answer(answer, call.clock, title)}"
            buttons = (*others, *make_reminder_buttons(job, run, title))
        rows.append(outbox.revise(connection, outbox_id=row.id, body=body, buttons=buttons))
    return rows


def _list_messages(connection: Connection, call: Call, run: Run) -> list[OutboxRow]:
    """List the messages with the buttons of a reminder; the pressed one may hold others, too.

    After `/undo`, which presses nothing, a message that holds others is looked for in this chat.
    """
    pressed = _find_pressed(connection, call)
    turn = job_runs.find_turn(connection, run_id=run.id)
    found = [pressed] if pressed else []
    if turn and (not pressed or pressed.turn_id == turn[0]):
        found = outbox.list_buttoned(connection, turn_id=turn[0])
    if not found:
        chat = Chat(platform=call.platform, address=name_chat(call.message.address))
        found = outbox.list_newest_shown(connection, chat=chat, limit=_LOOKED_THROUGH)
    return [row for row in found if any(is_button_of(one, run) for one in row.buttons)]


def _find_pressed(connection: Connection, call: Call) -> OutboxRow | None:
    """Return the message of a pressed button; None after `/undo`, and if it was sent again since.

    A platform that can't edit a message gets it again, with the answer.
    """
    if not call.is_press:
        return None
    return outbox.find_message(
        connection,
        platform=call.platform,
        chat=name_chat(call.message.address),
        message_id=call.message.message_id,
    )
