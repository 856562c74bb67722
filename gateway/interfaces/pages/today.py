"""Today: who and what waits, what is still to come, what was done and asked, and its cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from starlette.responses import Response

from agent_core.ids import JobId, QuestionId, TurnId
from agent_core.memory.archive.history import format_archive_change
from agent_core.memory.receipts import confirm
from agent_core.schedule.triggers import milliseconds
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.conversations import messages, questions, turns, usage
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import calendar_runs, jobs
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.people import deeds
from agent_core.state.people.deeds import Deed as StoredDeed
from agent_core.state.people.deeds import Doer
from agent_core.state.queues import person_events
from gateway.commands.deed_undo import is_past
from gateway.errors import Declined
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.jobs.listing import list_coming
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
class _Fate:
    """A deed's state: whether it was taken back, and the button that changes that.

    The button posts to `address`, which is "" if nothing takes the deed back or brings it back.
    `name` is the same before and after.
    """

    is_taken_back: bool = False
    address: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A change of the person, or a reminder that came; `at` is in milliseconds UTC.

    `job_id` is that of a reminder that still exists.
    """

    at: int
    text: str
    turn_id: TurnId | None = None
    job_id: JobId | None = None
    fate: _Fate = _Fate()


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
    fates = _Fates(connection, look.doer)
    found, told = [], set[tuple[str, str]]()
    for turn in ended:
        lines: dict[str, _Fate] = {}
        for step in turns.list_steps(connection, turn_id=turn.id):
            key = f"{turn.id}:{step.call_id}"
            changes = ledger.find_call(connection, person_id=turn.person_id, call_key=key)
            is_each_told = len(changes) == len(step.receipts)
            for place, receipt in enumerate(step.receipts):
                part = (receipt.undo, receipt.text.rstrip("."))
                told.add(part)
                known = lines.get(receipt.text)
                # A line that was said twice stands as long as one of its deeds does.
                if known is None or known.is_taken_back:
                    is_change = is_each_told and not receipt.undo
                    lines[receipt.text] = (
                        fates.find_of_change(changes[place])
                        if is_change
                        else fates.find_of_part(part)
                    )
        found += [
            Deed(at=turn.ended_at or turn.started_at, text=text, turn_id=turn.id, fate=fate)
            for text, fate in lines.items()
            if text
        ]
    found += [
        Deed(at=one.at, text=one.did.replace("\n", "; "), fate=fates.find_of_deed(one))
        for one in fates.deeds
        if one.at >= since and one.undo and one.did and not told.intersection(one.parts)
    ]
    return found + [
        Deed(
            at=row.origin.now,
            text=confirm(row.change.before, row.change.after).text,
            fate=fates.find_of_change(row),
        )
        for row in _list_own_changes(connection, look, since)
    ]


class _Fates:
    """Finds what became of deeds, with the addresses of buttons; each button is shown once."""

    def __init__(self, connection: Connection, doer: Doer) -> None:
        standing, gone = (
            deeds.list_standing(connection, doer),
            deeds.list_taken_back(connection, doer),
        )
        self.deeds = (*standing, *gone)
        self._connection, self._doer = connection, doer
        self._standing = {part: one for one in reversed(standing) for part in one.parts}
        self._gone_ids = {one.id for one in gone}
        self._gone = {part: one for one in reversed(gone) for part in one.parts}
        self._undone = ledger.find_undone(connection, person_id=doer.owner_id, since=0)
        self._told = set[int]()

    def find_of_part(self, part: tuple[str, str]) -> "_Fate":
        """Return what became of a part of a deed, of which a turn has told."""
        return self._find(self._standing.get(part), self._gone.get(part), [part])

    def find_of_deed(self, deed: StoredDeed) -> "_Fate":
        """Return what became of a deed of a command or a form."""
        if deed.id in self._gone_ids:
            return self._find(None, deed, deed.parts)
        return self._find(deed, None, deed.parts)

    def _find(
        self,
        standing: StoredDeed | None,
        gone: StoredDeed | None,
        parts: Sequence[tuple[str, str]],
    ) -> "_Fate":
        is_gone = standing is None and gone is not None
        if all(self._is_taken(undo, is_gone=is_gone) for undo, _ in parts):
            can_return = gone and deeds.find_redo(self._connection, self._doer, gone.id)
            return self._tell(gone, "back" if can_return else "", is_taken_back=True)
        if standing is None:
            return self._tell(gone)
        is_left = standing.undo and not all(is_past(self._connection, undo) for undo, _ in parts)
        return self._tell(standing, "undo") if is_left else _Fate()

    def find_of_change(self, row: LedgerEntry) -> "_Fate":
        """Return what became of a change of memory."""
        undone_by = self._undone.get(row.id)
        words = (row.change.before, row.change.after)
        is_fixed = row.target in ("soul", "skill") or FORGOTTEN in words
        return _Fate(
            is_taken_back=undone_by is not None,
            address="" if is_fixed else f"/memory/{undone_by or row.id}/undo",
            name=f"change-{row.id}",
        )

    def _is_taken(self, undo: str, *, is_gone: bool) -> bool:
        """Return whether a part was taken back; a new reminder also if it was deleted since."""
        command, _, number = undo.removesuffix(" yes").rpartition(" ")
        job = jobs.find(self._connection, job_id=JobId(int(number))) if command in _DELETE else None
        return job.state == "dropped" if job else is_gone

    def _tell(
        self, deed: StoredDeed | None, verb: str = "", *, is_taken_back: bool = False
    ) -> "_Fate":
        """Tell what became of a deed; the first of its lines has its button and its name."""
        if deed is None or deed.id in self._told:
            return _Fate(is_taken_back=is_taken_back)
        self._told.add(deed.id)
        return _Fate(
            is_taken_back=is_taken_back,
            address=f"/deeds/{deed.id}/{verb}" if verb else "",
            name=f"deed-{deed.id}",
        )


def _list_own_changes(connection: Connection, look: Look, since: int) -> list[LedgerEntry]:
    """List what the person changed in their memory by forms and commands, and not by a turn."""
    recent = ledger.list_recent_of(connection, person_id=look.person.id, limit=_MOST)
    return [
        format_archive_change(row) if row.target == "archive" else row
        for row in recent
        if row.origin.now >= since
        and row.target != "soul"
        and row.origin.undoes is None
        and (row.origin.actor == "person" or row.origin.actor.startswith("account:"))
        and FORGOTTEN not in (row.change.before, row.change.after)
    ]


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
