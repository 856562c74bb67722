"""End turns: transcript, cost, state, inbox and the answer, in one transaction."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from adapters.abilities import CanDelete, CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.agent.active_turn import ActiveTurn
from agent_core.agent.agent import Agent
from agent_core.agent.caches import SessionState
from agent_core.agent.review.triggers import EndedTurn, ReviewRules, enqueue_due
from agent_core.agent.titles import enqueue_title
from agent_core.events import ModelFault, TurnEnded
from agent_core.schedule.quiet_times import is_quiet
from agent_core.state.conversations import delegated_turns, files, sessions, turns
from agent_core.state.conversations.questions import Choice
from agent_core.state.conversations.sessions import is_task, name_direct
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.memory import skill_uses
from agent_core.state.people.people import Person
from agent_core.state.queues import agent_messages, inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.conversion import Place, QueuedMessage, is_aside, is_direct_chat
from gateway.jobs.outcomes import Outcomes
from gateway.jobs.reports import Made
from gateway.outbound.buttons import caption_of, make_undo_buttons
from gateway.outbound.channel import ReservedSlot
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.texts import general, usage
from gateway.texts.readers import speak_to
from gateway.texts.usage import Reader
from gateway.turns.answer_place import end_status, find_place, leave_room
from gateway.turns.answer_text import (
    describe_ending,
    leave_out_sent,
    list_begun,
    list_interrupted,
    note_cheap_model,
    note_interrupted,
)
from gateway.turns.presenter import LiveEnding, PresenterTimings
from gateway.turns.spoken_answers import enqueue_speech

START_DELAY = 0.15
"""Seconds before a turn is begun on disk. A turn that ends sooner takes one commit instead of two.
Everything that a turn shows before its answer appears later than this.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDeps:
    """The services that turns use."""

    database: Database
    agent: Agent
    dispatcher: OutboxDispatcher
    questions: Questions
    outcomes: Outcomes
    zone_of: Callable[[Person], str]
    """Returns the IANA time zone of a person."""
    now: Callable[[], int]
    note_fault: Callable[[ModelFault], Awaitable[None]]
    """Called with a fault of a model that only an owner can end."""
    mail_due: asyncio.Event
    """Set once a task in the background has ended."""
    speech_due: asyncio.Event | None = None
    """Set once answers wait to be spoken; None where no program speaks."""
    review_rules: ReviewRules = field(default_factory=ReviewRules)
    start_delay: float = START_DELAY
    """Seconds; see `DeferredStart`."""
    outage_pace: float = 1.0
    """Factor of the pauses between two tries of a model that does not answer."""
    display: PresenterTimings = field(default_factory=PresenterTimings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTarget:
    """The messages that an answer replaces: the live message, the status line, a reserved slot.

    `buttons` stand below the end of the answer.
    """

    shown: tuple[OutboxRow | None, OutboxRow | None] = (None, None)
    slot: ReservedSlot | None = None
    buttons: tuple[Choice, ...] = ()


def open_reply(turn: StoredTurn) -> NewOutboxMessage:
    """Return an empty message in the place of a turn."""
    return NewOutboxMessage(
        platform=turn.platform,
        chat=turn.chat,
        body="",
        person_id=turn.person_id,
        turn_id=turn.id,
        answers=turn.answers,
    )


def enqueue_reply(
    connection: Connection,
    reply: NewOutboxMessage,
    parts: Sequence[str],
    now: int,
    target: ReplyTarget,
) -> list[OutboxRow]:
    """Enqueue the parts of an answer.

    The first part becomes the text of the live message, if there is one. Otherwise it goes into
    the reserved slot, if there is one, and counts as on its way at once. The status line ends
    after the answer, because nothing may delay that.
    """
    live, status = target.shown
    rows = []
    for number, part in enumerate(parts):
        buttons = target.buttons if number == len(parts) - 1 else ()
        if live and number == 0:
            rows.append(
                outbox.finalize_live(connection, outbox_id=live.id, body=part, buttons=buttons)
            )
            continue
        is_silent = reply.is_silent or number > 0
        message = replace(reply, body=part, part=number, is_silent=is_silent, buttons=buttons)
        if target.slot and number == 0:
            rows.append(
                outbox.enqueue_sending(connection, message, anchor=target.slot.anchor, now=now)
            )
        else:
            rows.append(outbox.enqueue(connection, message, now=now))
    return [*rows, end_status(connection, status)] if status else rows


def enqueue_files(
    connection: Connection, reply: NewOutboxMessage, adapter: ChatAdapter | None, now: int
) -> list[OutboxRow]:
    """Enqueue the files that a turn made, or their names if the platform takes no files."""
    assert reply.turn_id is not None  # noqa: S101 - only turns have answers
    made = files.list_of_turn(connection, turn_id=reply.turn_id)
    if made and not isinstance(adapter, CanSendFiles):
        body = general.describe_unsent_files([file.name for file in made])
        return [outbox.enqueue(connection, replace(reply, body=body, is_silent=True), now=now)]
    return [
        outbox.enqueue(
            connection,
            replace(reply, body=caption_of(file.name), file=(file.key, file.name), is_silent=True),
            now=now,
        )
        for file in made
    ]


def end_live(
    connection: Connection, reply: NewOutboxMessage, text: str, adapter: ChatAdapter, now: int
) -> LiveEnding:
    """Make a recorded text final, and remove the status line; later text goes into a new message.

    Without such a text, the live message is deleted: it shows a call that broke off, in this
    process or an earlier one, and the next try may begin differently. A platform that can't delete
    keeps it for the answer. A draft has no message yet, and gets one for the text.
    """
    assert reply.turn_id is not None  # noqa: S101 - only turns have live messages
    live, status = outbox.find_visible(connection, turn_id=reply.turn_id)
    parts = adapter.split(text) if text.strip() else ()
    if not parts and live and isinstance(adapter, CanDelete):
        withdrawn = outbox.withdraw_live(connection, outbox_id=live.id)
        ended = (end_status(connection, status),) if status else ()
        return LiveEnding(rows=(withdrawn, *ended), is_over=True)
    target = ReplyTarget(shown=(live, status))
    rows = enqueue_reply(connection, replace(reply, is_silent=True), parts, now, target)
    return LiveEnding(rows=rows, texts=parts, is_over=bool(parts))


@dataclass(frozen=True, slots=True)
class TurnFinalizer:
    """Writes the end of turns."""

    deps: TurnDeps

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
        now = self.deps.now()
        work = partial(self._finalize, active=active, ended=(ended, tools), now=now)

        async def write() -> None:
            may_reserve = active.job_turn is None and not is_task(active.conversation.key)
            slot = self.deps.dispatcher.reserve(place) if place and may_reserve else None
            try:
                rows, session = await self.deps.database.write(
                    "turns.settle", partial(work, slot=slot)
                )
                self.deps.dispatcher.enqueue(rows, slot)
            finally:
                if slot:
                    slot.end()
            if session:
                self.deps.agent.cache_session(active, session)
            if active.job_turn:
                self.deps.outcomes.wakeup.set()
            if is_task(active.conversation.key):
                self.deps.mail_due.set()
            if self.deps.speech_due and active.person.spoken_answers != "off":
                self.deps.speech_due.set()

        await self.deps.database.retry_while_unavailable(write, f"the end of turn {active.id}")

    def _finalize(
        self,
        connection: Connection,
        active: ActiveTurn,
        ended: tuple[TurnEnded, Sequence[str]],
        now: int,
        slot: ReservedSlot | None,
    ) -> tuple[list[OutboxRow], SessionState | None]:
        """Return the messages to deliver, and the session for the agent's cache."""
        end, tools = ended
        is_fresh = active.journal.ensure_begun(connection, end, now)
        # A move begins the turn on disk, so a turn that is fresh here has not moved.
        place = slot.place if is_fresh and slot else find_place(connection, active.id, is_fresh)
        if place is None:
            return [], None  # an earlier attempt was written although it seemed to fail
        ended_rows, deps = list[OutboxRow](), self.deps
        if not is_direct_chat(place.chat):
            place, ended_rows = leave_room(
                connection, active, place, deps.dispatcher.adapters, deps.questions, now
            )
        ending = (end.ending, end.reason, end.detail)
        if not active.conversation.is_private:
            end = replace(end, detail="")  # others here would read the provider's words
        text = describe_ending(end, list_begun(connection, active, end), self._make_reader(active))
        is_answer = end.ending == "answered"
        notice = "" if is_answer else text
        session = deps.agent.finalize(
            connection, active, ending=ending, notice=notice, now=now, is_fresh=is_fresh
        )
        _end_beside(connection, active, now)
        if not is_fresh:
            inbox.finish_turn(connection, turn_id=active.id)
        if is_task(active.conversation.key):  # its words go to the conversation that gave the task
            return [*self.deps.questions.end_of_turn(connection, active.id, now)], session
        if active.job_turn:
            text += note_interrupted(connection, active)
            result = _collect_result(connection, active, text)
            rows = self.deps.outcomes.end_turn(connection, active.job_turn, end, result, now)
            return [*rows, *self.deps.questions.end_of_turn(connection, active.id, now)], session
        if place is None:
            ended_rows += self.deps.questions.end_of_turn(connection, active.id, now)
            return ended_rows, session
        self._enqueue_tasks(connection, active, (place if is_answer else None, tools), now)
        reply = self.compose_reply(active, place)
        slot = slot if slot and slot.is_for(place) else None
        adapter = self.deps.dispatcher.adapters.get(reply.platform)
        body = self._compose_body(connection, active, end, text, reply.platform)
        body = body if is_fresh else leave_out_sent(connection, active.id, body)
        whole = "\n\n".join([*inbox.take_notes(connection, turn_id=active.id), body])
        parts = adapter.split(whole) if adapter else (whole,)
        target = ReplyTarget(slot=slot)
        if is_fresh:  # a fresh turn has shown, made and asked nothing so far
            return [*ended_rows, *enqueue_reply(connection, reply, parts, now, target)], session
        shown = outbox.find_visible(connection, turn_id=active.id)
        buttons = make_undo_buttons(connection, active, tools)
        target = replace(target, shown=shown, buttons=buttons)
        rows = enqueue_reply(connection, reply, parts, now, target)
        rows += [*enqueue_files(connection, reply, adapter, now), *ended_rows]
        return [*rows, *self.deps.questions.end_of_turn(connection, active.id, now)], session

    def _compose_body(
        self,
        connection: Connection,
        active: ActiveTurn,
        end: TurnEnded,
        text: str,
        platform: str,
    ) -> str:
        """Return the text of an answer or notice, with the notes below it."""
        reader = self._make_reader(active)
        format_commands = partial(self.deps.dispatcher.format_commands, platform)
        body = text if end.ending == "answered" else format_commands(text)
        body += format_commands(note_cheap_model(connection, end, active, reader))
        body += f"\n\n{usage.LEFT_OUT()}" if active.window.has_left_out else ""
        return body + note_interrupted(connection, active)

    def _make_reader(self, active: ActiveTurn) -> Reader:
        person = active.person
        zone = self.deps.zone_of(person)
        return Reader(zone=zone, now=self.deps.now(), is_owner=person.is_owner)

    def _enqueue_tasks(
        self,
        connection: Connection,
        active: ActiveTurn,
        answered: tuple[Place | None, Sequence[str]],
        now: int,
    ) -> None:
        """Enqueue the title of a session, and a review and the speech of an answer to `place`."""
        place, tools = answered
        if active.is_worth_a_title:
            enqueue_title(connection, active, now)
        if place and _is_worth_a_review(active):
            ended = EndedTurn(
                id=active.id, person_id=active.person.id, said=active.journal.evidence, tools=tools
            )
            enqueue_due(connection, self.deps.review_rules, ended, now)
        if place and self.deps.speech_due and active.person.spoken_answers != "off":
            enqueue_speech(connection, active, place, now)

    async def abandon(self, turn: StoredTurn) -> None:
        """End a turn whose transcript is damaged, and the run of its job. Raises `StoreError`."""
        now = self.deps.now()
        reply = open_reply(turn)
        format_commands = partial(self.deps.dispatcher.format_commands, turn.platform)

        def work(connection: Connection) -> list[OutboxRow]:
            turns.end(connection, turn_id=turn.id, state="failed", reason="damaged", now=now)
            skill_uses.end(connection, turn_id=turn.id, outcome="void", now=now)
            turns.mark_untrusted(connection, turn_id=turn.id)  # its messages can't be read to tell
            delegated_turns.stop_all(connection, turn_id=turn.id, now=now)
            self.deps.agent.note_end(connection, turn.id, turn.person_id, now)
            inbox.finish_turn(connection, turn_id=turn.id)
            if job_runs.find_of_turn(connection, turn_id=turn.id) is not None:
                rows = [*self.deps.outcomes.end_damaged_turn(connection, turn, now)]
            else:
                target = ReplyTarget(shown=outbox.find_visible(connection, turn_id=turn.id))
                with speak_to(connection, turn.person_id):
                    doubt = list_interrupted(connection, turn.id, {})
                    note = "\n\n".join(filter(None, (format_commands(general.DAMAGED()), doubt)))
                rows = enqueue_reply(connection, reply, (note,), now, target)
            return [*rows, *self.deps.questions.end_of_turn(connection, turn.id, now)]

        self.deps.dispatcher.enqueue(await self.deps.database.write("turns.abandon", work))
        self.deps.outcomes.wakeup.set()

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

        await self.deps.database.write("turns.let_go", work)
        self.deps.outcomes.wakeup.set()

    def compose_reply(self, active: ActiveTurn, place: Place) -> NewOutboxMessage:
        """Make a turn's answer without its text; silent in its person's quiet hours."""
        person = active.person
        return NewOutboxMessage(
            platform=place.platform,
            chat=place.chat,
            body="",
            person_id=person.id,
            turn_id=active.id,
            answers=place.answers,
            is_silent=person.quiet_from is not None
            and is_quiet(person, self.deps.zone_of(person), self.deps.now()),
        )


def _end_beside(connection: Connection, active: ActiveTurn, now: int) -> None:
    """End the conversation of a side question or of a task, and notify whoever gave the task."""
    key = active.conversation.key
    if is_aside(key) or is_task(key):
        sessions.end(connection, conversation_id=active.conversation.id, now=now)
    if is_task(key):
        agent_messages.end_task(connection, turn_id=active.id, now=now)


def _collect_result(connection: Connection, active: ActiveTurn, text: str) -> Made:
    """Return the text and the files of a job's turn."""
    made = files.list_of_turn(connection, turn_id=active.id)
    return Made(words=text, files=tuple((file.key, file.name) for file in made), turn_id=active.id)


def is_hidden(active: ActiveTurn) -> bool:
    """Return whether nothing of a turn is shown while it runs: that of a job, or of a task."""
    return active.job_turn is not None or is_task(active.conversation.key)


def _is_worth_a_review(active: ActiveTurn) -> bool:
    """Return whether a turn is the person's own, and they let the assistant learn from it."""
    is_own = active.conversation.key == name_direct(active.person.id)
    return is_own and active.person.learning != "off"
