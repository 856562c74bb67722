"""Ends turns: transcript, cost, state, inbox and what is owed, in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from agent_core.active import ActiveTurn
from agent_core.agent import Agent
from agent_core.errors import StoreDamaged, StoreError
from agent_core.events import TurnEnded
from agent_core.state import files, inbox, job_runs, outbox, turns
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.turns import Turn
from agent_core.talks import Standing
from gateway import hours, settling, wording
from gateway.delivery import Delivery
from gateway.leads import Lead
from gateway.outcomes import Made, Outcomes
from gateway.questions import Questions
from gateway.settling import Stage
from gateway.translate import Pending, Place
from gateway.wording_usage import Reader

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0


class Endings:
    """What is written when turns end, and what is owed then."""

    def __init__(
        self,
        *,
        database: Database,
        agent: Agent,
        delivery: Delivery,
        questions: Questions,
        outcomes: Outcomes,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._agent = agent
        self._delivery = delivery
        self._questions = questions
        self._outcomes = outcomes
        self._zone_of = outcomes.zone_of
        self._now = now

    async def settle(
        self,
        active: ActiveTurn,
        ended: TurnEnded,
        tools: Sequence[str] = (),
        place: Place | None = None,
    ) -> None:
        """End a turn; one that was not begun on disk yet is begun in the same transaction.

        `place` is where the answer can leave for at once if nothing is in its way. Tries until
        the store takes it: what the model said is paid for, and is in memory only. Raises
        `StoreDamaged`, and `OutOfDate` if it can't be begun as it is.
        """
        now = self._now()
        work = partial(self._settle, active=active, ended=(ended, tools), now=now)
        while True:
            lead = self._delivery.lead(place) if place and active.errand is None else None
            try:
                rows, standing = await self._database.write(
                    "turns.settle", partial(work, lead=lead)
                )
                self._delivery.owe(rows, lead)
                if standing:
                    self._agent.leave(active, standing)
                if active.errand:
                    self._outcomes.ring()
                return
            except StoreDamaged:
                raise
            except StoreError as error:
                _log.error("turn %d waits for the store to be settled: %s", active.id, error)
            finally:
                if lead:
                    lead.end()
            await asyncio.sleep(_STORE_PAUSE)

    def _settle(
        self,
        connection: Connection,
        active: ActiveTurn,
        ended: tuple[TurnEnded, Sequence[str]],
        now: int,
        lead: Lead | None,
    ) -> tuple[list[OutboxRow], Standing | None]:
        """Gives what is owed, and how the talk stands then, for `Agent.leave`."""
        end, tools = ended
        is_fresh = active.journal.ensure_begun(connection, is_over=True)
        if is_fresh and lead:
            place = lead.place  # a turn that goes elsewhere is begun for that
        else:
            turn = turns.find(connection, turn_id=active.id)
            if turn is None or turn.state != "running":
                return [], None  # an earlier try was written although it seemed to have failed
            place = place_of(turn)
        person = active.person
        reader = Reader(zone=self._zone_of(person), now=now, is_owner=person.is_owner)
        told = settling.tell(end, active.id, tools, reader)
        is_answer = end.ending == "answered"
        standing = self._agent.settle(
            connection,
            active,
            ending=(end.ending, end.reason),
            told="" if is_answer else told,
            now=now,
            is_fresh=is_fresh,
        )
        if not is_fresh:
            inbox.finish_turn(connection, turn_id=active.id)
        if active.errand:
            made = _make(connection, active, told)
            rows = self._outcomes.close(connection, active.errand, end, made, now)
            over = self._questions.end_of_turn(connection, active.id, now)
            return [*rows, *over], standing
        settling.owe_title(connection, active, now)
        debt = self.owing(active, place)
        lead = lead if lead and lead.is_for(place) else None
        adapter = self._delivery.adapters.get(debt.platform)
        spell = partial(self._delivery.speller.spell, adapter)
        note = spell(settling.note_thrift(connection, end, active, reader))
        words = told if is_answer else spell(told)
        parts = adapter.split(words + note) if adapter else (words + note,)
        if is_fresh:  # then it has shown, made and asked nothing so far
            return settling.owe_parts(connection, debt, parts, now, Stage(lead=lead)), standing
        live, status = outbox.find_shown(connection, turn_id=active.id)
        undo = settling.offer_undo(connection, active, tools)
        stage = Stage(live=live, status=status, lead=lead, buttons=undo)
        rows = settling.owe_parts(connection, debt, parts, now, stage)
        rows += settling.owe_files(connection, debt, adapter, now)
        return [*rows, *self._questions.end_of_turn(connection, active.id, now)], standing

    async def abandon(self, turn: Turn) -> None:
        """End a turn whose transcript can't be read or added to. Raises `StoreError`.

        That of a job tells nobody by itself: it is a failure of the job's run.
        """
        now = self._now()
        debt = Debt(
            platform=turn.platform,
            chat=turn.chat,
            body=wording.describe_damage(turn.id),
            person_id=turn.person_id,
            turn_id=turn.id,
            answers=turn.answers,
        )

        def work(connection: Connection) -> list[OutboxRow]:
            turns.end(
                connection, turn_id=turn.id, state="failed", reason="damaged", model="", now=now
            )
            inbox.finish_turn(connection, turn_id=turn.id)
            if job_runs.find_of_turn(connection, turn_id=turn.id) is not None:
                rows = [*self._outcomes.break_off(connection, turn, now)]
            else:
                live, status = outbox.find_shown(connection, turn_id=turn.id)
                stage = Stage(live=live, status=status)
                rows = settling.owe_parts(connection, debt, (debt.body,), now, stage)
            return [*rows, *self._questions.end_of_turn(connection, turn.id, now)]

        self._delivery.owe(await self._database.write("turns.abandon", work))
        self._outcomes.ring()

    async def let_go(self, pending: Pending) -> None:
        """What was to be a turn is none: where it was that of a run that is gone or over, nobody
        begins it again. Raises `StoreError`.
        """
        if pending.errand is None:
            return
        run_id = pending.errand.run_id

        def work(connection: Connection) -> None:
            run = job_runs.find(connection, run_id=run_id)
            if run is None or run.state != "running":
                for inbox_id in pending.inbox_ids:
                    inbox.finish(connection, inbox_id=inbox_id, reason="its run is gone")

        await self._database.write("turns.let_go", work)
        self._outcomes.ring()

    def owing(self, active: ActiveTurn, place: Place) -> Debt:
        """What a turn owes to its place, still without words; it rings outside quiet hours."""
        person = active.person
        return Debt(
            platform=place.platform,
            chat=place.chat,
            body="",
            person_id=person.id,
            turn_id=active.id,
            answers=place.answers,
            is_silent=hours.is_quiet(person, self._zone_of(person), self._now()),
        )


def _make(connection: Connection, active: ActiveTurn, told: str) -> Made:
    """What the turn of a job has made."""
    made = files.list_of_turn(connection, turn_id=active.id)
    return Made(words=told, files=tuple((file.key, file.name) for file in made), turn_id=active.id)


def place_of(turn: Turn) -> Place:
    """Where a turn is answered, as the database has it."""
    return Place(platform=turn.platform, chat=turn.chat, answers=turn.answers)
