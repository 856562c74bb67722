"""Deliver the outbox: in order per chat, at the platform's rate, until the platform accepts it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from adapters.abilities import CanDelete, CanEdit, HearsReports, SeesAllChats
from adapters.contract import ChatAdapter
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    ChatMoved,
    ChatWaits,
    MessageGone,
    MessageLocked,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import PlatformMessageId
from adapters.messages import DeliveryReport
from agent_core.chats import Chat, Place
from agent_core.errors import StoreError
from agent_core.ids import set_turn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import chat_moves
from agent_core.state.people import people
from agent_core.state.queues import dead_letters, outbox, unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import QueueKey, read_chat, start_of
from gateway.fairness import Signal, Workers
from gateway.outbound.channel import Channel
from gateway.outbound.chat_queues import ChatQueues, ReservedSlot
from gateway.outbound.command_buttons import stand_for
from gateway.outbound.composer import Composer
from gateway.outbound.indicators import Indicators
from gateway.outbound.live_message import LiveMessage, LiveMessageEditor
from gateway.outbound.reconciler import Reconciler
from gateway.outbound.timings import DeliveryTimings, Pause
from gateway.texts import general
from gateway.texts.reader_language import speak_to

_log = logging.getLogger(__name__)


_Edited = Literal["shown", "gone", "locked"]
"""The outcome of an edit: it is shown, or the message no longer exists, or can't be edited."""

_REPORT_POLL = 0.05
"""Seconds between two looks whether an attempt is over, whose failure is reported already."""
_MOST_REPEATS = 12
"""Attempts of a message that the platform accepts, and reports as failed for now."""

SendJob = OutboxRow | LiveMessage | ReservedSlot

Reroute = Callable[[Connection, OutboxRow, int], OutboxRow | None]
"""Enqueues a message of an unreachable chat for another chat, if it may go there; within a
transaction."""


