"""Today: who and what waits, what is still to come, what was done and asked, and its cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from starlette.responses import Response

from agent_core.ids import JobId, QuestionId, TurnId
from agent_core.schedule.triggers import milliseconds
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.conversations import messages, questions, turns, usage
from agent_core.state.conversations.turns import Step, StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import calendar_runs, jobs
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import ledger
from agent_core.state.people import deeds
from agent_core.state.queues import person_events
from gateway.errors import Declined
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.jobs.listing import list_coming
from gateway.interfaces.pages.sessions import say
from gateway.interfaces.pages.views import LARGEST, Fields, Look, Missing
from gateway.operations.people import list_entrances
from gateway.operations.people_types import Nothing
from gateway.texts import pages as texts
from gateway.texts.usage import describe_charged
from gateway.turns.proposals import list_held, list_refused

_MOST = 12
_DELETE = ("jobs delete", "jobs drop")
"""The commands that take back a new reminder, the second until 2026-11-30; its number follows."""
_MOST_BYTES = 64_000
"""Most bytes of a form: an answer of 4,000 characters, each encoded as up to 12 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A change of the person, or a reminder that came; `at` is in milliseconds UTC.

    `job_id` is that of a reminder that still exists. What was taken back is not done any more. With
    `undo_id`, the deed with this number can be taken back; the first of its lines has it.
    """

    at: int
    text: str
    turn_id: TurnId | None = None
    job_id: JobId | None = None
    is_taken_back: bool = False
    undo_id: int = 0


async def show(look: Look) -> Fields:
    """Read the content of the page Today."""
    person_id, now, clock = look.person.id, look.gateway.now(), look.viewer.clock
    since, midnight = (
        milliseconds(datetime.combine(clock.today + timedelta(days), time(), find_zone(clock.zone)))
        for days in (0, 1)
    )

    def work(connection: Connection) -> dict[str, Any]:
        recent = turns.list_of_person(connection, person_id=person_id, before=LARGEST, limit=_MOST)
        running = [turn for turn in recent if turn.state == "running"]
        for oldest in person_events.list_running(connection, person_id=person_id)[:1]:
            if oldest not in [turn.id for turn in running]:
                found = turns.find_of_person(
                    connection, turn_id=TurnId(oldest), person_id=person_id
                )
                running += [found] if found else []

        def describe(turn: StoredTurn) -> tuple[StoredTurn, str]:
            asked = messages.request_of_turn(connection, turn_id=turn.id, person_id=turn.person_id)
            return turn, asked

        ended = [turn for turn in recent if turn.ended_at and turn.ended_at >= since]
        done = [
            *_list_deeds(connection, look, ended, since),
            *_list_came(connection, look, (since, now)),
        ]
        acted = {deed.turn_id for deed in done}
        asked = [describe(turn) for turn in ended if turn.id not in acted]
        coming = list_coming(connection, look)
        charged = usage.charged_since(connection, person_id=person_id, since=since, until=now + 1)
        return {
            "running": [describe(turn) for turn in running],
            "done": sorted(done, key=lambda deed: deed.at, reverse=True)[:_MOST],
            # A picture or a press of a button has no words; the page Activity lists it.
            "asked": [one for one in asked if one[1].strip() not in ("", FORGOTTEN)],
            "coming": [one for one in coming if one[0] < midnight],
            "following": next((one for one in coming if one[0] >= midnight), None),
            "held": len(list_held(connection, person_id)),
            "refused": len(list_refused(connection, person_id)),
            "waiting": questions.find_open(connection, person_id=person_id),
            "cost": describe_charged(charged),
        }

    entrances = await list_entrances(look.context, Nothing()) if look.viewer.is_owner else None
    return {
        **await look.gateway.database.read(work),
        "strangers": entrances.waiting if entrances else (),
    }


def _list_deeds(
    connection: Connection, look: Look, ended: Sequence[StoredTurn], since: int
) -> list[Deed]:
    """List what turns, commands and forms changed, in the words that the person read about it."""
    doer = look.context.doer
    gone = deeds.list_taken_back(connection, doer) if doer else []
    standing = deeds.list_standing(connection, doer) if doer else []
    taken = {part for one in gone for part in one.parts}
    undos = {part: one.id for one in reversed(standing) if one.undo for part in one.parts}
    found, told = [], set[tuple[str, str]]()
    for turn in ended:
        states: dict[str, bool] = {}
        offered: dict[str, int] = {}
        for step in turns.list_steps(connection, turn_id=turn.id):
            undone = _find_undone(connection, turn, step)
            for place, receipt in enumerate(step.receipts):
                part = (receipt.undo, receipt.text.rstrip("."))
                is_taken = place in undone or part in taken or _is_dropped(connection, receipt.undo)
                told.add(part)
                if not is_taken and (undo_id := undos.get(part, 0)) not in offered.values():
                    offered[receipt.text] = undo_id
                # A line that was said twice stands as long as one of its deeds does.
                states[receipt.text] = is_taken and states.get(receipt.text, True)
        found += [
            Deed(
                at=turn.ended_at or turn.started_at,
                text=text,
                turn_id=turn.id,
                is_taken_back=one,
                undo_id=offered.get(text, 0),
            )
            for text, one in states.items()
            if text
        ]
    own = [(one, False) for one in standing] + [(one, True) for one in gone]
    return found + [
        Deed(
            at=one.at,
            text=one.did.replace("\n", "; "),
            is_taken_back=is_taken,
            undo_id=0 if is_taken else one.id,
        )
        for one, is_taken in own
        if one.at >= since and one.undo and one.did and not told.intersection(one.parts)
    ]


def _find_undone(connection: Connection, turn: StoredTurn, step: Step) -> set[int]:
    """Return the places of a call's receipts whose changes of memory were undone."""
    rows = ledger.find_call(
        connection, person_id=turn.person_id, call_key=f"{turn.id}:{step.call_id}"
    )
    if not rows or len(rows) != len(step.receipts):
        return set()
    undone = ledger.list_undone(connection, person_id=turn.person_id, since=rows[0].id)
    return {place for place, row in enumerate(rows) if row.id in undone}


