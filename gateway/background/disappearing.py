"""Removes messages from the history once the apps of their chat have deleted them."""

import asyncio
import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from adapters.messages import InboundMessage
from agent_core.errors import StoreError
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import disappearing
from agent_core.state.queues import inbox
from agent_core.state.queues.inbox import InboxRow
from gateway.texts import privacy

_log = logging.getLogger(__name__)

POLL = 15.0
"""Seconds between two looks."""


def note(connection: Connection, row: InboxRow, message: InboundMessage, now: int) -> None:
    """Record when a message disappears; tell its sender what that means, once in a chat."""
    due_at = now + message.expires_in * 1000
    disappearing.note(connection, inbox_id=row.id, due_at=due_at)
    chat = hashlib.sha256(f"{row.platform}/{message.address.chat_id}".encode()).hexdigest()
    if disappearing.begin_telling(connection, chat=chat):
        inbox.keep_note(connection, inbox_id=row.id, note=privacy.DISAPPEARING())


@dataclass(frozen=True, slots=True, kw_only=True)
class Disappearing:
    """Looks for messages that are due."""

    database: Database
    now: Callable[[], int]
    renew: Callable[[], None]
    """Drops cached conversations after messages were removed."""
    poll: float = POLL

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as error:
                _log.error("messages that disappear wait for the store: %s", error)
            await asyncio.sleep(self.poll)

    async def look(self) -> None:
        """Remove what is due. Raises `StoreError`."""
        now = self.now()
        due = await self.database.read(disappearing.list_due, now=now)
        for inbox_id in due:
            work = partial(disappearing.remove, inbox_id=inbox_id, now=now)
            if await self.database.write("disappearing.remove", work):
                self.renew()
