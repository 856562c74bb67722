"""Reconcile outbox messages whose delivery status is unknown."""

import logging
from collections.abc import Callable
from dataclasses import replace

from adapters.abilities import CanFind, CountsTogether, SeesAllChats
from adapters.contract import ChatAdapter
from adapters.errors import Unsure
from adapters.ids import PlatformMessageId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import OutboxRow
from gateway.chats import read_chat, span_threads
from gateway.outbound.channel import Channel
from gateway.outbound.composer import Composer
from gateway.texts import general

_log = logging.getLogger(__name__)

_MOST_LOOKS = 4


class Reconciler:
    """Finds out whether a message was sent; the worker of its chat calls it, which keeps order."""

    def __init__(self, database: Database, composer: Composer, now: Callable[[], int]) -> None:
        self._database = database
        self._composer = composer
        self._now = now

    async def reconcile(self, channel: Channel, row: OutboxRow) -> OutboxRow:
        """Find out whether the platform has a message, and record it; return the row.

        Raises `Unsure` if that can't be found out now. If the platform can't search, or too many
        searches failed, the message is sent again, marked as a possible repeat: twice is better
        than never.
        """
        adapter = channel.adapter
        shown = row.shown if row.shown is not None else row.body
        found: str | None = None
        is_known = isinstance(adapter, CanFind)
        if isinstance(adapter, CanFind):
            # Topics that share ids: an id that another topic has must not be tried for this one.
            is_shared = isinstance(adapter, CountsTogether)
            here = row.chat.address
            chats = span_threads(read_chat(here)) if is_shared else (here, here)
            newest = await self._database.read(
                outbox.list_newest_ids, platform=row.chat.platform, chats=chats
            )
            known = [PlatformMessageId(name) for name in (*newest, row.answers, row.anchor) if name]
            try:
                message = await self._composer.compose(row, shown)
                if isinstance(adapter, SeesAllChats):
                    recorded = await self._database.read(
                        outbox.list_all_newest_ids, platform=row.chat.platform
                    )
                    adapter.note_known([PlatformMessageId(one) for one in recorded])
                found = await adapter.find(message, known)
            except Unsure as error:
                if row.attempts < _MOST_LOOKS:
                    raise
                _log.warning(
                    "outbox %d is sent again, although it may have arrived: %s", row.id, error
                )
                is_known = False

        now = self._now()

        def work(connection: Connection) -> OutboxRow:
            fresh = outbox.find(connection, outbox_id=row.id)
            if fresh is not None and fresh.state in ("sent", "dead"):
                return fresh  # the platform has reported it meanwhile
            is_all = fresh is not None and not fresh.is_live and fresh.body == shown
            if found is not None and is_all:
                outbox.mark_sent(
                    connection, outbox_id=row.id, message_id=found, body=shown, now=now
                )
            elif found is not None:
                outbox.mark_found(connection, outbox_id=row.id, message_id=found)
            elif is_known or row.is_live or row.kind == "status":
                outbox.mark_missing(connection, outbox_id=row.id)
                outbox.drop_live(connection, outbox_id=row.id)
            else:
                body = _note_repeat(adapter, fresh.body if fresh else row.body)
                outbox.mark_repeated(connection, outbox_id=row.id, body=body)
            return outbox.find(connection, outbox_id=row.id) or replace(row, state="dead")

        return await self._database.write("outbox.found", work)


def _note_repeat(adapter: ChatAdapter, body: str) -> str:
    """Mark a body as a possible repeat, if the mark fits into the message."""
    marked = general.note_repeat(body)
    return marked if len(adapter.split(marked)) == 1 else body
