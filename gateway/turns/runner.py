"""Run one turn from its messages to its last transaction."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from adapters.ids import EventId
from adapters.messages import InboundMessage, RawEvent
from agent_core.agent.agent import Agent
from agent_core.agent.journal import TurnJournal
from agent_core.agent.new_turn import NewTurn, insert_turn
from agent_core.agent.turn import ActiveTurn
from agent_core.agent.wishes import NO_WISHES, ProgramWishes
from agent_core.chats import Chat, Place
from agent_core.errors import StoreDamaged, StoreError
from agent_core.events import Event, ModelFault, ModelOutage, TurnEnded
from agent_core.ids import set_turn
from agent_core.localization import use_language
from agent_core.schedule.resources import JobTurn
from agent_core.state.conversations import plans, sessions, turns
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.user_questions import QuestionPending
from agent_core.transcript import repair_text
from agent_core.written_language import find_written
from gateway.chats import make_chat
from gateway.job_turns import find_job_turn
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.texts import general
from gateway.texts import models as model_texts
from gateway.turns.answer_messages import end_live, end_shown
from gateway.turns.answer_place import is_hidden
from gateway.turns.beginning import DeferredStart, StaleTurn, attach_to_run, find_asked
from gateway.turns.finalizer import TurnFinalizer
from gateway.turns.handle import Phase, TurnHandle
from gateway.turns.host import TurnHost
from gateway.turns.model_messages import find_wishes, make_user_messages
from gateway.turns.presenter import (
    LiveEnding,
    Presenter,
    PresenterTimings,
    ShownWords,
    find_shown,
)

_log = logging.getLogger(__name__)


Leave = Callable[[TurnHandle], Awaitable[None]]
"""Moves a running turn to its person's direct chat, or stops it."""


