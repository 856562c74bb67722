"""The Signal adapter: receives envelopes, and sends, edits and reconciles messages."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from adapters.abilities import Bot, KnownElsewhere
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    MessageLocked,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Attachment, Inbound, OutboundMessage, RawEvent
from adapters.signal.api import FILE_LIMIT, Api, too_large
from adapters.signal.errors import translate
from adapters.signal.notices import NoticeReader, read_last_event
from adapters.signal.places import group_of, read_message_id
from adapters.signal.receipts import Receipts
from adapters.signal.receive import Account, receive
from adapters.signal.render import TEXT_LIMIT, measure, render
from adapters.signal.rpc import Notice, RpcError, make_rpc
from adapters.signal.settings import SignalSettings
from adapters.toolkit.caches import BoundedDict, MemberCounts, ShownContents
from adapters.toolkit.connection_health import Backoff, ConnectionHealth
from adapters.toolkit.split_long_messages import split_markdown

_log = logging.getLogger(__name__)

_EYES = "👀"
_CHAT_INTERVAL, _BURST = 0.3, 5
_MOST_EDITS = 10
"""Signal's apps accept ten edits of a message (Signal-Android #13428)."""
_DAY = 86_400_000
"""Milliseconds for which the apps accept edits and deletions of a message."""
_COUNT_LASTS = 30.0
_MOST_ANNOUNCED = 32
_MOST_CONCERNS = 5


