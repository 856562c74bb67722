"""A line that says how far a long piece of work is; it is deleted once the work ends."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from agent_core.errors import StoreError
from agent_core.privacy.progress import Progress, Report
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.live_message import LiveMessage
from gateway.texts import privacy

FIRST_PROGRESS = 2.0
"""Seconds until somebody who waits sees a line."""
_INTERVAL = 1.0
"""Seconds between two looks for progress, unless the platform asks for more."""

_log = logging.getLogger(__name__)


class ProgressLines:
    """Shows lines where the platform can edit; the next start deletes what a crash leaves."""

    def __init__(self, dispatcher: OutboxDispatcher, database: Database, *, first: float) -> None:
        """A line appears after `first` seconds."""
        self._dispatcher = dispatcher
        self._database = database
        self._first = first

    @asynccontextmanager
    async def show(self, place: NewOutboxMessage | None) -> AsyncIterator[Report]:
        """Show what is reported during the block, in the chat of `place`; None shows nothing.

        The line has the present language. It is queued for deletion when the block ends, so a later
        message comes after that.
        """
        newest = _Newest()
        if place is None:
            yield newest.note
            return
        live = LiveMessage(replace(place, kind="status", is_silent=True))
        showing = asyncio.create_task(self._show(live, newest))
        try:
            yield newest.note
        finally:
            showing.cancel()
            await self._end(live)

    async def _show(self, live: LiveMessage, newest: "_Newest") -> None:
        adapter = self._dispatcher.adapters.get(live.outgoing.chat.platform)
        if adapter is None:
            return
        await asyncio.sleep(self._first)
        while True:
            live.text = privacy.describe_progress(newest.progress)
            self._dispatcher.show_live(live)
            await asyncio.sleep(max(adapter.pace.edit_interval, _INTERVAL))

    async def _end(self, live: LiveMessage) -> None:
        live.is_over = True

        def work(connection: Connection) -> list[OutboxRow]:
            # Its chat's worker writes the row on this thread, so it is known or never comes.
            row_id = live.recorded
            row = outbox.find(connection, outbox_id=row_id) if row_id else None
            if row is None or not row.is_live:
                return []
            return [outbox.withdraw_live(connection, outbox_id=row.id)]

        if not live.text:  # nobody has waited so long
            return
        try:
            self._dispatcher.enqueue(await self._database.write("outbox.progress", work))
        except StoreError as error:
            _log.error("a progress line stays until the next start: %s", error)


class _Newest:
    """The newest report."""

    def __init__(self) -> None:
        self.progress: Progress | None = None

    def note(self, progress: Progress) -> None:
        self.progress = progress
