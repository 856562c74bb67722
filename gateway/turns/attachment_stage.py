"""Messages whose attachments are read before they go on: in order per talk, beside all else."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from adapters.messages import InboundMessage
from agent_core.errors import StoreDamaged, StoreError
from agent_core.ids import ConversationId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.attachments.message_parts import has_content, sentences_of
from gateway.attachments.reader import Reader
from gateway.concurrency import Workers
from gateway.conversion import QueuedMessage
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.texts import general
from gateway.turns.handle import TurnHandle
from gateway.turns.lanes import Lanes

_log = logging.getLogger(__name__)

_STORE_PAUSE = 5.0

Key = tuple[ConversationId, str, str]
"""A conversation, a platform, a chat on it: in here messages keep their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRead:
    """A message on its way to its lane. `is_repeat`: a restart reads it again."""

    pending: QueuedMessage
    is_repeat: bool
    handle: TurnHandle = field(default_factory=TurnHandle)


class AttachmentStage:
    """Reads attachments, however long that takes, and holds up nothing but what comes behind."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        database: Database,
        reader: Reader,
        lanes: Lanes,
        dispatcher: OutboxDispatcher,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._reader = reader
        self._lanes = lanes
        self._dispatcher = dispatcher
        self._now = now
        self._workers: Workers[Key, PendingRead] = Workers(group, self._serve, self._fail)
        self._is_open = True

    def close(self) -> None:
        """Nothing waits for what is still being read: it is read anew at the next start."""
        self._is_open = False

    def is_idle(self) -> bool:
        """True while nothing is being read that anybody waits for."""
        return len(self._workers) == 0 or not self._is_open

    def put(self, pending: QueuedMessage, *, is_repeat: bool) -> None:
        """Hand a message on to its lane once it is read, and what came before it is."""
        key = _key_of(pending)
        if pending.message.attachments or self._workers.is_busy(key):
            self._workers.put(key, PendingRead(pending=pending, is_repeat=is_repeat))
        else:
            self._lanes.put(pending)

    def find_waiting(
        self, conversation_id: ConversationId, platform: str, edit: InboundMessage
    ) -> QueuedMessage | None:
        """The message that an edit is of, if it has not gone on yet."""
        key = (conversation_id, platform, conversion.name_chat(edit.address))
        for parcel in self._workers.waiting(key):
            if parcel.pending.message.message_id == edit.message_id:
                return parcel.pending
        return None

    def stop(self, conversation_id: ConversationId, place: tuple[str, str], by: Person) -> bool:
        """Do not begin with what somebody has sent and is being read; False if there is nothing.

        `place` is (platform, chat). Owners may stop what others have sent.
        """
        stopped = [
            parcel.handle.request_stop()
            for parcel in self._workers.waiting((conversation_id, *place))
            if not parcel.pending.starts_own_turn and (by.is_owner or by.id == parcel.pending.person.id)
        ]
        return any(stopped)

    async def _serve(self, _: Key, queue: deque[PendingRead]) -> None:
        parcel = queue[0]
        try:
            await self._open(parcel)
        except StoreDamaged:
            raise  # waiting would not mend it
        except StoreError as error:
            _log.error("attachments wait for the store: %s", error)
            await asyncio.sleep(_STORE_PAUSE)
            return
        queue.popleft()

    async def _fail(self, _: Key, parcel: PendingRead, error: Exception) -> None:
        """An unexpected error: the message is set aside, and its sender is told."""
        while True:
            try:
                await self._close(parcel.pending, general.BROKEN, fault=repr(error))
            except StoreDamaged:
                raise  # waiting would not mend it
            except StoreError as store_error:
                _log.error("a message can't be set aside yet: %s", store_error)
                await asyncio.sleep(_STORE_PAUSE)
            else:
                return

    async def _open(self, parcel: PendingRead) -> None:
        pending, handle = parcel.pending, parcel.handle
        message = pending.message
        readings = pending.readings
        try:
            async with handle.stoppable():
                if message.attachments and not handle.is_stop_requested():
                    readings = await self._reader.read(pending.platform, message)
        except TimeoutError:
            if not handle.is_stop_requested():
                raise
        if handle.is_stop_requested():
            await self._close(pending, "")
            return
        told = "\n".join(sentences_of(readings))
        has_words = pending.message.text.strip() or message.quote
        if readings and not (has_content(readings) or has_words):
            await self._close(pending, told)
            return
        if told and not parcel.is_repeat:
            await self._tell(pending, told)
        handle.is_over = True
        pending.readings = readings
        self._lanes.put(pending)

    async def _tell(self, pending: QueuedMessage, text: str) -> None:
        """Say something about a message that goes its way all the same."""
        outgoing = replace(_make_outgoing(pending, text), is_silent=True)
        now = self._now()
        row = await self._database.write(
            "commands.tell", lambda c: outbox.enqueue(c, outgoing, now=now)
        )
        self._dispatcher.enqueue([row])

    async def _close(self, pending: QueuedMessage, text: str, *, fault: str = "") -> None:
        """A message goes nowhere: its events are done, and its sender is told."""
        now = self._now()

        def work(connection: Connection) -> list[OutboxRow]:
            for inbox_id in pending.inbox_ids:
                if fault:
                    inbox.park(connection, inbox_id=inbox_id, reason=fault)
                else:
                    inbox.finish(connection, inbox_id=inbox_id, reason="attachments")
            return (
                [outbox.enqueue(connection, _make_outgoing(pending, text), now=now)] if text else []
            )

        self._dispatcher.enqueue(await self._database.write("inbox.unpacked", work))


def _key_of(pending: QueuedMessage) -> Key:
    chat = conversion.name_chat(pending.message.address)
    return pending.conversation.id, pending.platform, chat


def _make_outgoing(pending: QueuedMessage, text: str) -> NewOutboxMessage:
    return NewOutboxMessage(
        platform=pending.platform,
        chat=conversion.name_chat(pending.message.address),
        body=text,
        person_id=pending.person.id,
        answers=pending.message.message_id,
    )