class OutboxDispatcher:
    """Delivers with one worker per chat, and retries while the process lives."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        database: Database,
        composer: Composer,
        reroute: Reroute,
        now: Callable[[], int],
        timings: DeliveryTimings,
    ) -> None:
        self._database = database
        self._composer = composer
        self._reroute = reroute
        self._now = now
        self._timings = timings
        self.adapters = composer.adapters
        self.mask = composer.mask
        self._channels = {name: Channel.to(adapter) for name, adapter in self.adapters.items()}
        self._live_messages = LiveMessageEditor(database, now, finish=timings.finish)
        self._reconciler = Reconciler(database, composer, now)
        self._workers: Workers[QueueKey, SendJob] = Workers(group, self._serve, self._fail)
        self._paused: dict[QueueKey, asyncio.Event | None] = {}
        """Waiting queues, each with the event that ends its wait early; a firm wait has none."""
        self._unreachable: dict[Chat, str] = {}
        self._heard: dict[Chat, bool] = {}
        """The chats of attempts under way: whether somebody has written there meanwhile."""
        self.moved = Signal[None]()
        """Emitted after a chat got a new id, so that caches drop the old one."""
        self._is_open = True
        self._queues = ChatQueues(self.adapters)
        self.indicators = Indicators(
            group=group,
            channels=self._channels,
            is_paused=self._is_paused,
            pause=timings.indicator_pause,
        )

    async def start(self) -> None:
        """Deliver the messages of earlier processes, oldest first. Raises `StoreError`."""
        self._unreachable = await self._database.read(unreachable_chats.list_all)
        await self._live_messages.start()
        await self._database.write("outbox.doubt", outbox.mark_interrupted)
        await self._database.write("outbox.lone", outbox.withdraw_lone_status)
        self.enqueue(await self._database.read(outbox.list_open))

    def close(self) -> None:
        """Stop, because the gateway shuts down; the next start delivers the rest."""
        self._is_open = False
        self.indicators.close()

    def split(self, platform: str, text: str) -> tuple[str, ...]:
        """Split a text of the gateway into messages, with commands as the platform writes them."""
        return self.adapters[platform].split(self.format_commands(platform, text))

    def format_commands(self, platform: str, text: str) -> str:
        """Format a text of the gateway that a turn's message will hold."""
        adapter = self.adapters.get(platform)
        return self._composer.command_formatter.format_commands(adapter, text)

    def reserve(self, place: Place) -> ReservedSlot | None:
        """Reserve the queue of a chat for a message to come; None if it would wait there."""
        chat, channel = place.chat, self._channels.get(place.chat.platform)
        queue = self._queues.find(chat)
        must_wait = chat in self._unreachable or self._workers.is_busy(queue)
        if channel is None or not self._is_open or must_wait:
            return None
        if not channel.rate_limiter.is_free(chat.address):
            return None
        slot = ReservedSlot(place, queue, channel.newest(chat.address))
        self._workers.put(queue, slot)
        return slot

    def enqueue(self, rows: Sequence[OutboxRow], slot: ReservedSlot | None = None) -> None:
        """Deliver messages of the outbox; those for the slot's queue take the slot's place.

        After `close` the next start delivers them.
        """
        first: list[OutboxRow] = []
        for row in rows if self._is_open else ():
            queue = self._queues.find(row.chat)
            if slot and slot.queue == queue:
                first.append(row)
            elif row.chat.platform in self._channels:
                self._workers.put(queue, row)
            else:
                _log.warning("outbox %d stays queued: %s is off", row.id, row.chat.platform)
        if slot:
            slot.end(first)

    def show_live(self, live: LiveMessage) -> None:
        """Show the present text of a live message as soon as its chat is free."""
        if self._is_open and not (live.is_waiting or live.is_over):
            live.is_waiting = True
            chat = live.outgoing.chat
            self._workers.put(self._queues.find(chat), live)

    async def revive(self, chat: Chat) -> None:
        """Deliver to a chat again, because somebody wrote in it. Raises `StoreError`.

        In a direct chat, a notice says what was not delivered meanwhile, such as reminders.
        """
        if chat in self._heard:
            self._heard[chat] = True
        if reason := self._unreachable.get(chat):
            notices = await self._database.write(
                "chats.revive", _revive, chat, reason, now=self._now()
            )
            self._unreachable.pop(chat, None)
            self.enqueue(notices)

    async def take_report(self, platform: str, report: DeliveryReport) -> None:
        """Record what a platform reports of a message that it accepted. Raises `StoreError`."""
        is_sent, adapter = report.outcome == "sent", self.adapters[platform]
        if isinstance(adapter, HearsReports):
            adapter.note_report(report)
        find = partial(outbox.find_by_key, platform=platform, key=report.key)
        row = await self._database.read(find, is_open=True)
        while row and not is_sent and row.state == "sending":  # its answer is on the way
            await asyncio.sleep(_REPORT_POLL)
            row = await self._database.read(find, is_open=True)
        if row is None and not is_sent:  # sent already, which no index knows: look once
            row = await self._database.read(find, is_open=False)
        if row is None or row.message_id not in (None, report.message_id) or row.state == "dead":
            return
        if is_sent:
            body = row.body if row.shown is None else row.shown
            now, message_id = self._now(), report.message_id
            await self._database.write(
                "outbox.reported",
                outbox.mark_sent,
                outbox_id=row.id,
                message_id=message_id,
                body=body,
                now=now,
            )
        elif report.outcome in ("gone", "refused") or row.attempts >= _MOST_REPEATS:
            is_gone = report.outcome == "gone"
            await self._set_aside(row, report.reason, is_chat_gone=is_gone)
        else:
            again = await self._database.write(
                "outbox.again", _send_again, row, report.reason, now=self._now()
            )
            self.enqueue([again])

    async def follow(self, platform: str, old: str, new: str) -> None:
        """Let what belongs to a chat follow it to its new id. Raises `StoreError`."""
        await self._database.write(
            "chats.follow",
            chat_moves.move,
            platform=platform,
            chat_ids=(old, new),
            starts=(start_of(old), start_of(new)),
        )
        self._unreachable = await self._database.read(unreachable_chats.list_all)
        self.moved.emit(None)

    def wake(self, chat: Chat) -> None:
        """Try a chat again now, unless the platform asked for the pause."""
        end = self._paused.get(self._queues.find(chat))
        if end:
            end.set()

    def is_idle(self) -> bool:
        """Return whether nothing is being delivered; a message between two attempts is not."""
        return len(self._workers) == len(self._paused) and self.indicators.is_idle()

    def _is_paused(self, chat: Chat) -> bool:
        return self._queues.find(chat) in self._paused

    async def _serve(self, key: QueueKey, queue: deque[SendJob]) -> None:
        job = queue[0]
        if isinstance(job, ReservedSlot):
            rows = await job.wait()
            queue.popleft()
            queue.extendleft(reversed(rows))
            return
        channel = self._channels[key[0]]
        set_turn(job.outgoing.turn_id if isinstance(job, LiveMessage) else job.turn_id)
        if isinstance(job, LiveMessage):
            job.is_waiting = False
            seconds = await self._live_messages.show_live(channel, job)
            queue.popleft()
            doubtful = job.take_doubtful()
            if doubtful:  # reconciled first: after a later message, Telegram could not find it
                queue.appendleft(doubtful)
            if seconds:
                await self._wait(key, Pause(seconds, is_firm=True))
            return
        try:
            pause = await self._deliver(channel, job)
            if pause is not None:
                queue[0] = await self._refresh(job)
        except StoreError as error:
            _log.error("delivery waits for the store: %s", error)
            pause = Pause(self._database.retry_pause)
            queue[0] = replace(job, state="unsure")  # only the store knows whether it was sent
        if pause is None:
            queue.popleft()
        else:
            await self._wait(key, pause)

    async def _fail(self, key: QueueKey, job: SendJob, error: Exception) -> None:
        """Set a message aside after an unexpected error: a retry would meet the same error."""
        if isinstance(job, LiveMessage):
            job.is_over = True
        elif isinstance(job, OutboxRow) and not job.is_live:
            await self._set_aside(job, "Something went wrong on my side.")

    async def _refresh(self, row: OutboxRow) -> OutboxRow:
        """Read a row again; a live message that was dropped counts as dead.

        No attempt is under way during this call, so a message in the state `sending` is unsure.
        """
        fresh = await self._database.read(outbox.find, outbox_id=row.id)
        if fresh is None:
            return replace(row, state="dead")
        return replace(fresh, state="unsure") if fresh.state == "sending" else fresh

    async def _wait(self, key: QueueKey, pause: Pause) -> None:
        self._paused[key] = end = None if pause.is_firm else asyncio.Event()
        try:
            async with asyncio.timeout(pause.seconds):
                await (end or asyncio.Event()).wait()
        except TimeoutError:
            pass
        finally:
            del self._paused[key]

    async def _deliver(self, channel: Channel, row: OutboxRow) -> Pause | None:
        """Try to deliver one message; return None once its outcome is known, else the pause."""
        self._heard[row.chat] = False
        try:
            return await self._attempt(channel, row)
        except ChatGone as error:
            if self._heard[row.chat] and isinstance(error, ChatWaits):
                await self._postpone(row, error)
                return Pause(self._timings.back_off(row.attempts))
            await self._set_aside(row, str(error), is_chat_gone=True)
            if self._heard[row.chat]:
                await self.revive(row.chat)
            return None
        finally:
            del self._heard[row.chat]

    async def _attempt(self, channel: Channel, row: OutboxRow) -> Pause | None:
        """Make an attempt; see `_deliver`. Raises `ChatGone`."""
        try:
            if row.state == "unsure":
                # Its outcome may have become known since it was queued.
                row = await self._refresh(row)
            if row.state == "unsure":
                await self._live_messages.let_earlier_finish(row)
                row = await self._reconciler.reconcile(channel, row)
            if row.is_live or row.state in ("dead", "sent"):
                return None
            if gone := self._unreachable.get(row.chat):
                raise ChatGone(gone)
            if row.kind == "status":
                await self._remove_status(channel, row)
                return None
            if not row.is_whole:
                await self._replace_damaged(row)
                return None
            await self._send(channel, row)
        except RateLimited as error:
            channel.rate_limiter.note_limited(row.chat.address, error.retry_after)
            await self._postpone(row, error)
            return Pause(error.retry_after, is_firm=True)
        except Unreachable as error:
            await self._postpone(row, error)
            return Pause(self._timings.back_off(row.attempts))
        except AdapterStopped as error:
            await self._postpone(row, error)
            return Pause(self._timings.longest_pause)
        except Unsure as error:
            reason = str(error)
            await self._database.write(
                "outbox.unsure", outbox.mark_unsure, outbox_id=row.id, reason=reason
            )
            seconds, finish = self._timings.back_off(row.attempts), self._timings.finish
            # A search too early could miss it, and it would be sent twice.
            return Pause(max(finish, seconds), is_firm=seconds <= finish)
        except ChatMoved as error:
            await self._postpone(row, error)
            chat_id = read_chat(row.chat.address).chat_id
            await self.follow(row.chat.platform, chat_id, error.chat_id)
            self.enqueue([await self._refresh(row)])
        except ChatGone:
            raise
        except (Rejected, MessageGone) as error:
            await self._set_aside(row, str(error))
        return None

    async def _postpone(self, row: OutboxRow, error: AdapterError) -> None:
        """Note that nothing was sent. An unsure row stays unsure: only the search for it failed."""
        if row.state != "unsure":
            await self._database.write(
                "outbox.waiting",
                outbox.mark_waiting,
                outbox_id=row.id,
                reason=str(error),
            )

    async def _send(self, channel: Channel, row: OutboxRow) -> None:
        if row.message_id is not None:
            was_cut = await self._live_messages.let_earlier_finish(row)
            outcome = await self._edit(channel.adapter, row, row.message_id, was_cut=was_cut)
            again = None if outcome == "shown" else await self._begin_another(row, outcome)
            if again is None:
                await self._mark_sent(row, row.message_id)
                return
            row = again
        file = await self._composer.load_file(row)
        if row.answers is None and row.question_id is None:  # nobody waits for this message
            await channel.rate_limiter.give_way()
        await channel.rate_limiter.wait(row.chat.address)
        fresh: OutboxRow | None = row
        if row.state != "sending":  # else the transaction that enqueued it has set it
            anchor = channel.newest(row.chat.address)
            fresh = await self._database.write(
                "outbox.sending", outbox.mark_sending, outbox_id=row.id, anchor=anchor
            )
        if fresh is None:
            return  # its state has changed meanwhile
        message = self._composer.build(fresh, fresh.body, file)
        await self._mark_sent(fresh, await channel.adapter.send(message))

    async def _edit(
        self, adapter: ChatAdapter, row: OutboxRow, message_id: str, *, was_cut: bool = False
    ) -> _Edited:
        """Edit a message that the platform has; if it is not shown, `_begin_another` goes on.

        An edit that a kill may have cut off is not repeated where a look-up could take it for a
        message, and delete it; but that of a question is, which is never asked again.
        """
        if not isinstance(adapter, CanEdit):
            return "gone"
        is_at_risk = isinstance(adapter, SeesAllChats) and row.question_id is None
        if was_cut and is_at_risk:
            return "locked"
        message = await self._composer.compose(row, row.body)
        try:
            await adapter.edit(message, PlatformMessageId(message_id))
        except Unsure as error:
            if is_at_risk:
                return "locked"
            raise Unreachable(str(error)) from error  # an edit may safely be repeated
        except MessageGone as error:
            _log.info("outbox %d: its message can't be edited: %s", row.id, error)
            return "locked" if isinstance(error, MessageLocked) else "gone"
        except Rejected as error:
            if row.question_id is not None or row.turn_id is None:
                raise
            _log.info("outbox %d: an edit of its message is refused: %s", row.id, error)
            return "locked"
        return "shown"

    async def _begin_another(self, row: OutboxRow, edited: _Edited) -> OutboxRow | None:
        """Return a row to send as a new message; what the platform still has is deleted after that.

        In this order, because a new message reopens a thread that was archived. A question is never
        asked again: what its person has to learn of its outcome comes alone. None if that is
        nothing.
        """
        now, leaves = self._now(), edited == "locked"
        if row.question_id is not None:
            return await self._database.write(
                "outbox.apart", outbox.tell_apart, outbox_id=row.id, now=now
            )
        second, left = await self._database.write(
            "outbox.again",
            outbox.start_over,
            outbox_id=row.id,
            leaves=leaves,
            now=now,
        )
        self.enqueue([left] if left else [])
        return second

    async def _delete(self, adapter: ChatAdapter, row: OutboxRow, message_id: str) -> bool:
        """Delete a message; False if the platform refuses. Raises any other `AdapterError`."""
        if not isinstance(adapter, CanDelete):
            return True
        try:
            await adapter.delete(read_chat(row.chat.address), PlatformMessageId(message_id))
        except (MessageGone, Rejected) as error:
            _log.info("outbox %d: its message stays: %s", row.id, error)
            return False
        except Unsure as error:
            raise Unreachable(str(error)) from error  # it may safely be deleted twice
        return True

    async def _remove_status(self, channel: Channel, row: OutboxRow) -> None:
        """Delete a status line or a withdrawn live message; what has to stay says that it is void.

        Telegram, for one, deletes only messages of the last two days.
        """
        adapter, message_id = channel.adapter, row.message_id
        if message_id is not None and not await self._delete(adapter, row, message_id):
            void = await self._database.read(_make_void, row)
            try:
                await self._edit(adapter, void, message_id)
            except Rejected as error:
                _log.info("outbox %d can't be edited either: %s", row.id, error)
        await self._database.write("outbox.status", outbox.drop_status, outbox_id=row.id)

    async def _mark_sent(self, row: OutboxRow, message_id: str) -> None:
        """Record a sent message; it can't be sent again, so this retries until it is recorded."""
        now, adapter = self._now(), self.adapters[row.chat.platform]
        version: str | None = None
        if isinstance(adapter, SeesAllChats):
            version = adapter.version_of(PlatformMessageId(message_id))

        async def write() -> None:
            await self._database.write_later(
                self._timings.group_sent,
                "outbox.sent",
                outbox.mark_sent,
                outbox_id=row.id,
                message_id=message_id,
                body=row.body,
                version=version,
                now=now,
            )

        await self._database.retry_while_unavailable(write, f"the record of outbox {row.id}")

    async def _replace_damaged(self, row: OutboxRow) -> None:
        """Send a note in place of a message that is damaged on disk."""
        _log.error("outbox %d to %s is damaged on disk", row.id, row.chat.platform)
        now = self._now()

        def work(connection: Connection) -> OutboxRow:
            outbox.write_off(connection, outbox_id=row.id, reason="damaged on disk")
            with speak_to(connection, row.person_id):
                note = general.DAMAGED_ANSWER()
            outgoing = NewOutboxMessage(chat=row.chat, body=note)
            return outbox.enqueue(connection, outgoing, now=now)

        self.enqueue([await self._database.write("outbox.lost", work)])

    async def _set_aside(self, row: OutboxRow, reason: str, *, is_chat_gone: bool = False) -> None:
        """Give up a message, and report that where its person can read it."""
        level = logging.INFO if reason == ChatWaits.REASON else logging.ERROR
        _log.log(level, "outbox %d to %s is set aside: %s", row.id, row.chat.platform, reason)
        now = self._now()

        def work(connection: Connection) -> OutboxRow | None:
            outbox.mark_dead(connection, outbox_id=row.id, reason=reason)
            outbox.drop_status(connection, outbox_id=row.id)  # the message is of no use later
            if is_chat_gone:
                unreachable_chats.add(
                    connection,
                    platform=row.chat.platform,
                    chat=row.chat.address,
                    reason=reason,
                    now=now,
                )
            if row.person_id is None or row.kind == "status":
                return None
            if is_chat_gone:
                rerouted = self._reroute(connection, row, now)
                if rerouted:  # else it could be sent twice
                    outbox.withdraw(connection, outbox_id=row.id)
                return rerouted
            person = people.find(connection, person_id=row.person_id)
            with speak_to(connection, row.person_id):
                note = general.describe_dead(reason if person and person.is_owner else "")
            outgoing = NewOutboxMessage(chat=row.chat, body=note)
            return outbox.enqueue(connection, outgoing, now=now)

        notice = await self._database.write("outbox.dead", work)
        if is_chat_gone:
            self._unreachable[row.chat] = reason
        if notice:
            self.enqueue([notice])


