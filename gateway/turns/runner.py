"""One turn end to end: claim, run the agent, present, settle in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Protocol

from agent_core.agent.active_turn import ActiveTurn
from agent_core.agent.agent import Agent
from agent_core.errors import StoreDamaged, StoreError
from agent_core.events import TurnEnded
from agent_core.host import Host, Steer
from agent_core.ids import InboxId
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import sessions, turns
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import Turn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.memory import skills
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.user_questions import QuestionPending
from agent_core.transcript import mend_text
from gateway import conversion
from gateway.conversion import Place, QueuedMessage
from gateway.jobs.agent_runs import find_errand
from gateway.jobs.outcomes import Outcomes
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.texts import general
from gateway.turns import finalizer
from gateway.turns.crash_backoff import is_convicted
from gateway.turns.finalizer import TurnFinalizer, place_of
from gateway.turns.handle import TurnHandle
from gateway.turns.presenter import Presenter
from gateway.turns.staleness import StaleTurn, find_asked
from gateway.turns.user_prompts import UserPrompts

_log = logging.getLogger(__name__)

_MOMENT = 0.15
"""Seconds in which a turn may be over, and then takes one commit instead of two. Whatever is
shown of a turn before its answer is shown later than this."""


class DeferredStart:
    """Around a running turn. Until it is begun, a crash leaves its messages as they came in."""

    def __init__(self, active: ActiveTurn, handle: TurnHandle) -> None:
        self._active = active
        self._handles = handle
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        if not self._active.journal.is_begun:
            self._timer = asyncio.get_running_loop().call_later(_MOMENT, self._begin)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer:
            self._timer.cancel()
        if self._task:
            await self._task

    def _begin(self) -> None:
        if not self._active.journal.is_begun:
            self._task = asyncio.create_task(self._write())

    async def _write(self) -> None:
        """What the store refuses now, the next record of the turn tries again."""
        try:
            await self._active.journal.begin()
        except StaleTurn:
            self._handles.split()
        except StoreError as error:
            _log.error("turn %d is not begun on disk yet: %s", self._active.id, error)


_STORE_PAUSE = 5.0

Opened = tuple[OutboxRow | None, OutboxRow | None]
"""The live message and the status line that a turn has, if any."""


class LaneHost(Host, Protocol):
    """What the core sees of a lane, and what the lane has to take back after a turn."""

    def return_unclaimed(self, claimed: frozenset[InboxId]) -> None:
        """Put back at the front what was handed out and not claimed."""


class TurnRunner:
    """Runs turns, one call a turn; whose turn may run when is the lanes' business."""

    def __init__(
        self,
        *,
        database: Database,
        agent: Agent,
        dispatcher: OutboxDispatcher,
        user_prompts: UserPrompts,
        outcomes: Outcomes,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._agent = agent
        self._dispatcher = dispatcher
        self._adapters = dispatcher.adapters
        self._questions = user_prompts.questions
        self._user_prompts = user_prompts
        self._now = now
        self.zone_of = outcomes.zone_of
        """The IANA time zone that a person lives by."""
        self._finalizer = TurnFinalizer(
            database=database,
            agent=agent,
            dispatcher=dispatcher,
            questions=user_prompts.questions,
            outcomes=outcomes,
            now=now,
        )

    def format_steer(self, pending: QueuedMessage) -> Steer:
        """A waiting message as it goes into a running turn."""
        return conversion.steer(pending, zone=self.zone_of(pending.person), now=self._now())

    async def start(
        self, batch: Sequence[QueuedMessage], host: LaneHost, handle: TurnHandle
    ) -> None:
        """Run a turn over waiting messages of one conversation.

        It is begun on disk with the first of it that has to last, or after a moment; but
        before all else where it may have ended a process or could not be begun before, and
        where it opens a session, so that there is one to be closed.
        Raises `StoreError` if it could not be begun, and `StaleTurn` if it is to be begun
        otherwise; nothing is claimed then.
        """
        newest = batch[-1]
        handle.is_worded = False
        prepared = await self._agent.prepare(
            newest.conversation,
            newest.person,
            platform=newest.platform,
            room_id=newest.room_id,
            job_turn=newest.job_turn,
        )
        now = self._now()
        zone = self.zone_of(newest.person)
        handle.is_worded = True  # an edit that comes later comes too late
        news = prepared.news
        said = tuple(
            conversion.said(pending, zone=zone, now=now, news=news if pending is batch[0] else ())
            for pending in batch
        )
        active = self._agent.create_turn(prepared, said, newest.job_turn)
        inbox_ids = [inbox_id for pending in batch for inbox_id in pending.inbox_ids]

        def begin(connection: Connection) -> None:
            asked = find_asked(connection, newest, prepared, is_stopped=handle.is_stop_requested())
            self._agent.insert_turn(connection, active, asked, now)
            is_over = active.journal.is_over
            inbox.claim(connection, inbox_ids=inbox_ids, turn_id=active.id, is_over=is_over)
            if newest.job_turn:
                if not job_runs.attach(
                    connection, run_id=newest.job_turn.run_id, turn_id=active.id
                ):
                    raise StaleTurn
                for name in newest.job_turn.skills:
                    skills.note_use(connection, name=name, now=now)

        active.journal.begin_with(begin)
        try:
            is_suspect = handle.is_wary or any(pending.is_repeat for pending in batch)
            if is_suspect or prepared.session is None:
                await active.journal.begin()
            await self._run(active, (None, None), host, handle)
        except StaleTurn:
            await active.journal.write_off()
            await self._finalizer.drop_stale(newest)
            raise

    async def resume(self, turn: Turn, host: LaneHost, handle: TurnHandle) -> None:
        """Take up a turn that an earlier process left.

        One that ends processes, or whose platform is no longer on, is settled as failed: the
        conversation has to go on, there or elsewhere. Raises `StoreError` if it could not be
        taken up; it stands as it stood then.
        """
        handle.place = place_of(turn)
        handle.asker = turn.person_id
        handle.is_resumed = True
        active, opened = await self._take_up(turn)
        if turn.platform not in self._adapters:
            await self._interrupt(active, "off")
            return
        if is_convicted(turn.attempts):
            if turn.answers is not None:
                self._dispatcher.indicators.unsee(turn.platform, turn.chat, turn.answers)
            await self._interrupt(active, "crashed")
            return
        await self._database.write(
            "turns.attempt", lambda c: turns.count_attempt(c, turn_id=turn.id)
        )
        await self._run(active, opened, host, handle)

    async def move(self, handle: TurnHandle, place: Place) -> bool:
        """Answer a running turn elsewhere from now on; False if it is over by now.

        What it showed so far says where it went on; what it still asks is asked there.
        Raises `StoreError`.
        """
        active, old = handle.active, handle.place
        if active is None or old is None or handle.is_over:
            return False
        if (old.platform, old.chat) == (place.platform, place.chat):
            return True
        now = self._now()

        def work(connection: Connection) -> list[OutboxRow] | None:
            active.journal.ensure_begun(connection)
            if not turns.is_running(connection, turn_id=active.id):
                return None
            turns.move(connection, turn_id=active.id, place=place.fields)
            rows = finalizer.leave(connection, active.id, general.describe_move(place.platform))
            where = (place.platform, place.chat)
            return [*rows, *self._questions.move(connection, active.id, where, now)]

        try:
            rows = await self._database.write("turns.move", work)
        except StaleTurn:
            return False  # it will be begun otherwise, where it was asked for
        if rows is None:
            return False
        handle.place = place
        if handle.presenter:
            handle.presenter.move(
                self._adapters[place.platform], self._finalizer.compose_reply(active, place)
            )
        self._dispatcher.enqueue(rows)
        return True

    async def refuse(self, batch: Sequence[QueuedMessage], error: Exception) -> None:
        """Set messages aside that no turn can be begun with, and say so. Raises `StoreError`."""
        place = conversion.place_of(batch)
        now = self._now()
        why = str(error) if isinstance(error, StoreError) else ""
        outgoing = NewOutboxMessage(
            platform=place.platform,
            chat=place.chat,
            body=general.describe_refused_begin(why),
            person_id=batch[-1].person.id,
            answers=place.answers,
        )

        def work(connection: Connection) -> list[OutboxRow]:
            for pending in batch:
                for inbox_id in pending.inbox_ids:
                    inbox.park(connection, inbox_id=inbox_id, reason=repr(error))
            if batch[-1].job_turn:
                return []  # its job tells of failures, and not of each
            return [outbox.enqueue(connection, outgoing, now=now)]

        self._dispatcher.enqueue(await self._database.write("turns.refuse", work))

    async def give_up(self, active: ActiveTurn) -> bool:
        """Settle a turn that an unexpected error ended; False if it can't even be begun.

        Raises `StoreError` and `StaleTurn`.
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
        await self._finalizer.abandon(turn)

    def forget_words(self) -> None:
        """Words, files or people are gone: nothing that was read of them is kept at hand."""
        self._agent.clear_caches()

    def invalidate_conversations(self) -> None:
        """Something was done to talks beside their turns."""
        self._agent.invalidate_conversations()

    async def _take_up(self, turn: Turn) -> tuple[ActiveTurn, Opened]:
        """A begun turn as the database has it, with what shows it. Raises `StoreError`."""

        def look(
            connection: Connection,
        ) -> tuple[Conversation, Person | None, Opened, JobTurn | None]:
            return (
                sessions.get_conversation(
                    connection, conversation_id=turn.conversation_id, person_id=turn.person_id
                ),
                people.find(connection, person_id=turn.person_id),
                outbox.find_shown(connection, turn_id=turn.id),
                find_errand(connection, turn.id, self._now()),
            )

        conversation, person, opened, job_turn = await self._database.read(look)
        if person is None:
            raise StoreDamaged(f"turn {turn.id} belongs to nobody")
        return await self._agent.resume(turn, conversation, person, job_turn), opened

    async def _run(
        self,
        active: ActiveTurn,
        opened: Opened,
        host: LaneHost,
        handle: TurnHandle,
    ) -> None:
        """Play a turn and settle it; while the store can't be written, wait and go on.

        Raises `StoreError` only where nothing of it was written. Once it is begun no caller
        may begin it again, whatever the store refuses.
        """
        while True:
            handle.active = active
            try:
                async with DeferredStart(active, handle):
                    ended, tools = await self._play(active, opened, host, handle)
                break
            except StoreDamaged:
                raise
            except StoreError as error:
                if not active.journal.is_begun:
                    handle.drop_stale()
                    raise
                _log.error("turn %d waits for the store: %s", active.id, error)
            finally:
                host.return_unclaimed(frozenset(active.journal.claimed))
            active, opened = await self._wait_for_store(active)
        if ended.ending == "suspended":
            await self._database.write(
                "turns.suspend", lambda c: turns.forgive_attempt(c, turn_id=active.id)
            )
        else:
            handle.is_over = True
            await self._finalizer.finalize(active, ended, tools, handle.place)

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
        self, active: ActiveTurn, opened: Opened, host: Host, handle: TurnHandle
    ) -> tuple[TurnEnded, Sequence[str]]:
        """Run a turn and show it; gives how it ended, and the tools that were called."""
        ended = TurnEnded(ending="stopped", text="")
        if handle.is_stop_requested() or handle.place is None:
            active.journal.interrupt()
            return ended, ()
        presenter = handle.presenter = Presenter(
            self._dispatcher,
            self._adapters[handle.place.platform],
            self._finalizer.compose_reply(active, handle.place),
            opened=opened,
            verbosity=active.person.verbosity,
            is_hidden=active.job_turn is not None,
        )
        self._user_prompts.shown_by(active.id, presenter)
        if handle.is_resumed:
            presenter.assume_seen()
        try:
            async with handle.stoppable(), aclosing(self._agent.run(active, host)) as events:
                async for event in events:
                    presenter.show(event)
                    if isinstance(event, TurnEnded):
                        ended = event
        except TimeoutError:
            if not handle.is_stop_requested():
                if handle.is_cut:
                    raise StaleTurn from None
                raise
            active.journal.interrupt()
            ended = TurnEnded(ending="stopped", text=mend_text(presenter.text))
        except QuestionPending:
            ended = TurnEnded(ending="suspended", text="")
        finally:
            presenter.close()
            self._user_prompts.shown_by(active.id, None)
            handle.presenter = None
        return ended, presenter.tools

    async def _interrupt(self, active: ActiveTurn, reason: str) -> None:
        """Settle a turn that will not be gone on with. Raises `StoreDamaged`."""
        active.journal.interrupt()
        await self._finalizer.finalize(active, TurnEnded(ending="failed", text="", reason=reason))
