"""Read the attachments of messages before the lanes get them, in order per chat."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from adapters.messages import InboundMessage
from agent_core.chats import Chat
from agent_core.ids import ConversationId
from agent_core.localization import use_language
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import make_chat, name_queue, read_chat
from gateway.fairness import StopSwitch, Workers
from gateway.media.reader import Reader
from gateway.media.readings import has_content, sentences_of
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.queued_message import QueuedMessage
from gateway.texts import general
from gateway.turns.lanes import Lanes

StageKey = tuple[ConversationId, str, str]
"""A conversation, a platform and a queue on it; see `name_queue`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRead:
    """A message whose attachments are being read."""

    pending: QueuedMessage
    stop: StopSwitch = field(default_factory=StopSwitch)


class AttachmentStage:
    """Reads attachments, and delays only the later messages of the same chat."""

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
        self._workers: Workers[StageKey, PendingRead] = Workers(group, self._serve, self._fail)
        self._is_open = True

    def close(self) -> None:
        """Drop the reads under way; the next start repeats them."""
        self._is_open = False

    def is_idle(self) -> bool:
        """Return whether nobody waits for a read."""
        return len(self._workers) == 0 or not self._is_open

    def put(self, pending: QueuedMessage) -> None:
        """Pass a message to its lane once it and the earlier ones of its chat are read."""
        key = _key_of(pending)
        if pending.message.attachments or self._workers.is_busy(key):
            self._workers.put(key, PendingRead(pending=pending))
        else:
            self._lanes.put(pending)

    def find_waiting(
        self, conversation_id: ConversationId, platform: str, edit: InboundMessage
    ) -> QueuedMessage | None:
        """Find the message that an edit changes, if its lane has not got it yet."""
        key = (conversation_id, platform, name_queue(edit.address))
        for read in self._workers.waiting(key):
            if read.pending.message.message_id == edit.message_id:
                return read.pending
        return None

    def stop(self, conversation_id: ConversationId, chat: Chat, by: Person) -> bool:
        """Stop reading a person's messages in a chat; return whether there were any.

        `chat` is (platform, chat). Owners may stop everybody's messages.
        """
        address = read_chat(chat.address)
        key = (conversation_id, chat.platform, name_queue(address))
        stopped = [
            read.stop
            for read in self._workers.waiting(key)
            if read.pending.message.address == address
            and not read.pending.starts_own_turn
            and (by.is_owner or by.id == read.pending.person.id)
        ]
        for stop in stopped:
            stop.request()
        return bool(stopped)

    async def _serve(self, _: StageKey, queue: deque[PendingRead]) -> None:
        await self._database.retry_while_unavailable(
            lambda: self._read_for_sender(queue[0]), "a message with attachments"
        )
        queue.popleft()

    async def _fail(self, _: StageKey, read: PendingRead, error: Exception) -> None:
        """Set a message aside after an unexpected error, and report it to its sender."""
        with _speak_to_sender(read.pending):
            note = general.INTERNAL_ERROR()
        await self._database.retry_while_unavailable(
            lambda: self._drop(read.pending, note, fault=repr(error)),
            "a message that can't be read",
        )

    async def _read_for_sender(self, read: PendingRead) -> None:
        with _speak_to_sender(read.pending):
            await self._read(read)

    async def _read(self, read: PendingRead) -> None:
        pending, stop = read.pending, read.stop
        message = pending.message
        readings = pending.readings
        try:
            async with stop.scope():
                if message.attachments and not stop.is_requested():
                    readings = await self._reader.read(pending.platform, message)
        except TimeoutError:
            if not stop.is_requested():
                raise
        if stop.is_requested():
            await self._drop(pending, "")
            return
        notes = "\n".join(sentences_of(readings))
        has_words = pending.message.text.strip() or message.quote
        if readings and not (has_content(readings) or has_words):
            await self._drop(pending, notes)
            return
        if notes:
            await self._keep_note(pending, notes)
        pending.readings = readings
        self._lanes.put(pending)

    async def _keep_note(self, pending: QueuedMessage, text: str) -> None:
        """Keep a note about a message that its lane gets anyway; the answer begins with the note.

        A separate message would make two messages of one matter.
        """
        inbox_id = pending.inbox_ids[0]
        await self._database.write("inbox.note", inbox.keep_note, inbox_id=inbox_id, note=text)

    async def _drop(self, pending: QueuedMessage, text: str, *, fault: str = "") -> None:
        """Finish or park a message that no lane gets, and send its sender a note."""
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


def _speak_to_sender(pending: QueuedMessage) -> AbstractContextManager[None]:
    return use_language(pending.person.language, pending.message.sender.language)


def _key_of(pending: QueuedMessage) -> StageKey:
    queue = name_queue(pending.message.address)
    return pending.conversation.id, pending.platform, queue


def _make_outgoing(pending: QueuedMessage, text: str) -> NewOutboxMessage:
    return NewOutboxMessage(
        chat=make_chat(pending.platform, pending.message.address),
        body=text,
        person_id=pending.person.id,
        answers=pending.message.message_id,
    )
