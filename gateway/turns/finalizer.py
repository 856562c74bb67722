"""Ends turns: transcript, cost, state, inbox and what is owed, in one transaction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adapters.abilities import CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.agent.active_turn import ActiveTurn
from agent_core.agent.agent import Agent
from agent_core.agent.caches import SessionState
from agent_core.agent.quotas.balance import day_of
from agent_core.errors import StoreDamaged, StoreError
from agent_core.events import TurnEnded
from agent_core.ids import TurnId
from agent_core.memory.archive.history import list_of_turn
from agent_core.memory.explanations import ChangeName
from agent_core.memory.numbering import load_change_index
from agent_core.state.conversations import files, turns
from agent_core.state.conversations.questions import Choice
from agent_core.state.conversations.turns import Turn
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.queues import inbox, outbox, tasks
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.conversion import Place, QueuedMessage
from gateway.jobs.outcomes import Made, Outcomes
from gateway.outbound import quiet_hours
from gateway.outbound.channel import ReservedSlot
from gateway.outbound.composer import stand_for
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.texts import general, memory, usage
from gateway.texts.usage import Reader

_MOST_OFFERED = 3
"""Changes of memory that can be taken back by a button below the answer."""
_TITLE_AFTER = 3
"""Messages of the person after which a session is worth a title."""


def tell(ended: TurnEnded, turn_id: TurnId, tools: Sequence[str], reader: Reader) -> str:
    """The words that a turn's ending comes to, with what was answered before it."""
    if ended.ending == "answered":
        return general.note_cut(ended.text, ended.reason)
    if ended.ending == "stopped":
        return general.describe_stop(ended.text, tools)
    if ended.quota:
        return usage.describe_ceiling(ended.quota, ended.text, reader)
    if ended.ending == "exhausted":
        return general.describe_limit(ended.reason, ended.text, turn_id)
    if ended.ending == "refused":
        note = general.describe_refusal(ended.reason)
    else:
        note = general.describe_failure(ended.reason, turn_id, detail=ended.detail)
    return f"{ended.text}\n\n{note}" if ended.text else note


def note_thrift(
    connection: Connection, ended: TurnEnded, active: ActiveTurn, reader: Reader
) -> str:
    """What goes below the first answer of a day that the cheap model gave; "" elsewhere."""
    if not ended.used_cheap_model:
        return ""
    key, day = f"thrift:{active.person.id}", str(day_of(reader.now, reader.zone).start)
    if meta.get(connection, key=key) == day:
        return ""
    meta.put(connection, key=key, value=day)
    return f"\n\n{usage.THRIFT}"


