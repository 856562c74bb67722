"""Pays what the outbox owes: in order per chat, paced, until the platform has it."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.abilities import CanDelete, CanEdit
from adapters.contract import ChatAdapter
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import PlatformMessageId
from agent_core.errors import StoreError
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import outbox, unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.concurrency import Workers
from gateway.conversion import Place
from gateway.outbound.channel import Channel, Chat, ChannelQueues, ReservedSlot
from gateway.outbound.composer import Composer, CommandFormatter
from gateway.outbound.indicators import Indicators
from gateway.outbound.live_message import LiveMessage, LiveMessageEditor
from gateway.outbound.reconciler import Reconciler
from gateway.texts import general

_log = logging.getLogger(__name__)

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_SETTLE_TIME = 2.0
"""Seconds before an unsure message is looked for: it may still be on its way."""
_COMPANY = 0.02
"""Seconds that the note of a message that was sent waits for others to be written with. After a
crash meanwhile it is in doubt, and looked for."""
_STORE_PAUSE = 5.0


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds until the next try. A firm one was asked for by the platform: nothing shortens it."""

    seconds: float
    is_firm: bool = False


Job = OutboxRow | LiveMessage | ReservedSlot


Reroute = Callable[[Connection, OutboxRow, int], OutboxRow | None]
"""Within a transaction: owe a message whose chat is gone somewhere else, if it may go there."""


