"""A platform as the dispatcher sees it: its adapter, rate limit, queues and messages."""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from adapters.abilities import CanFind, CountsTogether, SpellsCommands
from adapters.contract import ChatAdapter, Pace
from adapters.errors import Rejected
from adapters.ids import Address, PlatformMessageId
from adapters.messages import OutboundFile, OutboundMessage
from agent_core.state.conversations import files
from agent_core.state.engine.database import Database
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from gateway import conversion
from gateway.conversion import Place, name_queue, read_chat
from gateway.texts import general

_MOST_CHATS = 4096
_PATIENCE = 5.0
"""Seconds for which a message that nobody waits for lets other messages go first."""


class RateLimiter:
    """Makes senders wait by a platform's `Pace`, in order of arrival.

    A chat has one bucket (GCRA) for all its threads: after a lull, a burst may go at once, and then
    messages at the average rate. A pause that the platform asks for empties the bucket.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._patient = asyncio.Lock()
        self._next_free = 0.0
        self._chats: OrderedDict[str, float] = OrderedDict()
        """For each chat, when its bucket is full again, in monotonic seconds."""

    async def give_way(self) -> None:
        """Wait until one place is left for an answer, or for `_PATIENCE`; one caller at a time.

        Call `wait` next. So answers overtake many reminders that are due in the same minute: one
        place stays free for an answer, although the reminders use up the average rate.
        """
        spare = 1.0 / self._pace.per_second if self._pace.per_second else 0.0
        async with self._patient:
            end = time.monotonic() + _PATIENCE
            while (  # noqa: ASYNC110 - others may take the next place meanwhile
                left := min(self._next_free + spare, end) - time.monotonic()
            ) > 0:
                await asyncio.sleep(left)

    async def wait(self, chat: str) -> None:
        """Wait until a new message may go to this chat."""
        now = time.monotonic()
        address = read_chat(chat)
        interval = self._interval_of(address)
        start = max(now, self._earliest(address))
        if self._pace.per_second:
            start = max(start, self._next_free)
            # A second's worth may go at once after a lull; the average stays at the limit.
            self._next_free = max(self._next_free, now - 1.0) + 1.0 / self._pace.per_second
        if interval:
            self._fill(address, max(self._chats.get(address.chat_id, 0.0), start) + interval)
        if start > now:
            await asyncio.sleep(start - now)

    def note_limited(self, chat: str, retry_after: float) -> None:
        """Obey a platform that asks for a pause of `retry_after` seconds in a chat."""
        address = read_chat(chat)
        interval = self._interval_of(address)
        if interval:
            self._fill(address, time.monotonic() + retry_after + (self._pace.burst - 1) * interval)

    def is_free(self, chat: str) -> bool:
        """Return whether a new message may go to this chat now."""
        return self.has_room() and self._earliest(read_chat(chat)) <= time.monotonic()

    def _interval_of(self, address: Address) -> float:
        return self._pace.chat_interval if address.is_direct else self._pace.room_interval

    def _earliest(self, address: Address) -> float:
        full_at = self._chats.get(address.chat_id, 0.0)
        return full_at - (self._pace.burst - 1) * self._interval_of(address)

    def _fill(self, address: Address, full_at: float) -> None:
        self._chats[address.chat_id] = full_at
        self._chats.move_to_end(address.chat_id)
        if len(self._chats) > _MOST_CHATS:
            self._chats.popitem(last=False)

    def has_room(self) -> bool:
        """Return whether indicators and live edits would delay no message now."""
        return not self._pace.per_second or self._next_free <= time.monotonic()


Chat = tuple[str, str]
"""A platform, and a chat on it as `conversion.name_chat` names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """An enabled platform."""

    adapter: ChatAdapter
    rate_limiter: RateLimiter
    finder: CanFind | None
    """The adapter, if it can search. Checked once, because the check takes longer than `newest`."""

    @classmethod
    def to(cls, adapter: ChatAdapter) -> Self:
        """Make the channel of an adapter."""
        finder = adapter if isinstance(adapter, CanFind) else None
        return cls(adapter=adapter, rate_limiter=RateLimiter(adapter.pace), finder=finder)

    def newest(self, chat: str) -> PlatformMessageId | None:
        """Return the newest known message of a chat, to be stored with a send; see `CanFind`."""
        return self.finder.newest(read_chat(chat)) if self.finder else None