class TurnRunner:
    """Runs turns, one call per turn; lanes decide which turn runs when."""

    def __init__(
        self,
        *,
        database: Database,
        agent: Agent,
        dispatcher: OutboxDispatcher,
        questions: Questions,
        finalizer: TurnFinalizer,
        note_fault: Callable[[ModelFault], Awaitable[None]],
        wake_jobs: Callable[[], None],
        zone_of: Callable[[Person], str],
        now: Callable[[], int],
        start_delay: float,
        outage_pace: float,
        display: PresenterTimings,
    ) -> None:
        """`note_fault` is called with a fault of a model that only an owner can end.

        `start_delay` is in seconds; see `DeferredStart`. `outage_pace` is a factor of the pauses
        between two tries of a model that does not answer.
        """
        self._database = database
        self._agent = agent
        self._dispatcher = dispatcher
        self._adapters = dispatcher.adapters
        self._questions = questions
        self._finalizer = finalizer
        self._note_fault = note_fault
        self._wake_jobs = wake_jobs
        self._zone_of = zone_of
        self._now = now
        self._start_delay = start_delay
        self._outage_pace = outage_pace
        self._display = display

    async def start(self, handle: TurnHandle) -> None:
        """Run a turn over the messages of `handle.batch`.

        The turn begins on disk with its first record that must survive a crash, or after a short
        delay. In three cases it begins before the first model call: it may have crashed a process,
        it could not begin earlier, or it opens a session, which must exist so that it can be
        closed. Raises `StoreError` if it can't begin, and `StaleTurn` if its messages have to be
        routed again; nothing is claimed then.
        """
        batch, newest = handle.batch, handle.batch[-1]
        if handle.unstored:
            await handle.unstored.journal.write_off()
        prepared = await self._agent.prepare(
            newest.conversation,
            newest.person,
            platform=newest.platform,
            room_id=newest.room_id,
            job_turn=newest.job_turn,
            wishes=find_wishes(newest.message),
        )
        now = self._now()
        zone = self._zone_of(newest.person)
        handle.phase = Phase.DRAFTED
        request = "\n".join(pending.message.text for pending in batch)
        news = (*prepared.news, *self._agent.suggest_skills(prepared, request))
        if newest.job_turn is None:
            news += await self._agent.recall_past(prepared, request)
        said = make_user_messages(batch, zone=zone, now=now, news=news, shown=prepared.shown)
        active = self._agent.create_turn(prepared, said, newest.job_turn)
        set_turn(active.id)
        new = NewTurn(prepared=prepared, said=said, now=now, inbox_ids=handle.inbox_ids())
        stop = handle.stop

        def begin(connection: Connection, journal: TurnJournal) -> None:
            asked = find_asked(connection, newest, prepared, is_stopped=stop.is_requested())
            insert_turn(connection, journal, new, asked)
            if newest.job_turn:
                attach_to_run(connection, journal.shelf.turn_id, newest.job_turn, now)

        active.journal.begin_with(begin)
        try:
            is_repeat = any(pending.is_repeat for pending in batch)
            if handle.unstored or is_repeat or prepared.session is None:
                await active.journal.begin()
            await self._run(active, ShownWords(), handle)
        except StaleTurn:
            await active.journal.write_off()
            await self._finalizer.discard_stale(newest)
            raise
        except StoreDamaged:
            raise
        except StoreError:
            if not active.journal.is_begun:
                handle.active, handle.phase = None, Phase.RETRYING
                handle.unstored = active
            raise

    async def resume(
        self, turn: StoredTurn, handle: TurnHandle, leave: Leave | None, *, is_abandoned: bool
    ) -> None:
        """Continue a turn of an earlier process.

        A turn that crashed too often is abandoned and fails. So does one whose platform is off
        now: the conversation has to go on. `leave` moves a private turn out of a chat that others
        may read by now. Raises `StoreError`, and leaves the turn as it was.
        """
        handle.place, handle.asker = turn.place, turn.person_id
        set_turn(turn.id)
        active, shown = await self._load(turn)
        if leave and active.conversation.is_private and not is_hidden(active):
            handle.active = active
            await leave(handle)
            shown = await self._database.read(find_shown, turn.id)
        if turn.place.chat.platform not in self._adapters:
            await self._finalizer.fail(active, "off")
        elif is_abandoned:
            for message in await self._find_read(active, handle.place):
                self._dispatcher.indicators.unmark(*message)
            await self._finalizer.fail(active, "crashed")
        else:
            await self._database.write("turns.attempt", turns.count_attempt, turn_id=turn.id)
            await self._run(active, shown, handle)

    async def move(self, handle: TurnHandle, place: Place) -> bool:
        """Answer a running turn in another chat; False if it is over by now.

        Its messages so far say where it continues, and its open questions are asked there.
        Raises `StoreError`.
        """
        active = handle.active
        if active is None or handle.phase is Phase.OVER:
            return False
        if handle.is_answered_in(place.chat):
            return True
        now = self._now()

        def work(connection: Connection) -> list[OutboxRow] | None:
            active.journal.ensure_begun(connection)
            if not turns.is_running(connection, turn_id=active.id):
                return None
            turns.move(connection, turn_id=active.id, place=place)
            with use_language(active.person.language):
                note = general.describe_move(place.chat.platform)
            rows = end_shown(connection, active.id, note)
            return [*rows, *self._questions.move(connection, active.id, place.chat, now)]

        try:
            rows = await self._database.write("turns.move", work)
        except StaleTurn:
            return False  # its messages are routed again, and answered where they were written
        if rows is None:
            return False
        handle.place = place
        if handle.presenter:
            reply = self._finalizer.compose_reply(active, place)
            handle.presenter.move(self._adapters[place.chat.platform], reply)
        self._dispatcher.enqueue(rows)
        return True

    async def _load(self, turn: StoredTurn) -> tuple[ActiveTurn, ShownWords]:
        """Read a begun turn and the messages that show it. Raises `StoreError`."""

        def look(
            connection: Connection,
        ) -> tuple[Conversation, Person | None, ShownWords, JobTurn | None]:
            return (
                sessions.get_conversation(
                    connection, conversation_id=turn.conversation_id, person_id=turn.person_id
                ),
                people.find(connection, person_id=turn.person_id),
                find_shown(connection, turn.id),
                find_job_turn(connection, turn.id, self._now()),
            )

        conversation, person, shown, job_turn = await self._database.read(look)
        if person is None:
            raise StoreDamaged(f"turn {turn.id} has no person")
        wishes = await self._find_wishes(turn)
        return await self._agent.resume(turn, conversation, person, job_turn, wishes), shown

    async def _find_wishes(self, turn: StoredTurn) -> ProgramWishes:
        """Read the wishes of the program whose request a turn answers. Raises `StoreError`."""
        rows = await self._database.read(inbox.list_claimed, turn_id=turn.id)
        for row in rows:
            adapter = self._adapters.get(row.platform)
            with suppress(ValueError):
                event = RawEvent(event_id=EventId(row.event_id), payload=row.payload)
                heard = adapter.receive(event) if adapter else None
                if isinstance(heard, InboundMessage) and heard.wishes:
                    return find_wishes(heard)
        return NO_WISHES

    async def _run(self, active: ActiveTurn, shown: ShownWords, handle: TurnHandle) -> None:
        """Run and finalize a turn in one language; see `_run_and_finalize`.

        It is the person's setting, else that of their newest words, else that of their app.
        """
        messages = [pending.message for pending in handle.batch]
        written = [find_written(message.text) for message in reversed(messages)]
        apps = [message.sender.language for message in messages]
        with use_language(*filter(None, (active.person.language, *written, *apps))):
            await self._run_and_finalize(active, shown, handle)

    async def _run_and_finalize(
        self, active: ActiveTurn, shown: ShownWords, handle: TurnHandle
    ) -> None:
        """Play a turn and finalize it; while the store can't be written, wait and continue.

        Raises `StoreError` only if nothing of it was written. A turn on disk is never begun a
        second time, whatever the store refuses.
        """
        host = TurnHost(
            handle,
            zone_of=self._zone_of,
            now=self._now,
            note_fault=self._note_fault,
            pace=self._outage_pace,
        )
        while True:
            handle.active, handle.phase = active, Phase.RUNNING
            try:
                async with DeferredStart(active, handle.stop, self._start_delay):
                    ended, tools = await self._play(active, shown, host, handle)
                break
            except StoreDamaged:
                raise
            except StoreError as error:
                if not active.journal.is_begun:
                    raise
                _log.error("turn %d waits for the store: %s", active.id, error)
            finally:
                host.return_unclaimed(frozenset(active.journal.claimed))
            active, shown = await self._reload(active)
        if ended.ending == "suspended":
            await self._database.write("turns.suspend", turns.uncount_attempt, turn_id=active.id)
            await active.journal.write_off()
        else:
            handle.phase = Phase.OVER
            await self._finalizer.finalize(active, ended, tools, handle.place)

    async def _reload(self, active: ActiveTurn) -> tuple[ActiveTurn, ShownWords]:
        """Read a turn again once the store can be read. Raises `StoreDamaged`."""
        await asyncio.sleep(self._database.retry_pause)

        async def load() -> tuple[ActiveTurn, ShownWords]:
            await active.journal.write_off()
            turn = await self._database.read(turns.find, turn_id=active.id)
            assert turn is not None  # noqa: S101 - no turn is ever deleted
            return await self._load(turn)

        return await self._database.retry_while_unavailable(load, f"turn {active.id}")

    async def _play(
        self, active: ActiveTurn, shown: ShownWords, host: TurnHost, handle: TurnHandle
    ) -> tuple[TurnEnded, Sequence[str]]:
        """Run a turn and show it; return its ending and the names of the tools it called."""
        if handle.stop.is_requested() or handle.place is None:
            active.journal.interrupt()
            return TurnEnded(ending="stopped", text=""), ()
        presenter = handle.presenter = Presenter(
            self._dispatcher,
            self._adapters[handle.place.chat.platform],
            self._finalizer.compose_reply(active, handle.place),
            shown=shown,
            verbosity="hidden" if is_hidden(active) else active.person.verbosity,
            timings=self._display,
        )
        await self._show_kept_plan(active, presenter)
        host.assume_seen(handle.batch)
        if not handle.batch:
            for message in await self._find_read(active, handle.place):
                presenter.assume_seen(*message)

        async def show(event: Event) -> None:
            await self._follow_steers(active, presenter, handle)
            presenter.show(event)
            if isinstance(event, ModelOutage):
                self._show_outage(active, event, presenter)

        try:
            async with handle.stop.scope():
                ended = await self._agent.run(active, host, show)
                await self._follow_steers(active, presenter, handle)
        except TimeoutError:
            if not handle.stop.is_requested():
                if handle.stop.is_stale():
                    raise StaleTurn from None
                raise
            active.journal.interrupt()
            begun = self._dispatcher.mask.hide_growing(repair_text(presenter.text))
            ended = TurnEnded(ending="stopped", text=begun)
        except QuestionPending:
            ended = TurnEnded(ending="suspended", text="")
        finally:
            presenter.close()
            handle.presenter = None
        return ended, presenter.tools

    async def _show_kept_plan(self, active: ActiveTurn, presenter: Presenter) -> None:
        """Show the plan that a turn begins with, unless all is done. Raises `StoreError`."""
        if active.prepared:
            session = active.prepared.session
            plan = session.plan if session else ()
        else:
            owner_id = active.conversation.person_id
            plan = await self._database.read(
                plans.find, session_id=active.session_id, owner_id=owner_id
            )
        if any(item.state != "done" for item in plan):
            presenter.show_plan(*plans.find_current(plan))

    def _show_outage(self, active: ActiveTurn, outage: ModelOutage, presenter: Presenter) -> None:
        """Show that a turn waits for its model, and let another job run have its slot."""
        now, zone = self._now(), self._zone_of(active.person)
        presenter.show_outage(
            model_texts.describe_outage(outage, zone, now), (now - outage.since) / 1000
        )
        if active.job_turn:
            self._wake_jobs()

    async def _find_read(self, active: ActiveTurn, place: Place) -> list[tuple[Chat, str]]:
        """Find the messages that a turn of an earlier process has read, by chat and id.

        Their events stay in the inbox as long as the turn runs. Raises `StoreError`.
        """
        rows = await self._database.read(inbox.list_claimed, turn_id=active.id)
        adapter = self._adapters[place.chat.platform]
        found = [(place.chat, place.answers)] if place.answers else []
        for row in rows:
            with suppress(ValueError):
                event = RawEvent(event_id=EventId(row.event_id), payload=row.payload)
                heard = adapter.receive(event) if row.platform == place.chat.platform else None
                if isinstance(heard, InboundMessage) and heard.message_id:
                    found.append((make_chat(row.platform, heard.address), heard.message_id))
        return found

    async def _follow_steers(
        self, active: ActiveTurn, presenter: Presenter, handle: TurnHandle
    ) -> None:
        """After a further message, finish the live message: the answer then notifies its person."""
        place = handle.place
        if place is None or not presenter.is_steered:
            return
        is_shown = presenter.has_shown()
        text, was_draft = presenter.end_live_message()
        if not is_shown:
            return
        now = self._now()
        reply = self._finalizer.compose_reply(active, place)

        def work(connection: Connection) -> LiveEnding:
            if not was_draft and outbox.find_live(connection, turn_id=active.id) is None:
                return LiveEnding()  # its first sending was refused
            adapter = self._adapters[place.chat.platform]
            return end_live(connection, reply, text, adapter, now)

        ending = await self._database.write("turns.steered", work)
        presenter.continue_below(ending)
        self._dispatcher.enqueue(ending.rows)