class OutboxDispatcher:
    """One worker a chat; what it can't deliver now, it tries again while the process lives."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        database: Database,
        adapters: Mapping[str, ChatAdapter],
        now: Callable[[], int],
        command_formatter: CommandFormatter | None = None,
    ) -> None:
        self._database = database
        self.adapters = adapters
        self.command_formatter = command_formatter or CommandFormatter()
        self._composer = Composer(database, adapters, self.command_formatter)
        self._channels = {name: Channel.to(adapter) for name, adapter in adapters.items()}
        self._live_messages = LiveMessageEditor(database, now)
        self._reconciler = Reconciler(database, self._composer, now)
        self._now = now
        self._workers: Workers[Chat, Job] = Workers(group, self._serve, self._fail)
        self._paused: dict[Chat, asyncio.Event | None] = {}
        """Lines that wait for their next try, and what ends that early, if anything may."""
        self._retired: dict[Chat, str] = {}
        self.reroute: Reroute = _nowhere
        """Where a message goes whose chat is gone."""
        self._is_open = True
        self._lines = ChannelQueues(adapters)
        self.indicators = Indicators(group=group, channels=self._channels, is_paused=self._is_paused)

    async def start(self) -> None:
        """Take up what an earlier process left owed, oldest first. Raises `StoreError`."""
        self._retired = await self._database.read(unreachable_chats.list_all)
        await self._database.write("outbox.doubt", outbox.doubt_sending)
        self.enqueue(await self._database.read(outbox.list_open))

    def close(self) -> None:
        """Show nothing any more that is not owed: the house is going out."""
        self._is_open = False
        self.indicators.close()

    def split(self, platform: str, text: str) -> tuple[str, ...]:
        """What the house says itself, in as many messages as a platform needs for it."""
        adapter = self.adapters[platform]
        return adapter.split(self.command_formatter.format_commands(adapter, text))

    def slot(self, place: Place) -> ReservedSlot | None:
        """Hold the line of a place to which a message is about to be owed; None if it would
        have to wait there.
        """
        chat, channel = (place.platform, place.chat), self._channels.get(place.platform)
        line = self._lines.find(chat)
        is_held_up = chat in self._retired or self._workers.is_busy(line)
        if channel is None or not self._is_open or is_held_up or not channel.rate_limiter.is_free(place.chat):
            return None
        slot = ReservedSlot(place, line, channel.newest(place.chat))
        self._workers.put(line, slot)
        return slot

    def enqueue(self, rows: Sequence[OutboxRow], slot: ReservedSlot | None = None) -> None:
        """Deliver messages that stand in the outbox; after `close` the next start does.

        Those of a line that is held take the place of its `slot`.
        """
        first: list[OutboxRow] = []
        for row in rows if self._is_open else ():
            line = self._lines.find((row.platform, row.chat))
            if slot and slot.line == line:
                first.append(row)
            elif row.platform in self._channels:
                self._workers.put(line, row)
            else:
                _log.warning(
                    "outbox %d waits for %s, which is not on; it stays owed", row.id, row.platform
                )

        if slot:
            slot.end(first)

    def show_live(self, live: LiveMessage) -> None:
        """Show the present text of a live message, as soon as its chat is free."""
        if self._is_open and not (live.is_waiting or live.is_over):
            live.is_waiting = True
            self._workers.put(self._lines.find((live.outgoing.platform, live.outgoing.chat)), live)

    async def revive(self, platform: str, chat: str) -> None:
        """Somebody wrote from there: it is no longer given up. Raises `StoreError`."""
        if (platform, chat) in self._retired:
            await self._database.write(
                "chats.revive", lambda c: unreachable_chats.revive(c, platform=platform, chat=chat)
            )
            self._retired.pop((platform, chat), None)

    def wake(self, platform: str, chat: str) -> None:
        """Somebody is there: try this chat again now, unless the platform asked for a pause."""
        end = self._paused.get(self._lines.find((platform, chat)))
        if end:
            end.set()

    def is_idle(self) -> bool:
        """True while nothing is being delivered; what waits for its next try is not."""
        return len(self._workers) == len(self._paused) and self.indicators.is_idle()

    def _is_paused(self, chat: Chat) -> bool:
        return self._lines.find(chat) in self._paused

    async def _serve(self, chat: Chat, queue: deque[Job]) -> None:
        job = queue[0]
        if isinstance(job, ReservedSlot):
            rows = await job.wait()
            queue.popleft()
            queue.extendleft(reversed(rows))
            return
        channel = self._channels[chat[0]]
        if isinstance(job, LiveMessage):
            job.is_waiting = False
            seconds = await self._live_messages.show_live(channel, job)
            queue.popleft()
            if seconds:
                await self._wait(chat, Pause(seconds, is_firm=True))
            return
        try:
            pause = await self._pay(channel, job)
            if pause is not None:
                queue[0] = await self._refresh(job)
        except StoreError as error:
            _log.error("the store can't be written, delivery waits: %s", error)
            pause = Pause(_STORE_PAUSE)
            queue[0] = replace(job, state="unsure")  # only the store knows how far this one came
        if pause is None:
            queue.popleft()
        else:
            await self._wait(chat, pause)

    async def _fail(self, chat: Chat, job: Job, error: Exception) -> None:
        """An unexpected error: the message is set aside, since it would meet the same again."""
        if isinstance(job, LiveMessage):
            job.is_over = True
        elif isinstance(job, OutboxRow) and not job.is_live:
            await self._bury(job, "something went wrong on my side.")

    async def _refresh(self, row: OutboxRow) -> OutboxRow:
        """The row as it stands now; a live one that was dropped counts as dead.

        No attempt is under way while this is asked: one that began has no known outcome.
        """
        fresh = await self._database.read(lambda c: outbox.find(c, outbox_id=row.id))
        if fresh is None:
            return replace(row, state="dead")
        return replace(fresh, state="unsure") if fresh.state == "sending" else fresh

    async def _wait(self, chat: Chat, pause: Pause) -> None:
        self._paused[chat] = end = None if pause.is_firm else asyncio.Event()
        try:
            async with asyncio.timeout(pause.seconds):
                await (end or asyncio.Event()).wait()
        except TimeoutError:
            pass
        finally:
            del self._paused[chat]

    async def _pay(self, channel: Channel, row: OutboxRow) -> Pause | None:
        """Try to deliver one message; None when it is settled, else how long to wait."""
        try:
            if row.state == "unsure":
                # What was unsure when it was queued may have become known since.
                row = await self._refresh(row)
            if row.state == "unsure":
                row = await self._reconciler.reconcile(channel, row)
            if row.is_live or row.state in ("dead", "sent"):
                return None
            if gone := self._retired.get((row.platform, row.chat)):
                raise ChatGone(gone)
            if row.kind == "status":
                await self._take_away(channel, row)
                return None
            if not row.is_whole:
                await self._write_off(row)
                return None
            await self._hand_over(channel, row)
        except RateLimited as error:
            await self._postpone(row, error)
            return Pause(error.retry_after, is_firm=True)
        except Unreachable as error:
            await self._postpone(row, error)
            return Pause(_backoff(row.attempts))
        except AdapterStopped as error:
            await self._postpone(row, error)
            return Pause(_LONGEST_PAUSE)
        except Unsure as error:
            reason = str(error)
            await self._database.write(
                "outbox.unsure", lambda c: outbox.mark_unsure(c, outbox_id=row.id, reason=reason)
            )
            seconds = _backoff(row.attempts)
            # Looked for too early it might not be there yet, and would be sent twice.
            return Pause(max(_SETTLE_TIME, seconds), is_firm=seconds <= _SETTLE_TIME)
        except (Rejected, MessageGone, ChatGone) as error:
            await self._bury(row, str(error), is_chat_gone=isinstance(error, ChatGone))
        return None

    async def _postpone(self, row: OutboxRow, error: AdapterError) -> None:
        """Nothing was applied. An unsure row stays unsure: only looking for it failed."""
        if row.state != "unsure":
            await self._database.write(
                "outbox.waiting",
                lambda c: outbox.mark_waiting(c, outbox_id=row.id, reason=str(error)),
            )

    async def _hand_over(self, channel: Channel, row: OutboxRow) -> None:
        if row.message_id is not None and await self._change(channel.adapter, row, row.message_id):
            await self._mark_sent(row, row.message_id)
            return
        file = await self._composer.load_file(row)
        if row.answers is None and row.question_id is None:  # nobody waits for it just now
            await channel.rate_limiter.give_way()
        await channel.rate_limiter.wait(row.chat)
        fresh: OutboxRow | None = row
        if row.state != "sending":  # else that was noted when it became owed
            anchor = channel.newest(row.chat)
            fresh = await self._database.write(
                "outbox.sending", lambda c: outbox.mark_sending(c, outbox_id=row.id, anchor=anchor)
            )
        if fresh is None:
            return  # it was settled in another way since it was queued
        message = self._composer.word(fresh, fresh.body, file)
        await self._mark_sent(fresh, await channel.adapter.send(message))

    async def _change(self, adapter: ChatAdapter, row: OutboxRow, message_id: str) -> bool:
        """Let a message that the platform has read as it should; False if it must be sent anew.

        A question is never asked anew because its outcome can't be shown.
        """
        if not isinstance(adapter, CanEdit):
            return True
        message = await self._composer.compose(row, row.body)
        try:
            await adapter.edit(message, PlatformMessageId(message_id))
        except Unsure as error:
            raise Unreachable(str(error)) from error  # an edit may safely be repeated
        except MessageGone:
            _log.info("outbox %d: its message is gone", row.id)
            return row.question_id is not None
        return True

    async def _take_away(self, channel: Channel, row: OutboxRow) -> None:
        """The turn that a status line told about is over."""
        adapter = channel.adapter
        if row.message_id is not None and isinstance(adapter, CanDelete):
            try:
                message_id = PlatformMessageId(row.message_id)
                await adapter.delete(conversion.read_chat(row.chat), message_id)
            except (MessageGone, Rejected) as error:
                _log.info("a status line stays: %s", error)
            except Unsure as error:
                raise Unreachable(str(error)) from error  # it may safely be taken away twice
        await self._database.write(
            "outbox.status", lambda c: outbox.drop_status(c, outbox_id=row.id)
        )

    async def _mark_sent(self, row: OutboxRow, message_id: str) -> None:
        """Note what the platform has. It can't be sent again: this tries until it is noted."""
        now = self._now()
        while True:
            try:
                await self._database.write(
                    "outbox.sent",
                    lambda c: outbox.mark_sent(
                        c, outbox_id=row.id, message_id=message_id, body=row.body, now=now
                    ),
                    patience=_COMPANY,
                )
            except StoreError as error:
                _log.error("outbox %d was sent, which can't be noted yet: %s", row.id, error)
                await asyncio.sleep(_STORE_PAUSE)
            else:
                return

    async def _write_off(self, row: OutboxRow) -> None:
        """Never send what is not what was written, and say so."""
        _log.error("outbox %d to %s is damaged on disk", row.id, row.platform)
        now = self._now()
        outgoing = NewOutboxMessage(
            platform=row.platform, chat=row.chat, body=general.DAMAGED_ANSWER
        )

        def work(connection: Connection) -> OutboxRow:
            outbox.write_off(connection, outbox_id=row.id, reason="damaged on disk")
            return outbox.enqueue(connection, outgoing, now=now)

        self.enqueue([await self._database.write("outbox.lost", work)])

    async def _bury(self, row: OutboxRow, reason: str, *, is_chat_gone: bool = False) -> None:
        """Set a message aside, and say so where somebody can read it."""
        _log.error("outbox %d to %s is set aside: %s", row.id, row.platform, reason)
        now = self._now()

        def work(connection: Connection) -> OutboxRow | None:
            outbox.mark_dead(connection, outbox_id=row.id, reason=reason)
            outbox.drop_status(connection, outbox_id=row.id)  # nobody wants that one later
            if is_chat_gone:
                unreachable_chats.retire(
                    connection, platform=row.platform, chat=row.chat, reason=reason, now=now
                )
            if row.person_id is None or row.kind == "status":
                return None
            if is_chat_gone:
                return self.reroute(connection, row, now)
            outgoing = NewOutboxMessage(
                platform=row.platform, chat=row.chat, body=general.describe_dead(reason)
            )
            return outbox.enqueue(connection, outgoing, now=now)

        notice = await self._database.write("outbox.dead", work)
        if is_chat_gone:
            self._retired[row.platform, row.chat] = reason
        if notice:
            self.enqueue([notice])


def _nowhere(_: Connection, __: OutboxRow, ___: int) -> OutboxRow | None:
    """Nobody knows of another place."""


def _backoff(attempts: int) -> float:
    return min(_FIRST_PAUSE * 2.0**attempts, _LONGEST_PAUSE)