def _is_dropped(connection: Connection, undo: str) -> bool:
    """Return whether the reminder that a turn made was deleted since."""
    command, _, number = undo.removesuffix(" yes").rpartition(" ")
    if command not in _DELETE:
        return False
    job = jobs.find(connection, job_id=JobId(int(number)))
    return job is None or job.state == "dropped"


def _list_came(connection: Connection, look: Look, span: tuple[int, int]) -> list[Deed]:
    """List the reminders that came, each at the time for which it was set."""
    runs = calendar_runs.list_of_days(
        connection, person_id=look.person.id, spans=[span], most=_MOST
    )
    found = []
    for run in runs:
        job = jobs.find(connection, job_id=run.job_id)
        if job and job.is_whole and run.state == "done" and not run.held_until:
            is_kept = job.state in ("active", "paused")
            deed = Deed(
                at=run.slot_at,
                text=texts.REMINDED(title=job.title) if job.kind == "message" else job.title,
                turn_id=run.turn_id,
                job_id=job.id if is_kept else None,
            )
            found.append(deed)
    return found


async def undo(look: Look) -> Response:
    """Send the person's `/undo` of a deed, and open the chat, which shows what became of it.

    Raises `Missing` if it does not stand, and `Declined`.
    """
    deed_id, doer = look.find_id("deed"), look.context.doer
    standing = await look.gateway.database.read(deeds.list_standing, doer) if doer else []
    if not any(one.id == deed_id and one.undo for one in standing):
        raise Missing
    await say(look, f"/{deeds.name_undo(deed_id)}", f"undo:{deed_id}")
    return look.redirect("/")


async def answer(look: Look, *, back: str) -> Response:
    """Answer a question to the person, and open the page `back`. Raises `Missing`, `Declined`."""
    number = QuestionId(look.find_id("question"))
    choice = (await read_form(look.request, _MOST_BYTES)).get("choice", [""])[0]
    gateway = look.gateway
    found = await gateway.database.read(questions.find, question_id=number)
    if found is None or found.person_id != look.person.id:
        raise Missing
    if not choice.strip() or not await gateway.questions.decide(look.person, number, choice):
        raise Declined(texts.QUESTION_CLOSED())
    gateway.forget_known()  # the answer may have merged two people
    return look.redirect(back, note=texts.ANSWERED())
