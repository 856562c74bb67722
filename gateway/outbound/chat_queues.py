"""The queue of each chat, and places reserved in it."""

import asyncio
from collections.abc import Mapping, Sequence

from adapters.abilities import CountsTogether
from adapters.contract import ChatAdapter
from adapters.ids import PlatformMessageId
from agent_core.chats import Chat, Place
from agent_core.state.queues.outbox import OutboxRow
from gateway.chats import QueueKey, name_queue, read_chat


class ChatQueues:
    """Maps chats to queues: most have their own, some share one.

    The threads of a direct chat share a queue, so that answers keep the order of the questions. So
    do the chats of a platform that `CountsTogether`.
    """

    def __init__(self, adapters: Mapping[str, ChatAdapter]) -> None:
        self._counting = {
            name: adapter
            for name, adapter in adapters.items()
            if isinstance(adapter, CountsTogether)
        }

    def find(self, chat: Chat) -> QueueKey:
        """Return the key of a chat's queue."""
        counting, address = self._counting.get(chat.platform), read_chat(chat.address)
        return chat.platform, counting.count_of(address) if counting else name_queue(address)


class ReservedSlot:
    """Reserves a place in a queue for a message to come. Its owner has to end it."""

    def __init__(self, place: Place, queue: QueueKey, anchor: PlatformMessageId | None) -> None:
        """`anchor` is stored with the message; see `outbox.mark_sending`."""
        self.place = place
        self.queue = queue
        self.anchor = anchor
        self._rows: asyncio.Future[Sequence[OutboxRow]] = asyncio.get_running_loop().create_future()

    def is_for(self, place: Place) -> bool:
        """Return whether a message to this place may take the slot."""
        return self.place.chat == place.chat

    def end(self, rows: Sequence[OutboxRow] = ()) -> None:
        """Put the rows into the slot's place; a second call does nothing."""
        if not self._rows.done():
            self._rows.set_result(rows)

    async def wait(self) -> Sequence[OutboxRow]:
        """Return the rows, once the slot has ended."""
        return await self._rows
