"""End turns: transcript, cost, state, inbox and the answer, in one transaction."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from agent_core.agent.agent import Agent
from agent_core.agent.caches import SessionState
from agent_core.agent.claims.course import Course
from agent_core.agent.review.triggers import EndedTurn, ReviewRules, enqueue_due
from agent_core.agent.titles import enqueue_title
from agent_core.agent.turn import ActiveTurn
from agent_core.chats import Place
from agent_core.errors import StoreDamaged
from agent_core.events import TurnEnded
from agent_core.localization import use_language
from agent_core.schedule.quiet_times import is_quiet
from agent_core.state.conversations import delegated_turns, questions, sessions, turns
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.memory import skill_uses
from agent_core.state.people import deeds
from agent_core.state.people.deeds import Doer, NewDeed
from agent_core.state.people.people import Person
from agent_core.state.queues import agent_messages, inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.transcript import Receipt
from gateway.outbound import question_views
from gateway.outbound.chat_queues import ReservedSlot
from gateway.outbound.command_buttons import make_undo_buttons, offer_retry
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.queued_message import QueuedMessage, place_of_batch
from gateway.texts import general, usage
from gateway.texts.people import quote_name
from gateway.texts.reader_language import speak_to
from gateway.texts.usage import UsageReader
from gateway.turns.answer_messages import (
    ReplyTarget,
    enqueue_files,
    enqueue_reply,
    open_reply,
)
from gateway.turns.answer_place import is_hidden, leave_room
from gateway.turns.answer_text import (
    add_receipts,
    describe_ending,
    describe_refusal,
    leave_out,
    list_done,
    list_interrupted,
    list_receipts,
    note_cheap_model,
    note_interrupted,
)
from gateway.turns.beginning import StaleTurn
from gateway.turns.spoken_answers import enqueue_speech

if TYPE_CHECKING:
    from gateway.jobs.outcomes import Outcomes

_ASKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Over:
    """A turn that ends now."""

    active: ActiveTurn
    end: TurnEnded
    tools: Sequence[str]
    """The names of the tools that it called."""
    now: int

    @property
    def is_answer(self) -> bool:
        """Return whether the model answered; else a notice says why not."""
        return self.end.ending == "answered"

    @property
    def told(self) -> TurnEnded:
        """The ending, without the provider's words where others would read them."""
        return self.end if self.active.conversation.is_private else replace(self.end, detail="")


_Written = tuple[list[OutboxRow], SessionState | None]
"""The messages to deliver, and the session for the agent's cache."""


