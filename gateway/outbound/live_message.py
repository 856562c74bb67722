"""The live message of a running turn: sent once, then edited until its text is final."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace

from adapters.abilities import CanDraft, CanEdit
from adapters.contract import ChatAdapter
from adapters.errors import AdapterError, RateLimited, Unreachable, Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage, Step
from agent_core.errors import StoreError
from agent_core.ids import OutboxId, TurnId
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import read_chat
from gateway.outbound.channel import Channel
from gateway.outbound.composer import make_message

_log = logging.getLogger(__name__)


class LiveMessage:
    """The present text of a live message."""

    def __init__(self, outgoing: NewOutboxMessage, opened: OutboxRow | None = None) -> None:
        self.outgoing = outgoing
        self.row = opened
        self.recorded: OutboxId | None = None
        """The row that its chat's worker has written; set on the writer's thread."""
        self.text = ""
        self.steps: tuple[Step, ...] = ()
        self.buttons = outgoing.buttons
        self.shown: tuple[object, ...] = ("", (), ())
        self.is_waiting = False
        """True while its chat's queue holds it."""
        self.is_over = False
        """True once it takes no more text."""
        self.was_over = False
        """True if it took no more text even before its turn tried to end it."""
        self.is_draft = False
        """True if the text is shown as a draft, which has no row and disappears by itself."""

    def take_doubtful(self) -> OutboxRow | None:
        """Return the row, once, if it is not known whether the message was sent."""
        if self.row is None or self.row.state != "sending":
            return None
        self.row = replace(self.row, state="unsure")
        return self.row


class LiveMessageEditor:
    """Sends and edits live messages; the worker of their chat calls it, which keeps the order."""

    def __init__(self, database: Database, now: Callable[[], int], *, finish: float) -> None:
        """A request without an answer may be applied for `finish` more seconds."""
        self._database = database
        self._now = now
        self._finish = finish
        self._inherited: frozenset[OutboxId] = frozenset()
        """Messages that an earlier process may have been sending or editing."""
        self._started = float("-inf")

    async def start(self) -> None:
        """Note what an earlier process may have been sending or editing. Raises `StoreError`."""
        self._inherited = await self._database.read(outbox.list_under_way)
        self._started = time.monotonic()

    async def let_earlier_finish(self, row: OutboxRow) -> bool:
        """Wait until no request of an earlier process is on its way; return whether one may be.

        An edit would replace the answer, and a search too early would miss what is being sent.
        """
        is_inherited = row.id in self._inherited
        if is_inherited:
            await asyncio.sleep(max(self._started + self._finish - time.monotonic(), 0))
            self._inherited -= {row.id}
        return is_inherited

    async def show_live(self, channel: Channel, live: LiveMessage) -> float | None:
        """Show the present text; return the seconds for which the chat has to wait then.

        It waits if the platform asks for a pause, or if an edit got no answer: applied late, that
        edit would replace the final text. Never raises: a text that can't be shown now appears once
        it is final.
        """
        text, steps, adapter = live.text, live.steps, channel.adapter
        state = (text, steps, live.buttons)
        if live.is_over or state == live.shown:
            return None
        if not isinstance(adapter, CanEdit) or not adapter.pace.grows:
            return None
        body = adapter.split(text)[0]
        try:
            if live.row is None and await _draft(adapter, live, body):
                live.is_draft = True
            elif live.row is None:
                await self._open(channel, live, body)
            elif live.row.message_id is not None:
                row = replace(live.row, buttons=live.buttons)
                message = make_message(row, text=body, is_live=True, steps=steps)
                await adapter.edit(message, PlatformMessageId(live.row.message_id))
            live.shown = state
        except RateLimited as error:
            channel.rate_limiter.note_limited(live.outgoing.chat.address, error.retry_after)
            live.is_over = live.row is None
            return error.retry_after
        except (AdapterError, StoreError) as error:
            _log.info("a live message was not shown: %s", error)
            live.is_over = True
            is_unsure = isinstance(error, Unreachable | Unsure)
            return self._finish if is_unsure and live.row is not None else None
        return None

    async def _open(self, channel: Channel, live: LiveMessage, body: str) -> None:
        """Send a live message for the first time."""
        await channel.rate_limiter.wait(live.outgoing.chat.address)
        now = self._now()
        outgoing = replace(live.outgoing, body=body, buttons=live.buttons)
        anchor = channel.newest(outgoing.chat.address)

        def work(connection: Connection) -> OutboxRow | None:
            turn_id = outgoing.turn_id
            if live.is_over:
                return None
            if turn_id is not None and (
                not _is_answered_there(connection, outgoing, turn_id)
                or outbox.find_live(connection, turn_id=turn_id, kind=outgoing.kind)
            ):
                return None  # the turn has ended or moved meanwhile, or has its live message
            row = outbox.open_live(connection, outgoing, anchor=anchor, now=now)
            live.recorded = row.id
            return row

        row = None if live.is_over else await self._database.write("outbox.opening", work)
        if row is None:
            live.is_over = True
            return
        live.row = row
        try:
            message_id = await channel.adapter.send(
                make_message(row, text=body, is_live=True, steps=live.steps)
            )
        except Unsure as error:
            reason = str(error)
            await self._database.write(
                "outbox.unsure", outbox.mark_unsure, outbox_id=row.id, reason=reason
            )
            raise
        except AdapterError:
            await self._database.write("outbox.dropped", _take_back, row)
            live.row = None
            raise
        await self._database.write(
            "outbox.opened",
            outbox.mark_found,
            outbox_id=row.id,
            message_id=message_id,
        )
        live.row = replace(row, message_id=message_id, state="sent")


async def _draft(adapter: ChatAdapter, live: LiveMessage, body: str) -> bool:
    """Show a growing answer as a draft; False if the platform has no drafts."""
    outgoing = live.outgoing
    if outgoing.kind != "message" or live.buttons or not isinstance(adapter, CanDraft):
        return False
    message = OutboundMessage(
        address=read_chat(outgoing.chat.address), text=body, key=f"turn:{outgoing.turn_id}"
    )
    return await adapter.draft(message)


def _is_answered_there(connection: Connection, outgoing: NewOutboxMessage, turn_id: TurnId) -> bool:
    """Return whether a turn still runs, and is answered in the message's chat."""
    turn = turns.find(connection, turn_id=turn_id)
    here = turn.place.chat if turn and turn.state == "running" else None
    return here == outgoing.chat


def _take_back(connection: Connection, row: OutboxRow) -> None:
    """Undo the record of a live message that was not sent; enqueue it if it is final by now."""
    outbox.drop_live(connection, outbox_id=row.id)
    outbox.mark_missing(connection, outbox_id=row.id)
