"""Tell owners that the database has vanished: directly, because the outbox is in it."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from adapters.errors import AdapterError, RateLimited, Unreachable, Unsure
from adapters.messages import OutboundMessage
from agent_core.chats import Chat
from agent_core.errors import StoreError
from agent_core.localization import use_language
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import owners
from agent_core.state.people.people import Person
from gateway.chats import read_chat
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.owner_notices import find_direct_chat
from gateway.texts.health import LOST_STORE

_log = logging.getLogger(__name__)

LOST_STORE_LOOK = 5.0
"""Seconds after which the chats of the owners are read again."""
_SENDING = 30.0
"""The longest time for one message, in seconds."""

Places = Sequence[tuple[Person, Chat]]
"""The owners, each with a direct chat."""


class LostStoreAlarm:
    """Knows where the owners are before the database vanishes, and tells them of it once."""

    def __init__(
        self, database: Database, dispatcher: OutboxDispatcher, *, look: float, pause: float
    ) -> None:
        """`look` is the time between two readings of the owners' chats, in seconds.

        `pause` is the time between two attempts to tell an owner.
        """
        self._database = database
        self._dispatcher = dispatcher
        self._look = look
        self._pause = pause
        self._places: Places = ()

    async def run(self) -> None:
        """Wait until the database has vanished, and tell the owners."""
        loss = None
        while loss is None:
            await self._find_places()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._look):
                    loss = await self._database.wait_until_vanished()
        if loss.is_readable:
            await self._find_places()
        async with asyncio.TaskGroup() as group:
            for owner, chat in self._places:
                group.create_task(self._tell(owner, chat, str(loss)))

    async def _find_places(self) -> None:
        """Read where the owners are; a database that can't be read changes nothing."""
        try:
            self._places = await self._database.read(self._list_places)
        except StoreError as error:
            _log.warning("the chats of the owners can't be read: %s", error)

    def _list_places(self, connection: Connection) -> Places:
        found = [
            (owner, find_direct_chat(connection, owner, self._dispatcher.adapters))
            for owner in owners.list_all(connection)
        ]
        return [(owner, chat) for owner, chat in found if chat]

    async def _tell(self, owner: Person, chat: Chat, reason: str) -> None:
        with use_language(owner.language):
            words = LOST_STORE(reason=reason)
        parts = list(self._dispatcher.split(chat.platform, words))
        while parts:
            message = OutboundMessage(address=read_chat(chat.address), text=parts[0])
            try:
                async with asyncio.timeout(_SENDING):
                    await self._dispatcher.adapters[chat.platform].send(message)
            except (Unreachable, RateLimited, TimeoutError) as error:
                _log.warning("%s isn't told of the database yet: %s", owner.slug, error)
                await asyncio.sleep(self._pause)
            except Unsure:
                parts.pop(0)  # it may have arrived, and nothing can remember that it was repeated
            except AdapterError as error:
                _log.error("%s can't be told of the database: %s", owner.slug, error)
                return
            else:
                parts.pop(0)