def enqueue_title(connection: Connection, active: ActiveTurn, now: int) -> None:
    """Background work: a name for a session that has become worth one."""
    if not active.is_untitled:
        return
    said = sum(message.role == "user" for message in active.messages)
    if said >= _TITLE_AFTER:
        tasks.enqueue(
            connection,
            kind="title",
            key=f"session:{active.session_id}",
            person_id=active.person.id,
            payload=str(active.session_id),
            now=now,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What there is to be seen of a turn: its live message, its status line, and whether a line
    is held for its answer. `buttons` stand below the answer's end.
    """

    live: OutboxRow | None = None
    status: OutboxRow | None = None
    slot: ReservedSlot | None = None
    buttons: tuple[Choice, ...] = ()


def offer_undo(
    connection: Connection, active: ActiveTurn, tools: Sequence[str]
) -> tuple[Choice, ...]:
    """A button for each thing that a turn has learned, which takes it back."""
    memory_owner = active.memory_owner
    if memory_owner is None:
        return ()
    learned: list[tuple[LedgerEntry, ChangeName]] = []
    if "memory" in tools:
        change_index = load_change_index(connection, person_id=memory_owner.person_id)
        rows = [row for row in change_index.rows if row.origin.actor == f"turn:{active.id}"]
        learned = [(row, change_index.find_number(row)) for row in rows]
    if "archive" in tools:
        learned += list_of_turn(connection, person_id=memory_owner.person_id, turn_id=active.id)
        learned.sort(key=lambda one: one[0].id)
    return tuple(
        stand_for(f"undo {number}", memory.offer_undo(row.change.after, row.change.before))
        for row, number in learned[-_MOST_OFFERED:]
    )


def enqueue_parts(
    connection: Connection, outgoing: NewOutboxMessage, parts: Sequence[str], now: int, stage: Stage
) -> list[OutboxRow]:
    """Owe the parts of an answer. The first goes into the live message if there is one; else,
    where a line is held for it, it is noted as on its way at once.

    The status line goes, behind the answer: nothing may hold that up.
    """
    live, status, slot = stage.live, stage.status, stage.slot
    rows = []
    for number, part in enumerate(parts):
        below = stage.buttons if number == len(parts) - 1 else ()
        if live and number == 0:
            done = outbox.finalize_live(connection, outbox_id=live.id, body=part, buttons=below)
            rows.append(done)
            continue
        is_silent = outgoing.is_silent or number > 0
        owed = replace(outgoing, body=part, part=number, is_silent=is_silent, buttons=below)
        if slot and number == 0:
            rows.append(outbox.send_off(connection, owed, anchor=slot.anchor, now=now))
        else:
            rows.append(outbox.enqueue(connection, owed, now=now))
    return [*rows, *_end_status(connection, status)]


def enqueue_files(
    connection: Connection, outgoing: NewOutboxMessage, adapter: ChatAdapter | None, now: int
) -> list[OutboxRow]:
    """Owe the files that a turn made; where files can't be sent, it is said which there are."""
    made = files.list_of_turn(connection, turn_id=_turn_of(outgoing))
    if made and not isinstance(adapter, CanSendFiles):
        body = general.describe_unsent_files([file.name for file in made])
        return [outbox.enqueue(connection, replace(outgoing, body=body, is_silent=True), now=now)]
    return [
        outbox.enqueue(
            connection, replace(outgoing, file=(file.key, file.name), is_silent=True), now=now
        )
        for file in made
    ]


def keep_shown(connection: Connection, turn_id: TurnId, words: str) -> list[OutboxRow]:
    """What a turn has said before it asks something stays; what it says then comes below."""
    live = outbox.find_live(connection, turn_id=turn_id)
    if live is None:
        return []
    return [outbox.finalize_live(connection, outbox_id=live.id, body=words or live.body)]


def leave(connection: Connection, turn_id: TurnId, words: str) -> list[OutboxRow]:
    """A running turn goes on elsewhere: what it showed here says so, and is final."""
    live, status = outbox.find_shown(connection, turn_id=turn_id)
    rows = [outbox.finalize_live(connection, outbox_id=live.id, body=words)] if live else []
    return [*rows, *_end_status(connection, status)]


def _end_status(connection: Connection, status: OutboxRow | None) -> list[OutboxRow]:
    return [outbox.finalize_live(connection, outbox_id=status.id, body="")] if status else []


def _turn_of(outgoing: NewOutboxMessage) -> TurnId:
    assert outgoing.turn_id is not None  # noqa: S101 - only turns have answers
    return outgoing.turn_id


_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0


class TurnFinalizer:
    """What is written when turns end, and what is owed then."""

    def __init__(
        self,
        *,
        database: Database,
        agent: Agent,
        dispatcher: OutboxDispatcher,
        questions: Questions,
        outcomes: Outcomes,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._agent = agent
        self._dispatcher = dispatcher
        self._questions = questions
        self._outcomes = outcomes
        self._zone_of = outcomes.zone_of
        self._now = now

    async def finalize(
        self,
        active: ActiveTurn,
        ended: TurnEnded,
        tools: Sequence[str] = (),
        place: Place | None = None,
    ) -> None:
        """End a turn; one that was not begun on disk yet is begun in the same transaction.

        `place` is where the answer can leave for at once if nothing is in its way. Tries until
        the store takes it: what the model said is paid for, and is in memory only. Raises
        `StoreDamaged`, and `StaleTurn` if it can't be begun as it is.
        """
        now = self._now()
        work = partial(self._settle, active=active, ended=(ended, tools), now=now)
        while True:
            slot = self._dispatcher.slot(place) if place and active.job_turn is None else None
            try:
                rows, current = await self._database.write("turns.settle", partial(work, slot=slot))
                self._dispatcher.enqueue(rows, slot)
                if current:
                    self._agent.cache_session(active, current)
                if active.job_turn:
                    self._outcomes.ring()
                return
            except StoreDamaged:
                raise
            except StoreError as error:
                _log.error("turn %d waits for the store to be settled: %s", active.id, error)
            finally:
                if slot:
                    slot.end()
            await asyncio.sleep(_STORE_PAUSE)

    def _settle(
        self,
        connection: Connection,
        active: ActiveTurn,
        ended: tuple[TurnEnded, Sequence[str]],
        now: int,
        slot: ReservedSlot | None,
    ) -> tuple[list[OutboxRow], SessionState | None]:
        """Gives what is owed, and how the talk stands then, for `Agent.leave`."""
        end, tools = ended
        is_fresh = active.journal.ensure_begun(connection, is_over=True)
        if is_fresh and slot:
            place = slot.place  # a turn that goes elsewhere is begun for that
        else:
            turn = turns.find(connection, turn_id=active.id)
            if turn is None or turn.state != "running":
                return [], None  # an earlier try was written although it seemed to have failed
            place = place_of(turn)
        person = active.person
        reader = Reader(zone=self._zone_of(person), now=now, is_owner=person.is_owner)
        told = tell(end, active.id, tools, reader)
        is_answer = end.ending == "answered"
        current = self._agent.finalize(
            connection,
            active,
            ending=(end.ending, end.reason),
            told="" if is_answer else told,
            now=now,
            is_fresh=is_fresh,
        )
        if not is_fresh:
            inbox.finish_turn(connection, turn_id=active.id)
        if active.job_turn:
            made = _make(connection, active, told)
            rows = self._outcomes.close(connection, active.job_turn, end, made, now)
            over = self._questions.end_of_turn(connection, active.id, now)
            return [*rows, *over], current
        enqueue_title(connection, active, now)
        outgoing = self.compose_reply(active, place)
        slot = slot if slot and slot.is_for(place) else None
        adapter = self._dispatcher.adapters.get(outgoing.platform)
        format_commands = partial(self._dispatcher.command_formatter.format_commands, adapter)
        note = format_commands(note_thrift(connection, end, active, reader))
        words = told if is_answer else format_commands(told)
        parts = adapter.split(words + note) if adapter else (words + note,)
        if is_fresh:  # then it has shown, made and asked nothing so far
            return enqueue_parts(connection, outgoing, parts, now, Stage(slot=slot)), current
        live, status = outbox.find_shown(connection, turn_id=active.id)
        undo = offer_undo(connection, active, tools)
        stage = Stage(live=live, status=status, slot=slot, buttons=undo)
        rows = enqueue_parts(connection, outgoing, parts, now, stage)
        rows += enqueue_files(connection, outgoing, adapter, now)
        return [*rows, *self._questions.end_of_turn(connection, active.id, now)], current

    async def abandon(self, turn: Turn) -> None:
        """End a turn whose transcript can't be read or added to. Raises `StoreError`.

        That of a job tells nobody by itself: it is a failure of the job's run.
        """
        now = self._now()
        outgoing = NewOutboxMessage(
            platform=turn.platform,
            chat=turn.chat,
            body=general.describe_damage(turn.id),
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
                rows = enqueue_parts(connection, outgoing, (outgoing.body,), now, stage)
            return [*rows, *self._questions.end_of_turn(connection, turn.id, now)]

        self._dispatcher.enqueue(await self._database.write("turns.abandon", work))
        self._outcomes.ring()

    async def drop_stale(self, pending: QueuedMessage) -> None:
        """What was to be a turn is none: where it was that of a run that is gone or over, nobody
        begins it again. Raises `StoreError`.
        """
        if pending.job_turn is None:
            return
        run_id = pending.job_turn.run_id

        def work(connection: Connection) -> None:
            run = job_runs.find(connection, run_id=run_id)
            if run is None or run.state != "running":
                for inbox_id in pending.inbox_ids:
                    inbox.finish(connection, inbox_id=inbox_id, reason="its run is gone")

        await self._database.write("turns.let_go", work)
        self._outcomes.ring()

    def compose_reply(self, active: ActiveTurn, place: Place) -> NewOutboxMessage:
        """What a turn owes to its place, still without words; it rings outside quiet hours."""
        person = active.person
        return NewOutboxMessage(
            platform=place.platform,
            chat=place.chat,
            body="",
            person_id=person.id,
            turn_id=active.id,
            answers=place.answers,
            is_silent=quiet_hours.is_quiet(person, self._zone_of(person), self._now()),
        )


def _make(connection: Connection, active: ActiveTurn, told: str) -> Made:
    """What the turn of a job has made."""
    made = files.list_of_turn(connection, turn_id=active.id)
    return Made(words=told, files=tuple((file.key, file.name) for file in made), turn_id=active.id)


def place_of(turn: Turn) -> Place:
    """Where a turn is answered, as the database has it."""
    return Place(platform=turn.platform, chat=turn.chat, answers=turn.answers)