class TurnFinalizer:
    """Writes the end of turns."""

    def __init__(
        self,
        *,
        database: Database,
        agent: Agent,
        dispatcher: OutboxDispatcher,
        questions: Questions,
        outcomes: "Outcomes",
        review_rules: ReviewRules,
        mail_due: asyncio.Event,
        speech_due: asyncio.Event | None,
        wake_jobs: Callable[[], None],
        zone_of: Callable[[Person], str],
        now: Callable[[], int],
    ) -> None:
        """`mail_due` is set once a task in the background has ended.

        `speech_due` is set once an answer waits to be spoken; None where no program speaks.
        """
        self._database = database
        self._agent = agent
        self._dispatcher = dispatcher
        self._questions = questions
        self._outcomes = outcomes
        self._review_rules = review_rules
        self._mail_due = mail_due
        self._speech_due = speech_due
        self._wake_jobs = wake_jobs
        self._zone_of = zone_of
        self._now = now

    async def finalize(
        self,
        active: ActiveTurn,
        ended: TurnEnded,
        tools: Sequence[str] = (),
        place: Place | None = None,
    ) -> None:
        """End a turn; begin it in the same transaction if it is not on disk yet.

        `place` is the chat that the answer may go to at once. Retries until the store accepts it,
        because the answer is paid for and in memory only. Raises `StoreDamaged`, and `StaleTurn`
        if the turn can't begin as it is.
        """
        over = _Over(active=active, end=ended, tools=tools, now=self._now())

        async def write() -> None:
            slot = self._dispatcher.reserve(place) if place and not is_hidden(active) else None
            try:
                rows, session = await self._database.write(
                    "turns.settle", self._finalize, over, slot
                )
                self._dispatcher.enqueue(rows, slot)
            finally:
                if slot:
                    slot.end()
            if session:
                self._agent.cache_session(active, session)
            if active.job_turn:
                self._wake_jobs()
            if active.conversation.kind == "task":
                self._mail_due.set()
            if self._speech_due and active.person.spoken_answers != "off":
                self._speech_due.set()

        await self._database.retry_while_unavailable(write, f"the end of turn {active.id}")

    async def fail(self, active: ActiveTurn, reason: str, detail: str = "") -> None:
        """End a turn that does not continue. Raises `StoreDamaged`."""
        active.journal.interrupt()
        ended = TurnEnded(ending="failed", text="", reason=reason, detail=detail)
        with use_language(active.person.language):
            await self.finalize(active, ended)

    def _finalize(self, connection: Connection, over: _Over, slot: ReservedSlot | None) -> _Written:
        if over.active.journal.ensure_begun(connection, over.end, over.now):
            return self._end_at_once(connection, over, slot)
        turn = turns.find(connection, turn_id=over.active.id)
        if turn is None or turn.state != "running":
            return [], None  # an earlier attempt was written although it seemed to fail
        return self._end_begun(connection, over, turn.place, slot)

    def _end_at_once(
        self, connection: Connection, over: _Over, slot: ReservedSlot | None
    ) -> _Written:
        """End a turn that this transaction began: it has shown, made and asked nothing so far."""
        # A move begins the turn on disk, so this one is answered where it was asked.
        here = slot.place if slot else _find_place(connection, over.active)
        place, rows = self._choose_place(connection, over, here)
        text, session = self._record(connection, over)
        if is_hidden(over.active):
            return self._report(connection, over, text), session
        _note_idle(connection, over.active, over.now)
        if place:
            target = ReplyTarget(slot=slot)
            rows += self._enqueue_answer(connection, over, place, text, target)
        return rows, session

    def _end_begun(
        self, connection: Connection, over: _Over, here: Place, slot: ReservedSlot | None
    ) -> _Written:
        """End a turn that is on disk, and what it has shown, made and asked since."""
        active = over.active
        place, rows = self._choose_place(connection, over, here)
        text, session = self._record(connection, over)
        inbox.finish_turn(connection, turn_id=active.id)
        if is_hidden(active):
            rows = self._report(connection, over, text)
        elif place:
            receipts = list_receipts(connection, active, over.tools)
            _note_idle(connection, active, over.now)
            several = _note_deeds(connection, active, receipts, over.now)
            if active.wishes.response_schema is None:  # a program reads nothing but the form
                text = add_receipts(text, receipts)
            target = ReplyTarget(
                shown=outbox.find_visible(connection, turn_id=active.id),
                slot=slot,
                buttons=(
                    *make_undo_buttons(connection, active, over.tools, receipts, several),
                    *offer_retry(over.end),
                ),
            )
            sent = turns.list_bodies(connection, turn_id=active.id)
            answer = self._enqueue_answer(connection, over, place, text, target, sent)
            reply = self.compose_reply(active, place)
            adapter = self._dispatcher.adapters.get(place.chat.platform)
            rows = [*answer, *enqueue_files(connection, reply, adapter, over.now), *rows]
        return [*rows, *self._questions.end_of_turn(connection, active.id, over.now)], session

    def _choose_place(
        self, connection: Connection, over: _Over, here: Place
    ) -> tuple[Place | None, list[OutboxRow]]:
        """See `leave_room`."""
        platforms = self._dispatcher.adapters
        return leave_room(connection, over.active, here, platforms, self._questions, over.now)

    def _record(self, connection: Connection, over: _Over) -> tuple[str, SessionState | None]:
        """Write the transcript, the cost and the state of a turn; return the text of its ending."""
        active, end = over.active, over.end
        done = list_done(connection, active, end)
        text = describe_ending(over.told, done, self._make_reader(active))
        session = self._agent.finalize(
            connection,
            active,
            ending=(end.ending, end.reason, end.detail),
            notice="" if over.is_answer else text,
            now=over.now,
        )
        _end_beside(connection, active, over.now)
        return text, session

    def _report(self, connection: Connection, over: _Over, text: str) -> list[OutboxRow]:
        """Report a job's turn; a task's words go to the conversation that gave the task."""
        active = over.active
        if active.job_turn is None or active.conversation.kind == "task":
            return []
        text += note_interrupted(connection, active)
        return [
            *self._outcomes.end_turn(
                connection,
                active.job_turn,
                over.told,
                turn_id=active.id,
                words=text,
                now=over.now,
            )
        ]

    def _enqueue_answer(
        self,
        connection: Connection,
        over: _Over,
        place: Place,
        text: str,
        target: ReplyTarget,
        sent: Sequence[str] = (),
    ) -> list[OutboxRow]:
        """Enqueue the answer or notice, and the work that it gives; `sent` shows part of it."""
        active = over.active
        self._enqueue_tasks(connection, over, place)
        body = self._compose_body(connection, over, text, place.chat.platform)
        if sent:
            body = leave_out(body, sent) or body
        whole = "\n\n".join([*inbox.take_notes(connection, turn_id=active.id), body])
        card = self._questions.find_card(connection, active.id, place.chat, whole)
        if card:
            whole = question_views.join(card, whole)
            target = replace(target, buttons=(*question_views.list_buttons(card), *target.buttons))
        adapter = self._dispatcher.adapters.get(place.chat.platform)
        parts = adapter.split(whole) if adapter else (whole,)
        if target.slot and not target.slot.is_for(place):
            target = replace(target, slot=None)
        reply = self.compose_reply(active, place)
        rows = enqueue_reply(connection, reply, parts, over.now, target)
        if card:  # which fits into one part
            rows[0] = outbox.bind(connection, rows[0], question_id=card.id)
        return rows

    def _compose_body(self, connection: Connection, over: _Over, text: str, platform: str) -> str:
        """Return the text of an answer or notice, with the notes below it."""
        active, reader = over.active, self._make_reader(over.active)
        format_commands = partial(self._dispatcher.format_commands, platform)
        body = text if over.is_answer else format_commands(text)
        body += format_commands(note_cheap_model(connection, over.end, active, reader))
        body += f"\n\n{usage.LEFT_OUT()}" if active.window.has_left_out else ""
        return body + note_interrupted(connection, active)

    def _make_reader(self, active: ActiveTurn) -> UsageReader:
        person = active.person
        zone = self._zone_of(person)
        return UsageReader(zone=zone, now=self._now(), is_owner=person.is_owner)

    def _enqueue_tasks(self, connection: Connection, over: _Over, place: Place) -> None:
        """Enqueue the title of a session, and a review and the speech of an answer."""
        active, now = over.active, over.now
        if active.is_worth_a_title:
            enqueue_title(connection, active, now)
        if over.is_answer and _is_worth_a_review(active):
            ended = EndedTurn(
                id=active.id,
                person_id=active.person.id,
                said=active.journal.evidence,
                tools=over.tools,
            )
            enqueue_due(connection, self._review_rules, ended, now)
        if over.is_answer and self._speech_due and active.person.spoken_answers != "off":
            enqueue_speech(connection, active, place, now)

    async def end_broken(self, active: ActiveTurn, error: Exception) -> bool:
        """End a turn after an unexpected error; False if it can't even be begun.

        Raises `StoreError` and `StaleTurn`.
        """
        turn = await self._database.read(turns.find, turn_id=active.id)
        if turn is None and active.journal.cannot_begin:
            await active.journal.write_off()
            return False
        if turn and turn.state != "running":
            return True
        try:
            await self.fail(active, "error", repr(error))
        except (StoreDamaged, StaleTurn) as failure:
            await active.journal.write_off()
            if turn is None or isinstance(failure, StaleTurn):
                raise
            await self.abandon(turn)
        return True

    async def abandon(self, turn: StoredTurn) -> None:
        """End a turn whose transcript is damaged, and the run of its job. Raises `StoreError`."""
        now = self._now()
        reply = open_reply(turn)
        format_commands = partial(self._dispatcher.format_commands, turn.place.chat.platform)

        def work(connection: Connection) -> list[OutboxRow]:
            turns.end(connection, turn_id=turn.id, state="failed", reason="damaged", now=now)
            skill_uses.end(connection, turn_id=turn.id, outcome="void", now=now)
            turns.mark_untrusted(connection, turn_id=turn.id)  # its messages can't be read to tell
            delegated_turns.stop_all(connection, turn_id=turn.id, now=now)
            self._agent.note_end(connection, turn.id, turn.person_id, now)
            inbox.finish_turn(connection, turn_id=turn.id)
            if job_runs.find_of_turn(connection, turn_id=turn.id) is not None:
                rows = [*self._outcomes.end_damaged_turn(connection, turn, now)]
            else:
                target = ReplyTarget(shown=outbox.find_visible(connection, turn_id=turn.id))
                with speak_to(connection, turn.person_id):
                    doubt = list_interrupted(connection, turn.id, {})
                    note = "\n\n".join(filter(None, (format_commands(general.DAMAGED()), doubt)))
                rows = enqueue_reply(connection, reply, (note,), now, target)
            return [*rows, *self._questions.end_of_turn(connection, turn.id, now)]

        self._dispatcher.enqueue(await self._database.write("turns.abandon", work))
        self._wake_jobs()

    async def refuse(self, batch: Sequence[QueuedMessage], error: Exception) -> None:
        """Park messages that no turn can begin with, and report it. Raises `StoreError`."""
        place = place_of_batch(batch)
        now = self._now()
        newest = batch[-1]
        with use_language(newest.person.language, newest.message.sender.language):
            note = describe_refusal(error)
        outgoing = NewOutboxMessage(
            chat=place.chat,
            body=note,
            person_id=batch[-1].person.id,
            answers=place.answers,
        )

        def work(connection: Connection) -> list[OutboxRow]:
            for pending in batch:
                for inbox_id in pending.inbox_ids:
                    inbox.park(connection, inbox_id=inbox_id, reason=repr(error))
            if batch[-1].job_turn:
                return []  # the job reports the first of several failures only
            return [outbox.enqueue(connection, outgoing, now=now)]

        self._dispatcher.enqueue(await self._database.write("turns.refuse", work))

    async def discard_stale(self, pending: QueuedMessage) -> None:
        """Discard the queued turn of a job run that no longer exists or has finished.

        Raises `StoreError`.
        """
        if pending.job_turn is None:
            return
        run_id = pending.job_turn.run_id

        def work(connection: Connection) -> None:
            run = job_runs.find(connection, run_id=run_id)
            if run is None or run.state != "running":
                for inbox_id in pending.inbox_ids:
                    inbox.finish(connection, inbox_id=inbox_id, reason="its run no longer exists")

        await self._database.write("turns.let_go", work)
        self._wake_jobs()

    def compose_reply(self, active: ActiveTurn, place: Place) -> NewOutboxMessage:
        """Make a turn's answer without its text; silent in its person's quiet hours."""
        person = active.person
        return NewOutboxMessage(
            chat=place.chat,
            body="",
            person_id=person.id,
            turn_id=active.id,
            answers=place.answers,
            is_silent=person.quiet_from is not None
            and is_quiet(person, self._zone_of(person), self._now()),
        )


