"""The Signal adapter: receives envelopes, and sends, edits and reconciles messages."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from adapters.abilities import Bot
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    MessageLocked,
    NoProgram,
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
        self._under_way: set[asyncio.Event] = set()
        """By call that leaves a time: what is set at its end."""
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
        self._receipts.begin_connection()
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
        except Unreachable as error:
            raise NoProgram(
                f"No signal-cli answers at {self._settings.rpc_url}. Start its daemon, or correct"
                " SIGNAL_RPC_URL; see docs/signal.md."
            ) from error
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
            with self._calling() as note:
                sent_at, is_distrusted = await self._api.send(message)
                note(sent_at)
        if is_distrusted:
            self._reader.keys_changed.set()
        message_id = PlatformMessageId(str(sent_at))
        self._shown.note((message.address.chat_id, message_id), message.text)
        return message_id

    @contextmanager
    def _calling(self) -> Iterator[Callable[[int], None]]:
        """Make look-ups wait for a call that leaves a time, which the caller notes."""
        ended = asyncio.Event()
        self._under_way.add(ended)
        try:
            yield self._note_answered
        finally:
            self._under_way.discard(ended)
            ended.set()

    def _note_answered(self, sent_at: int) -> None:
        self._receipts.note_sent(sent_at)
        if self._rpc.is_open:
            self._receipts.note_reading(sent_at)

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
            with self._calling() as note:
                sent_at, is_distrusted = await self._api.send(message, edits=newest)
                note(sent_at)
        if is_distrusted:
            self._reader.keys_changed.set()
        self._revisions.put(message_id, (sent_at, edits + 1))
        self._shown.note(place, message.text)

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Delete a message for everyone; apps allow it for a day. Raises `AdapterError`."""
        sent_at = _own(message_id)
        async with self._lock(address):
            await self._delete(address, sent_at)

    async def _delete(self, address: Address, sent_at: int) -> None:
        with self._calling() as note:
            note(await self._api.delete(address, sent_at))

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Add or remove the eyes reaction. Raises `AdapterError`."""
        async with self._lock(address):
            await self._react(address, message_id, seen=seen)

    async def _react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> int:
        with self._calling() as note:
            sent_at = await self._api.react(address, message_id, _EYES, is_on=seen)
            note(sent_at)
        return sent_at

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

    def version_of(self, message_id: PlatformMessageId) -> PlatformMessageId | None:
        """Return the time of the newest version of a message that was edited here. Pure."""
        found = self._revisions.get(message_id)
        return PlatformMessageId(str(found[0])) if found else None

    def note_known(self, known: Sequence[PlatformMessageId]) -> None:
        """Take note of what is known of all chats: devices confirm times and name no chat. Pure."""
        for sent_at in _list_times(known):
            self._receipts.note_sent(sent_at)

    async def find(self, message: OutboundMessage, known: Sequence[PlatformMessageId]) -> None:
        """Delete whatever may be a message of unknown delivery, so that it can be sent again.

        - Signal knows no key of a message: the recipients' devices confirm times. A confirmed time
          that no known send explains may be the message, or a call whose time only a killed
          process knew, or a message in doubt of another chat, or a call of signal-cli's own.
        - So nothing is ever taken for the message. Apps look for what is to be deleted by its time,
          some in all chats; deleting what is no message changes nothing. What is in doubt elsewhere
          is deleted and sent again by its own look-up.
        - Then a reaction is taken back that never was, which nobody sees. Devices confirm in order:
          once it is confirmed, they have confirmed whatever was sent before.

        Raises `Unsure` if no device confirms it, if receipts may be missing, or if what was found
        is too old to be deleted.
        """
        address = message.address
        after = max(_list_times(known), default=0)
        async with self._lock(address):
            people = await self._list_people(address)
            # At once: signal-cli forgets receipts, and this process may be killed, too.
            gone = await self._delete_unknown(address, people, after, self._receipts.newest)
            looked_at = await self._probe(address, known, people)
            await self._delete_unknown(address, people, after, looked_at, gone=gone)
            if not self._receipts.reaches(after):
                raise Unsure("signal-cli has not kept what the recipients' devices confirmed.")

    async def _delete_unknown(
        self,
        address: Address,
        people: Sequence[str],
        after: int,
        until: int,
        *,
        gone: Sequence[int] = (),
    ) -> list[int]:
        """Delete here what people confirm and no known send explains; return its times."""
        for ended in tuple(self._under_way):  # what is called from now on has a later time
            await ended.wait()
        found = self._receipts.list_unexplained(people, after=after, until=until)
        if found and time.time() * 1000 - found[0] > _DAY:
            raise Unsure("Signal's apps let a message be deleted for a day only.")
        for sent_at in found:
            if sent_at not in gone:
                await self._delete(address, sent_at)
        return found

    async def _probe(
        self, address: Address, known: Sequence[PlatformMessageId], people: Sequence[str]
    ) -> int:
        """Send what nobody sees; return its time once it is confirmed. Raises `AdapterError`."""
        target = next(iter([one for one in known if ":" in one] or known), None)
        if target is None:
            raise Unsure("No message of this chat is known from before the one in doubt.")
        if not self._rpc.is_open:
            raise Unreachable("There is no connection to signal-cli.")
        sent_at = await self._react(address, target, seen=False)
        try:
            async with asyncio.timeout(self._settings.receipt_wait):
                while not self._receipts.is_confirmed(sent_at, people):
                    await self._receipts.wait()
        except TimeoutError as error:
            raise Unsure("No device of the recipient is online to say what it received.") from error
        await asyncio.sleep(self._settings.receipt_grace)
        return sent_at

    def _lock(self, address: Address) -> asyncio.Lock:
        """Return the lock of a chat: one call at a time, and none during a look-up there."""
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


def _list_times(known: Sequence[PlatformMessageId]) -> list[int]:
    """Return the times of those messages that are ours."""
    return [int(one) for one in known if one.isascii() and one.isdecimal()]


def _own(message_id: PlatformMessageId) -> int:
    """Return the time of one of our messages that apps still let change. Raises `AdapterError`."""
    sent_at, author = read_message_id(message_id)
    if author:
        raise Rejected("Only one's own messages can be changed on Signal.")
    if time.time() * 1000 - sent_at > _DAY:
        raise MessageLocked("Signal's apps let a message change for a day only.")
    return sent_at
