"""One turn end to end: claim, run the agent, present, settle in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from agent_core.active import ActiveTurn
from agent_core.agent import Agent
from agent_core.errors import StoreDamaged, StoreError
from agent_core.events import TurnEnded
from agent_core.host import Host, Steer
from agent_core.ids import InboxId
from agent_core.schedule.errand import Errand
from agent_core.state import inbox, job_runs, outbox, people, sessions, skills, turns
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.people import Person
from agent_core.state.sessions import Conversation
from agent_core.state.turns import Turn
from agent_core.tools.asking import LeftOpen
from agent_core.transcript import mend_text
from gateway import settling, translate, wording
from gateway.asking import Asking
from gateway.beginnings import LateBeginning
from gateway.delivery import Delivery
from gateway.endings import Endings, place_of
from gateway.errands import find_errand
from gateway.freshness import OutOfDate, find_asked
from gateway.outcomes import Outcomes
from gateway.presenter import Presenter
from gateway.reins import Reins
from gateway.suspicion import is_convicted
from gateway.translate import Pending, Place

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0

Opened = tuple[OutboxRow | None, OutboxRow | None]
"""The live message and the status line that a turn has, if any."""


class LaneHost(Host, Protocol):
    """What the core sees of a lane, and what the lane has to take back after a turn."""

    def settle_steers(self, claimed: frozenset[InboxId]) -> None:
        """Put back at the front what was handed out and not claimed."""


class Turns:
    """Runs turns, one call a turn; whose turn may run when is the lanes' business."""

    def __init__(
        self,
        *,
        database: Database,
        agent: Agent,
        delivery: Delivery,
        asking: Asking,
        outcomes: Outcomes,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._agent = agent
        self._delivery = delivery
        self._adapters = delivery.adapters
        self._questions = asking.questions
        self._asking = asking
        self._now = now
        self.zone_of = outcomes.zone_of
        """The IANA time zone that a person lives by."""
        self._endings = Endings(
            database=database,
            agent=agent,
            delivery=delivery,
            questions=asking.questions,
            outcomes=outcomes,
            now=now,
        )

    def word_steer(self, pending: Pending) -> Steer:
        """A waiting message as it goes into a running turn."""
        return translate.steer(pending, zone=self.zone_of(pending.person), now=self._now())

    async def start(self, batch: Sequence[Pending], host: LaneHost, reins: Reins) -> None:
        """Run a turn over waiting messages of one conversation.

        It is begun on disk with the first of it that has to last, or after a moment; but
        before all else where it may have ended a process or could not be begun before, and
        where it opens a session, so that there is one to be closed.
        Raises `StoreError` if it could not be begun, and `OutOfDate` if it is to be begun
        otherwise; nothing is claimed then.
        """
        newest = batch[-1]
        reins.is_worded = False
        prepared = await self._agent.prepare(
            newest.conversation,
            newest.person,
            platform=newest.platform,
            room_id=newest.room_id,
            errand=newest.errand,
        )
        now = self._now()
        zone = self.zone_of(newest.person)
        reins.is_worded = True  # an edit that comes later comes too late
        news = prepared.news
        said = tuple(
            translate.said(pending, zone=zone, now=now, news=news if pending is batch[0] else ())
            for pending in batch
        )
        active = self._agent.draft(prepared, said, newest.errand)
        inbox_ids = [inbox_id for pending in batch for inbox_id in pending.inbox_ids]

        def begin(connection: Connection) -> None:
            asked = find_asked(connection, newest, prepared, is_stopped=reins.is_pulled())
            self._agent.begin(connection, active, asked, now)
            is_over = active.journal.is_over
            inbox.claim(connection, inbox_ids=inbox_ids, turn_id=active.id, is_over=is_over)
            if newest.errand:
                if not job_runs.attach(connection, run_id=newest.errand.run_id, turn_id=active.id):
                    raise OutOfDate
                for name in newest.errand.skills:
                    skills.note_use(connection, name=name, now=now)

        active.journal.begin_with(begin)
        try:
            is_suspect = reins.is_wary or any(pending.is_repeat for pending in batch)
            if is_suspect or prepared.session is None:
                await active.journal.begin()
            await self._run(active, (None, None), host, reins)
        except OutOfDate:
            await active.journal.write_off()
            await self._endings.let_go(newest)
            raise

    async def resume(self, turn: Turn, host: LaneHost, reins: Reins) -> None:
        """Take up a turn that an earlier process left.

        One that ends processes, or whose platform is no longer on, is settled as failed: the
        conversation has to go on, there or elsewhere. Raises `StoreError` if it could not be
        taken up; it stands as it stood then.
        """
        reins.place = place_of(turn)
        reins.asker = turn.person_id
        reins.is_resumed = True
        active, opened = await self._take_up(turn)
        if turn.platform not in self._adapters:
            await self._interrupt(active, "off")
            return
        if is_convicted(turn.attempts):
            if turn.answers is not None:
                self._delivery.signs.unsee(turn.platform, turn.chat, turn.answers)
            await self._interrupt(active, "crashed")
            return
        await self._database.write(
            "turns.attempt", lambda c: turns.count_attempt(c, turn_id=turn.id)
        )
        await self._run(active, opened, host, reins)

    async def move(self, reins: Reins, place: Place) -> bool:
        """Answer a running turn elsewhere from now on; False if it is over by now.

        What it showed so far says where it went on; what it still asks is asked there.
        Raises `StoreError`.
        """
        active, old = reins.active, reins.place
        if active is None or old is None or reins.is_over:
            return False
        if (old.platform, old.chat) == (place.platform, place.chat):
            return True
        now = self._now()

        def work(connection: Connection) -> list[OutboxRow] | None:
            active.journal.ensure_begun(connection)
            if not turns.is_running(connection, turn_id=active.id):
                return None
            turns.move(connection, turn_id=active.id, place=place.fields)
            rows = settling.leave(connection, active.id, wording.describe_move(place.platform))
            where = (place.platform, place.chat)
            return [*rows, *self._questions.move(connection, active.id, where, now)]

        try:
            rows = await self._database.write("turns.move", work)
        except OutOfDate:
            return False  # it will be begun otherwise, where it was asked for
        if rows is None:
            return False
        reins.place = place
        if reins.presenter:
            reins.presenter.move(self._adapters[place.platform], self._endings.owing(active, place))
        self._delivery.owe(rows)
        return True

    async def refuse(self, batch: Sequence[Pending], error: Exception) -> None:
        """Set messages aside that no turn can be begun with, and say so. Raises `StoreError`."""
        place = translate.place_of(batch)
        now = self._now()
        why = str(error) if isinstance(error, StoreError) else ""
        debt = Debt(
            platform=place.platform,
            chat=place.chat,
            body=wording.describe_refused_begin(why),
            person_id=batch[-1].person.id,
            answers=place.answers,
        )

        def work(connection: Connection) -> list[OutboxRow]:
            for pending in batch:
                for inbox_id in pending.inbox_ids:
                    inbox.park(connection, inbox_id=inbox_id, reason=repr(error))
            if batch[-1].errand:
                return []  # its job tells of failures, and not of each
            return [outbox.owe(connection, debt, now=now)]

        self._delivery.owe(await self._database.write("turns.refuse", work))

    async def give_up(self, active: ActiveTurn) -> bool:
        """Settle a turn that an unexpected error ended; False if it can't even be begun.

        Raises `StoreError` and `OutOfDate`.
        """
        turn = await self._database.read(lambda c: turns.find(c, turn_id=active.id))
        if turn is None and active.journal.cannot_begin:
            return False
        if turn and turn.state != "running":
            return True
        try:
            await self._interrupt(active, "error")
        except StoreDamaged:
            if turn is None:
                raise
            await self.abandon(turn)
        return True

    async def abandon(self, turn: Turn) -> None:
        """End a turn whose transcript can't be read or added to. Raises `StoreError`."""
        await self._endings.abandon(turn)

    def forget_words(self) -> None:
        """Words, files or people are gone: nothing that was read of them is kept at hand."""
        self._agent.forget_words()

    def forget_talks(self) -> None:
        """Something was done to talks beside their turns."""
        self._agent.forget_talks()

    async def _take_up(self, turn: Turn) -> tuple[ActiveTurn, Opened]:
        """A begun turn as the database has it, with what shows it. Raises `StoreError`."""

        def look(
            connection: Connection,
        ) -> tuple[Conversation, Person | None, Opened, Errand | None]:
            return (
                sessions.get_conversation(
                    connection, conversation_id=turn.conversation_id, person_id=turn.person_id
                ),
                people.find(connection, person_id=turn.person_id),
                outbox.find_shown(connection, turn_id=turn.id),
                find_errand(connection, turn.id, self._now()),
            )

        conversation, person, opened, errand = await self._database.read(look)
        if person is None:
            raise StoreDamaged(f"turn {turn.id} belongs to nobody")
        return await self._agent.resume(turn, conversation, person, errand), opened

    async def _run(
        self,
        active: ActiveTurn,
        opened: Opened,
        host: LaneHost,
        reins: Reins,
    ) -> None:
        """Play a turn and settle it; while the store can't be written, wait and go on.

        Raises `StoreError` only where nothing of it was written. Once it is begun no caller
        may begin it again, whatever the store refuses.
        """
        while True:
            reins.active = active
            try:
                async with LateBeginning(active, reins):
                    ended, tools = await self._play(active, opened, host, reins)
                break
            except StoreDamaged:
                raise
            except StoreError as error:
                if not active.journal.is_begun:
                    reins.let_go()
                    raise
                _log.error("turn %d waits for the store: %s", active.id, error)
            finally:
                host.settle_steers(frozenset(active.journal.claimed))
            active, opened = await self._wait_for_store(active)
        if ended.ending == "suspended":
            await self._database.write(
                "turns.suspend", lambda c: turns.forgive_attempt(c, turn_id=active.id)
            )
        else:
            reins.is_over = True
            await self._endings.settle(active, ended, tools, reins.place)

    async def _wait_for_store(self, active: ActiveTurn) -> tuple[ActiveTurn, Opened]:
        """The turn as it stands on disk, once the disk can be read. Raises `StoreDamaged`."""
        while True:
            await asyncio.sleep(_STORE_PAUSE)
            try:
                turn = await self._database.read(lambda c: turns.find(c, turn_id=active.id))
                assert turn is not None  # noqa: S101 - no turn is ever deleted
                return await self._take_up(turn)
            except StoreDamaged:
                raise
            except StoreError as error:
                _log.error("turn %d still waits for the store: %s", active.id, error)

    async def _play(
        self, active: ActiveTurn, opened: Opened, host: Host, reins: Reins
    ) -> tuple[TurnEnded, Sequence[str]]:
        """Run a turn and show it; gives how it ended, and the tools that were called."""
        ended = TurnEnded(ending="stopped", text="")
        if reins.is_pulled() or reins.place is None:
            active.journal.interrupt()
            return ended, ()
        presenter = reins.presenter = Presenter(
            self._delivery,
            self._adapters[reins.place.platform],
            self._endings.owing(active, reins.place),
            opened=opened,
            verbosity=active.person.verbosity,
            is_hidden=active.errand is not None,
        )
        self._asking.shown_by(active.id, presenter)
        if reins.is_resumed:
            presenter.assume_seen()
        try:
            async with reins.stoppable(), aclosing(self._agent.run(active, host)) as events:
                async for event in events:
                    presenter.show(event)
                    if isinstance(event, TurnEnded):
                        ended = event
        except TimeoutError:
            if not reins.is_pulled():
                if reins.is_cut:
                    raise OutOfDate from None
                raise
            active.journal.interrupt()
            ended = TurnEnded(ending="stopped", text=mend_text(presenter.text))
        except LeftOpen:
            ended = TurnEnded(ending="suspended", text="")
        finally:
            presenter.close()
            self._asking.shown_by(active.id, None)
            reins.presenter = None
        return ended, presenter.tools

    async def _interrupt(self, active: ActiveTurn, reason: str) -> None:
        """Settle a turn that will not be gone on with. Raises `StoreDamaged`."""
        active.journal.interrupt()
        await self._endings.settle(active, TurnEnded(ending="failed", text="", reason=reason))
