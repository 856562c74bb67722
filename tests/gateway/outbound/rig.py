"""A running dispatcher, and what becomes of its messages."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundMessage
from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.engine.database import Database
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from gateway.chats import name_chat
from gateway.outbound.command_formatter import CommandFormatter
from gateway.outbound.composer import Composer
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.timings import DeliveryTimings
from tests.fakes.chat import FakeChat
from tests.patience import PATIENCE, until

CHAT = name_chat(Address(chat_id="1", is_direct=True))
OTHER = name_chat(Address(chat_id="2", is_direct=True))
QUICK = DeliveryTimings(first_pause=0.01, finish=0.01)


@dataclass
class MuteChat(FakeChat):
    """A platform without edits."""

    edit = None  # type: ignore[assignment]


@dataclass
class SeeingChat(FakeChat):
    """A platform whose look-ups see what was sent to any chat, edits included."""

    told: list[list[PlatformMessageId]] = field(default_factory=list)
    edited: set[PlatformMessageId] = field(default_factory=set)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        await super().edit(message, message_id)
        self.edited.add(message_id)

    def note_known(self, known: Sequence[PlatformMessageId]) -> None:
        self.told.append(list(known))

    def version_of(self, message_id: PlatformMessageId) -> PlatformMessageId | None:
        is_edited = message_id in self.edited
        return PlatformMessageId(f"{message_id}-edited") if is_edited else None


class _Over(Exception):
    pass


@dataclass(frozen=True)
class Delivery:
    """A dispatcher, the database that it reads, and the chat that it sends to."""

    database: Database
    chat: FakeChat
    dispatcher: OutboxDispatcher

    async def owe(self, body: str, chat: str = CHAT) -> OutboxRow:
        """Write a new message that nobody has handed over."""
        outgoing = NewOutboxMessage(
            chat=Chat(platform="fake", address=chat), body=body, person_id=PersonId(1)
        )
        return await self.database.write("owe", lambda c: outbox.enqueue(c, outgoing, now=0))

    async def queue(self, body: str, chat: str = CHAT) -> OutboxRow:
        """Hand over a new message."""
        row = await self.owe(body, chat)
        self.dispatcher.enqueue([row])
        return row

    async def send(self, body: str, chat: str = CHAT) -> OutboxRow:
        """Hand over a new message, and wait until it is sent."""
        return await self.until_sent(await self.queue(body, chat))

    async def finish(self, row: OutboxRow) -> OutboxRow:
        """Hand over a row, and wait until it is sent."""
        self.dispatcher.enqueue([row])
        return await self.until_sent(row)

    async def state(self, row: OutboxRow) -> OutboxRow:
        found = await self.database.read(lambda c: outbox.find(c, outbox_id=row.id))
        assert found
        return found

    async def until_state(self, row: OutboxRow, wanted: str) -> OutboxRow:
        async with asyncio.timeout(PATIENCE):
            while (found := await self.state(row)).state != wanted:
                await asyncio.sleep(0.005)
        return found

    async def until_sent(self, row: OutboxRow) -> OutboxRow:
        return await self.until_state(row, "sent")

    async def until_idle(self) -> None:
        await until(self.dispatcher.is_idle)


@asynccontextmanager
async def delivering(
    database: Database, chat: FakeChat, timings: DeliveryTimings = QUICK
) -> AsyncIterator[Delivery]:
    try:
        async with asyncio.TaskGroup() as group:
            dispatcher = OutboxDispatcher(
                group=group,
                database=database,
                composer=Composer(
                    database, {"fake": chat}, CommandFormatter(list), TextCleaner(SecretMask())
                ),
                reroute=lambda *_: None,
                now=lambda: 1,
                timings=timings,
            )
            yield Delivery(database, chat, dispatcher)
            raise _Over
    except* _Over:
        pass