def _find_place(connection: Connection, active: ActiveTurn) -> Place:
    turn = turns.find(connection, turn_id=active.id)
    assert turn is not None  # noqa: S101 - this transaction has inserted it
    return turn.place


def _end_beside(connection: Connection, active: ActiveTurn, now: int) -> None:
    """End a conversation of one question, and notify whoever gave a task."""
    conversation = active.conversation
    if conversation.kind in ("aside", "housekeeping", "task"):
        sessions.end(connection, conversation_id=conversation.id, now=now)
    if conversation.kind == "task":
        agent_messages.end_task(connection, turn_id=active.id, now=now)


def _is_worth_a_review(active: ActiveTurn) -> bool:
    """Return whether a turn is the person's own, and they let the assistant learn from it."""
    is_own = active.conversation.kind == "direct" and not active.conversation.agent
    return is_own and active.person.learning != "off"


def _note_deeds(
    connection: Connection, active: ActiveTurn, receipts: Sequence[Receipt], now: int
) -> Sequence[tuple[int, int]]:
    """Record what a person's turn has done, for `/undo`; see `record_receipts`."""
    if active.job_turn:
        return ()
    return deeds.record_receipts(connection, _find_doer(active), receipts, now=now)


def _note_idle(connection: Connection, active: ActiveTurn, now: int) -> None:
    """Record a message that asked for a change or answered a question, and changed nothing.

    So `/undo` asks before it takes back what was changed earlier.
    """
    if active.job_turn or active.conversation.kind == "task":
        return
    done = active.journal.deeds
    if done and all(deed.kind == "message" for deed in done):
        did = "; ".join(receipt.text for deed in done for receipt in deed.receipts)
    else:
        idle = "" if done else _find_idle(connection, active)
        did = quote_name(idle) if idle.strip() else ""
    if did:
        deeds.record(connection, _find_doer(active), NewDeed(did=did), now=now)


def _find_idle(connection: Connection, active: ActiveTurn) -> str:
    """Return the words of a message that should have changed something, and did not; else ""."""
    if wish := Course(deeds=(), messages=active.messages).find_unmet_wish():
        return wish
    words = active.request
    before = active.messages[: -active.own_count or None]
    asked = before[-1].text.rstrip() if before and before[-1].role == "assistant" else ""
    is_no = general.read_yes_or_no(words) is False
    is_answer = questions.is_of_turn(connection, turn_id=active.id) or (
        is_no and asked.endswith(_ASKS)
    )
    return words if is_answer else ""


def _find_doer(active: ActiveTurn) -> Doer:
    owner_id = active.memory_owner.person_id if active.memory_owner else active.person.id
    return Doer(person_id=active.person.id, owner_id=owner_id, platform=active.context.platform)
