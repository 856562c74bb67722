"""New times for an accepted reminder whose own time has passed."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeGuard

from adapters.contract import ChatAdapter
from agent_core.schedule.reminder_answers import LaterVerb, find_later
from agent_core.schedule.wall_clock import find_zone, slot_at
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice, Question
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.clock import ReaderClock
from gateway.outbound import question_views
from gateway.texts import reminders

_LATER: tuple[LaterVerb, ...] = ("10m", "1h", "tomorrow")
"""The keys of the new times."""
_OTHER_TIMES = ("at", "in_minutes", "times", "rule", "cron")


def offer_times(
    connection: Connection,
    question: Question,
    due_at: int,
    *,
    clock: ReaderClock,
    adapter: ChatAdapter | None,
    expires_at: int,
) -> list[OutboxRow]:
    """Ask an accepted proposal again with new times, in its own message.

    `due_at` is the time that has passed. Works in the caller's transaction.
    """
    labels = (reminders.TEN_MINUTES(), reminders.ONE_HOUR(), reminders.TOMORROW())
    later = tuple(Choice(key=key, label=one) for key, one in zip(_LATER, labels, strict=True))
    choices = (*later, question.choices[-1])  # the last one dismisses
    said = reminders.ask_for_new_time(clock.show(due_at))
    payload = {**json.loads(question.payload), "due_at": due_at, "zone": clock.zone}
    row = outbox.find_of_question(connection, question_id=question.id)
    body = question_views.close(question, row, said) if row else ""
    asked = replace(question, text=f"{question.text}\n\n{said}", choices=choices)
    questions.reword(
        connection,
        person_id=question.person_id,
        question_id=question.id,
        text=asked.text,
        choices=choices,
        payload=json.dumps(payload, ensure_ascii=False),
    )
    questions.reopen(connection, question_id=question.id, expires_at=expires_at)
    if row is None:
        return []
    shown, buttons = question_views.show_choices(asked, adapter, body)
    outcome_at = len(body) - len(said)
    revised = outbox.revise(
        connection, outbox_id=row.id, body=shown, buttons=buttons, outcome_at=outcome_at
    )
    return [revised]


def is_later(key: str) -> TypeGuard[LaterVerb]:
    """Return whether the key of an answer is one of the new times."""
    return key in _LATER


def move_later(question: Question, key: LaterVerb, now: int) -> str:
    """Return the payload of a proposal with the new time that its person chose."""
    asked = json.loads(question.payload)
    zone = find_zone(asked["zone"])
    at = slot_at(find_later(asked["due_at"], zone, key, now), zone).at
    stamp = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="minutes")
    given = {**json.loads(asked["arguments"]), "when": stamp, "urgent": True}
    given = {name: value for name, value in given.items() if name not in _OTHER_TIMES}
    return json.dumps({**asked, "arguments": json.dumps(given)}, ensure_ascii=False)