class ChannelQueues:
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

    def find(self, chat: Chat) -> Chat:
        """Return the name of a chat's queue."""
        counting, address = self._counting.get(chat[0]), read_chat(chat[1])
        return chat[0], counting.count_of(address) if counting else name_queue(address)


class ReservedSlot:
    """Reserves a place in a queue for a message to come. Its owner has to end it."""

    def __init__(self, place: Place, queue: Chat, anchor: PlatformMessageId | None) -> None:
        """`anchor` is stored with the message; see `outbox.mark_sending`."""
        self.place = place
        self.queue = queue
        self.anchor = anchor
        self._rows: asyncio.Future[Sequence[OutboxRow]] = asyncio.get_running_loop().create_future()

    def is_for(self, place: Place) -> bool:
        """Return whether a message to this place may take the slot."""
        return (self.place.platform, self.place.chat) == (place.platform, place.chat)

    def end(self, rows: Sequence[OutboxRow] = ()) -> None:
        """Put the rows into the slot's place; a second call does nothing."""
        if not self._rows.done():
            self._rows.set_result(rows)

    async def wait(self) -> Sequence[OutboxRow]:
        """Return the rows, once the slot has ended."""
        return await self._rows


_TEXTS = ("text/", "application/json")
_PROMPT_COMMAND = r"[a-z][a-z0-9_]*__[a-z0-9_]+"
"""A prompt of an MCP server, such as `web__review`: only the servers know them all."""


class CommandFormatter:
    """Writes commands in a text as each platform writes them."""

    def __init__(self, list_names: Callable[[], Iterable[str]]) -> None:
        """`list_names` lists the commands at the moment: those of skills come and go."""
        self._list_names = list_names

    def format_commands(self, adapter: object, text: str) -> str:
        """Format a text of the gateway for a platform; a model's text stays as it is."""
        if "/" not in text or not isinstance(adapter, SpellsCommands):
            return text  # the check of the adapter takes longer than that of the text
        names = sorted(map(re.escape, self._list_names()), reverse=True)
        words = "|".join([_PROMPT_COMMAND, *names])
        command = re.compile(rf"(?<![\w/:.`])/({words})\b(?!/)")
        return command.sub(lambda found: f"{adapter.command_prefix}{found[1]}", text)


@dataclass(frozen=True, slots=True)
class Composer:
    """Makes outbound messages from outbox rows."""

    database: Database
    adapters: Mapping[str, ChatAdapter]
    command_formatter: CommandFormatter
    cleaner: TextCleaner

    @property
    def mask(self) -> SecretMask:
        """Hides secrets in short texts."""
        return self.cleaner.mask

    async def compose(self, row: OutboxRow, text: str) -> OutboundMessage:
        """Build a row's message with this text.

        Raises `Rejected` if its file was deleted, and `StoreError`.
        """
        return self.build(row, text, await self.load_file(row))

    def build(self, row: OutboxRow, text: str, file: OutboundFile | None) -> OutboundMessage:
        """Build a row's message with this text and file."""
        if row.turn_id is None:
            text = self.command_formatter.format_commands(self.adapters[row.platform], text)
        if row.buttons:
            hide = self.mask.hide
            row = replace(
                row, buttons=tuple(replace(one, label=hide(one.label)) for one in row.buttons)
            )
        return conversion.outbound(row, text=self.mask.hide(text), file=file)

    async def load_file(self, row: OutboxRow) -> OutboundFile | None:
        """Read the file of a row, if it has one. Raises `Rejected` if the file was deleted."""
        if row.file is None:
            return None
        key, name = row.file
        stored = await self.database.read(files.find, key=key)
        if stored is None:
            raise Rejected("The file is no longer there.")
        data = stored.data
        if row.turn_id is not None:  # an export is the person's own and stays as it is
            name = self.mask.hide(name or "")
            if stored.media_type.startswith(_TEXTS):
                data = await self.cleaner.hide_in_file(data)
        return OutboundFile(name=name or key[:12], media_type=stored.media_type, data=data)


def note_repeat(adapter: ChatAdapter, body: str) -> str:
    """Mark a body as a possible repeat, if the mark fits into the message."""
    marked = general.note_repeat(body)
    return marked if len(adapter.split(marked)) == 1 else body