def _revive(connection: Connection, chat: Chat, reason: str, *, now: int) -> list[OutboxRow]:
    """Let a chat get messages again; return the notices of what it did not get."""
    unreachable_chats.remove(connection, platform=chat.platform, chat=chat.address)
    if reason == ChatWaits.REASON:
        return _revive_waiting(connection, chat, reason, now=now)
    if not read_chat(chat.address).is_direct:
        return []
    missed = dead_letters.count_unasked(
        connection, platform=chat.platform, chat=chat.address, reason=reason
    )
    rows = []
    for person_id, count in missed.items():
        with speak_to(connection, person_id):
            outgoing = NewOutboxMessage(
                chat=chat,
                body=general.MISSED(count),
                person_id=person_id,
                buttons=(stand_for("retry", general.MISSED_SEND(), says_yes=True),),
            )
        rows.append(outbox.enqueue(connection, outgoing, now=now))
    return rows


def _revive_waiting(
    connection: Connection, chat: Chat, reason: str, *, now: int
) -> list[OutboxRow]:
    """Queue what waited for the person to write, below a sentence that says so; return it."""
    rows = dead_letters.revive_waiting(
        connection, platform=chat.platform, chat=chat.address, reason=reason
    )
    unasked = [row for row in rows if row.answers is None and row.question_id is None]
    if not unasked:
        return rows
    person_id = unasked[0].person_id
    with speak_to(connection, person_id):
        body = general.WAITED(len(unasked), platform=general.name_platform(chat.platform))
    notice = NewOutboxMessage(chat=chat, body=body, person_id=person_id)
    return [outbox.enqueue(connection, notice, now=now), *rows]


def _send_again(connection: Connection, row: OutboxRow, reason: str, *, now: int) -> OutboxRow:
    """Queue a message that failed after it was accepted, under a new key; return it."""
    again, _ = outbox.start_over(connection, outbox_id=row.id, leaves=False, now=now)
    outbox.mark_waiting(connection, outbox_id=row.id, reason=reason)
    return replace(again, attempts=row.attempts + 1)


def _make_void(connection: Connection, row: OutboxRow) -> OutboxRow:
    """Return a status row with the words that take the place of its text."""
    with speak_to(connection, row.person_id):
        return replace(row, body=general.VOID(), buttons=())