class SignalAdapter:
    """Receives and sends for an account at signal-cli."""

    name = "signal"
    typing_lasts = 15.0
    """Signal hides the typing indicator after 15 seconds (signal-cli(1), sendTyping)."""
    most_file_bytes = FILE_LIMIT
    invites_with_words = False

    def __init__(self, settings: SignalSettings) -> None:
        self._settings = settings
        self._rpc = make_rpc(settings)
        self._me = Account(name=settings.account, is_shared=settings.shares_number)
        self._api = Api(self._rpc, self._me)
        self._receipts = Receipts()
        self._reader = NoticeReader(self._me, self._receipts)
        self._revisions: BoundedDict[str, tuple[int, int]] = BoundedDict()
        """By message: the time of its newest version, and how many edits it has had."""
        self._concerns: tuple[str, ...] = ()
        self._locks: BoundedDict[str, asyncio.Lock] = BoundedDict()
        self._cut_looks: BoundedDict[str, None] = BoundedDict()
        """Chats in which a look-up sent something whose time is unknown, here or before a kill."""
        self._doubtful: tuple[Address, ...] = ()
        """Chats with a message of unknown delivery, as the gateway knows."""
        self._counts = MemberCounts(_COUNT_LASTS)
        self._shown = ShownContents()
        self._announcing: set[asyncio.Task[None]] = set()
        self._connection_health = ConnectionHealth("Signal")
        is_limited = settings.messages_per_second > 0
        self.pace = Pace(
            chat_interval=_CHAT_INTERVAL if is_limited else 0.0,
            room_interval=_CHAT_INTERVAL if is_limited else 0.0,
            burst=_BURST,
            edit_interval=1.0,
            per_second=settings.messages_per_second,
            grows=False,
        )

    async def run(self, inlet: Inlet) -> None:
        """Receive until cancelled. Raises `AdapterStopped` when only a person can help."""
        backoff = Backoff(self._settings.longest_pause)
        with self._connection_health.running():
            while True:
                try:
                    await self._serve(inlet, backoff)
                except AdapterStopped:
                    raise
                except AdapterError as error:
                    self._connection_health.note("disconnected", str(error))
                    await backoff.wait(error)
                finally:
                    for task in self._announcing:
                        task.cancel()

    async def _serve(self, inlet: Inlet, backoff: Backoff) -> None:
        """Receive on one connection. Raises `AdapterError` at its end."""
        last_event = read_last_event(await inlet.marks(), self._settings.account)
        try:
            async with self._rpc.open(last_event) as notices:
                await self._api.check_version()
                await self._learn_aci()
                self._connection_health.note("connected")
                backoff.reset()
                watching = asyncio.create_task(self._watch_keys())
                try:
                    await self._listen(inlet, notices)
                finally:
                    watching.cancel()
        except RpcError as error:
            raise translate(error, account=self._settings.account) from error

    async def _learn_aci(self) -> None:
        if not self._me.aci and (aci := await self._api.find_aci()):
            self._me = self._api.me = self._reader.me = Account(
                name=self._me.name, aci=aci, is_shared=self._me.is_shared
            )

    async def _listen(self, inlet: Inlet, notices: AsyncIterator[list[Notice]]) -> None:
        """Hand over what arrives, in its order, and tell its authors once it is stored."""
        async for batch in notices:
            self._connection_health.note_alive()
            events = [event for one in batch if (event := self._reader.read(one))]
            if events:
                await self._store(inlet, events)
                self._announce(events)

    async def _watch_keys(self) -> None:
        """Keep what owners should know of safety numbers."""
        while True:
            self._reader.keys_changed.clear()
            try:
                self._concerns = (await self._api.list_distrusted())[:_MOST_CONCERNS]
            except AdapterError as error:
                _log.debug("safety numbers can't be looked at: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.keys_look):
                    await self._reader.keys_changed.wait()

    async def _store(self, inlet: Inlet, events: list[RawEvent]) -> None:
        """Hand events over until they are stored: signal-cli sends them once."""
        backoff = Backoff(self._settings.longest_pause)
        while True:
            try:
                await inlet.take(events)
            except AdapterError as error:
                await backoff.wait(error)
            else:
                return

    def _announce(self, events: list[RawEvent]) -> None:
        """Send read receipts for direct messages; nothing depends on them."""
        if not self._settings.read_receipts or len(self._announcing) >= _MOST_ANNOUNCED:
            return
        for author, times in self._reader.list_read(events).items():
            task = asyncio.create_task(self._mark_read(author, times))
            self._announcing.add(task)
            task.add_done_callback(self._announcing.discard)

    async def _mark_read(self, author: str, times: list[int]) -> None:
        try:
            await self._api.mark_read(author, times)
        except AdapterError as error:
            _log.debug("a read receipt was not sent: %s", error)

    async def identify(self) -> Bot:
        """Check that signal-cli serves the account. Raises `AdapterError`."""
        try:
            async with self._rpc.connect():
                await self._api.check_version()
                await self._api.check_account()
        except RpcError as error:
            raise translate(error, account=self._settings.account) from error
        return Bot(name=self._settings.account, link=self.invite("") or "")

    async def link(self, show: Callable[[str], None]) -> None:
        """Show the code that links a device, and wait for it. Raises `AdapterError`."""
        async with self._rpc.connect():
            await self._api.link(show)

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse an envelope that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Split Markdown into parts that Signal's apps show whole."""
        return split_markdown(text, limit=TEXT_LIMIT, measure=measure)

    def preview(self, text: str) -> list[str]:
        """Render a text as Signal shows it, one string per message."""
        return [render(part).text for part in self.split(text)]

    def invite(self, words: str) -> str | None:
        """Return the address that opens the chat; None for an account without a number. Pure."""
        account = self._settings.account
        return f"https://signal.me/#p/{account}" if account.startswith("+") else None

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Send a message. Raises `AdapterError`."""
        async with self._lock(message.address):
            sent_at, is_distrusted = await self._api.send(message)
        self._note_sent(sent_at, is_distrusted=is_distrusted)
        message_id = PlatformMessageId(str(sent_at))
        self._shown.note((message.address.chat_id, message_id), message.text)
        return message_id

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Replace a message's content. Raises `AdapterError`.

        Apps drop an edit that does not name the newest version (Hermes Agent, pull request 34561).
        """
        place = (message.address.chat_id, message_id)
        if self._shown.is_shown(place, message.text):
            return
        newest, edits = self._revisions.get(message_id) or (_own(message_id), 0)
        if edits >= _MOST_EDITS:
            raise MessageLocked("Signal allows ten edits of a message.")
        async with self._lock(message.address):
            sent_at, is_distrusted = await self._api.send(message, edits=newest)
        self._note_sent(sent_at, is_distrusted=is_distrusted)
        self._revisions.put(message_id, (sent_at, edits + 1))
        self._shown.note(place, message.text)

    def _note_sent(self, sent_at: int, *, is_distrusted: bool) -> None:
        self._receipts.note_sent(sent_at)
        if is_distrusted:
            self._reader.keys_changed.set()

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Delete a message for everyone; apps allow it for a day. Raises `AdapterError`."""
        sent_at = _own(message_id)
        async with self._lock(address):
            self._receipts.note_sent(await self._api.delete(address, sent_at))

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Add or remove the eyes reaction. Raises `AdapterError`."""
        async with self._lock(address):
            sent_at = await self._api.react(address, message_id, _EYES, is_on=seen)
        self._receipts.note_sent(sent_at)

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Read an attachment that signal-cli has downloaded. Raises `AdapterError`."""
        if not attachment.file_id:
            raise Rejected("There is no file in that.")
        if (attachment.size or 0) > most_bytes:
            raise too_large(most_bytes)
        return await self._api.fetch(attachment, most_bytes=most_bytes)

    async def type(self, address: Address) -> None:
        """Show the typing indicator. Raises `AdapterError`."""
        await self._api.show_typing(address)

    async def count_people(self, address: Address) -> int | None:
        """Count the members of a group without this account; None if it is not in the group."""
        if group_of(address) is None:
            return 1

        async def ask() -> int | None:
            members = await self._api.list_members(address)
            return None if members is None else len(members) - 1

        return await self._counts.count(address.chat_id, ask)

    def newest(self, address: Address) -> PlatformMessageId | None:
        """Return the time of the newest known send: the next one comes after it. Pure."""
        newest = self._receipts.newest
        return PlatformMessageId(str(newest)) if newest else None

    def note_elsewhere(self, known: KnownElsewhere) -> None:
        """Take note of all chats: devices confirm times and name no chat. Pure."""
        self._note_known(known.sent)
        self._doubtful = tuple(known.doubtful)
        for address in known.cut:
            self._cut_looks.put(address.chat_id, None)

    def _note_known(self, known: Sequence[PlatformMessageId]) -> list[int]:
        """Note which times are known sends of ours, and return them."""
        ours = [int(one) for one in known if one.isascii() and one.isdecimal()]
        for sent_at in ours:
            self._receipts.note_sent(sent_at)
        return ours

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Look for a message of unknown delivery in what the recipients' devices confirm.

        - A confirmed time that no known send explains is the message.
        - If there is none, a reaction is taken back that never was, which nobody sees. Devices
          confirm in order: once it is confirmed, the message was never sent.
        - If such a look was itself cut off, its time is unexplained, too. Whatever was sent at
          these times is then deleted, and the message sent again.
        - If no device confirms anything, nobody knows: `Unsure`. The same holds if a message to
          another chat is on its way or in doubt, and the same devices would confirm it.
        """
        address = message.address
        ours = self._note_known(known)
        async with self._lock(address):
            found = await self._look(address, known, after=max(ours, default=0))
            if await self._may_be_elsewhere(found, address):
                raise Unsure("A message to another chat was on its way at the same time.")
            self._receipts.drop_rival(address.chat_id)
            if len(found) != 1 or address.chat_id in self._cut_looks:
                for sent_at in found:
                    self._receipts.note_sent(await self._api.delete(address, sent_at))
                    self._receipts.note_sent(sent_at)
                return None
        self._receipts.note_sent(found[0])
        return PlatformMessageId(str(found[0]))

    async def _look(
        self, address: Address, known: Sequence[PlatformMessageId], *, after: int
    ) -> list[int]:
        """Return the times at which the message may have been sent. Raises `AdapterError`."""
        is_direct = group_of(address) is None
        people = await self._list_people(address)
        if is_direct and (found := self._receipts.find_direct(address.chat_id, after=after)):
            return found
        target = next(iter([one for one in known if ":" in one] or known), None)
        if target is None:
            raise Unsure("No message of this chat is known from before the one in doubt.")
        confirming = await self._probe(address, target, people)
        if is_direct:
            return self._receipts.find_direct(address.chat_id, after=after)
        return self._receipts.find_shared(confirming, people, after=after)

    async def _may_be_elsewhere(self, found: Sequence[int], address: Address) -> bool:
        """Return whether other chats may explain what was found. Raises `AdapterError`."""
        here, doubtful = address.chat_id, {one.chat_id for one in self._doubtful}
        busy = {chat_id for chat_id in self._locks if self._is_busy(chat_id)}
        is_elsewhere = False
        for chat_id in (busy | doubtful) - {here} if found else ():
            people = await self._list_people(Address(chat_id=chat_id, is_direct=False))
            for sent_at in found:
                if self._receipts.is_within(people, sent_at):
                    is_elsewhere = True
                    if chat_id in doubtful:
                        self._receipts.note_rivals(sent_at, here, chat_id)
        return is_elsewhere or any(self._receipts.has_rivals(one, here) for one in found)

    def _is_busy(self, chat_id: str) -> bool:
        lock = self._locks.get(chat_id)
        return lock is not None and lock.locked()

    async def _probe(
        self, address: Address, target: PlatformMessageId, people: Sequence[str]
    ) -> frozenset[str]:
        """Send what nobody sees; return who confirms it. Raises `AdapterError`."""
        if not self._rpc.is_open:
            raise Unreachable("There is no connection to signal-cli.")
        was_cut = address.chat_id in self._cut_looks
        self._cut_looks.put(address.chat_id, None)
        sent_at = await self._api.react(address, target, _EYES, is_on=False)
        self._receipts.note_sent(sent_at)
        if not was_cut:
            self._cut_looks.drop(address.chat_id)
        try:
            async with asyncio.timeout(self._settings.receipt_wait):
                while not self._receipts.list_confirming(people, sent_at):
                    await self._receipts.wait()
        except TimeoutError as error:
            raise Unsure("No device of the recipient is online to say what it received.") from error
        await asyncio.sleep(self._settings.receipt_grace)
        return self._receipts.list_confirming(people, sent_at)

    def _lock(self, address: Address) -> asyncio.Lock:
        """Return the lock of a chat: what is in doubt there was the only call under way."""
        lock = self._locks.get(address.chat_id) or asyncio.Lock()
        self._locks.put(address.chat_id, lock)
        return lock

    async def _list_people(self, address: Address) -> list[str]:
        """Return who reads a chat besides us."""
        if group_of(address) is None:
            return [address.chat_id]
        members = await self._api.list_members(address) or []
        return [member for member in members if not self._me.is_me(member)]

    def health(self) -> Health:
        """Report the state of the connection, and what an owner should know of the account."""
        return replace(self._connection_health.health(), concerns=self._concerns)


def create(settings: SignalSettings) -> ChatAdapter:
    """Create the adapter; the gateway finds this function by the platform's name."""
    return SignalAdapter(settings)


def _own(message_id: PlatformMessageId) -> int:
    """Return the time of one of our messages that apps still let change. Raises `AdapterError`."""
    sent_at, author = read_message_id(message_id)
    if author:
        raise Rejected("Only one's own messages can be changed on Signal.")
    if time.time() * 1000 - sent_at > _DAY:
        raise MessageLocked("Signal's apps let a message change for a day only.")
    return sent_at
