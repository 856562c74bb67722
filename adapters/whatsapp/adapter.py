"""The WhatsApp adapter: takes Meta's requests, and sends, marks and reconciles messages."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from adapters.abilities import Bot, MenuEntry, WebAnswer, WebRequest
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatWaits,
    RateLimited,
    Rejected,
    Unreachable,
)
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Attachment, DeliveryReport, Inbound, OutboundMessage, RawEvent
from adapters.toolkit.caches import BoundedDict, MemberCounts
from adapters.toolkit.connection_health import Backoff, ConnectionHealth
from adapters.toolkit.split_long_messages import split_markdown
from adapters.toolkit.text import words_in
from adapters.whatsapp import webhook
from adapters.whatsapp.api import Api, read_name
from adapters.whatsapp.deliveries import DeliveryReports, Setbacks, Windows
from adapters.whatsapp.receive import find_address, read_time, receive
from adapters.whatsapp.render import (
    MOST_BUTTONS,
    MOST_FILE_BYTES,
    TEXT_LIMIT,
    content_of,
    fits_template,
    measure,
    media_of,
    template_of,
    words_of,
)
from adapters.whatsapp.settings import WhatsAppSettings

_log = logging.getLogger(__name__)

_SEEN = "👀"
_INTERVAL, _BURST = 6.0, 45
"""One message in six seconds to one person, and up to 45 at once after a quiet time (docs:
throughput, pair rate limits).
"""
_COUNTS_KEEP = 30.0
_MOST_COMMANDS, _LONGEST_COMMAND, _LONGEST_ABOUT = 30, 32, 256
_WAITS = (
    "WhatsApp lets Talaria write for 24 hours after a person's last message. A reminder that is due"
    " later waits until they write again, or goes to another chat app of theirs. An approved"
    " template would be sent instead: set whatsapp.template to its name."
)
_NOT_RUNNING = WebAnswer(status=503, text="WhatsApp is not connected yet. Repeat the request.")


class WhatsAppAdapter:
    """A business number. WhatsApp has no way to change or delete what was sent."""

    name = "whatsapp"
    invites_with_words = True
    typing_lasts = 25.0
    """WhatsApp hides the indicator after 25 seconds (docs: typing indicators)."""
    most_buttons = MOST_BUTTONS
    most_file_bytes = MOST_FILE_BYTES
    most_request_bytes = webhook.MOST_BYTES

    def __init__(self, settings: WhatsAppSettings) -> None:
        self._settings = settings
        self._api = Api(settings)
        self._digits = ""
        self._inlet: Inlet | None = None
        self._reports = DeliveryReports(patience=settings.report_seconds)
        self._setbacks = Setbacks()
        self._windows = Windows(settings.window)
        self._newest: BoundedDict[str, str] = BoundedDict()
        """The newest message of a person in each chat, which a read mark and typing need."""
        self._rooms = MemberCounts(_COUNTS_KEEP)
        self._connection_health = ConnectionHealth("WhatsApp")
        is_limited = settings.messages_per_second > 0
        self.pace = Pace(
            chat_interval=_INTERVAL if is_limited else 0.0,
            room_interval=_INTERVAL if is_limited else 0.0,
            burst=_BURST,
            edit_interval=0.0,
            per_second=settings.messages_per_second,
        )

    async def run(self, inlet: Inlet) -> None:
        """Take Meta's requests until cancelled. Raises `AdapterStopped`."""
        with self._connection_health.running():
            async with self._api:
                try:
                    await self._watch(inlet)
                finally:
                    self._inlet = None

    async def take_request(self, request: WebRequest) -> WebAnswer:
        """Answer a request of Meta: 200 once its events are durable, 401 if it is not signed.

        Meta repeats a request without a 200 for up to seven days.
        """
        if request.method == "GET":
            return webhook.shake_hands(request, self._settings)
        if refusal := webhook.refuse(request, self._settings):
            return refusal
        inlet = self._inlet
        if inlet is None:
            return _NOT_RUNNING
        batch = webhook.Batch(request.body, self._settings.phone_number_id)
        new = [pair for pair in batch.reports if not self._is_old(pair)]
        events = batch.list_events([event for _, event in new])
        for message, _ in batch.messages:  # before a waiting message is tried for it
            self._windows.hear(find_address(message).chat_id, read_time(message) // 1000)
        try:
            if events:
                await inlet.take(events)
        except Unreachable:
            return WebAnswer(status=503, text="The request was not stored. Repeat it.")
        for report, _ in new:
            self.note_report(report)
        for message, _ in batch.messages:
            address = find_address(message)
            self._newest.put(address.chat_id, words_in(message, "id"))
            inlet.notice(address)
        self._connection_health.note_alive()
        return WebAnswer(status=200)

    def note_report(self, report: DeliveryReport) -> None:
        """Take note of a report, also of one that an earlier process has stored."""
        if report.outcome == "waits":
            self._windows.close(report.address.chat_id, report.key)
        self._reports.note(report)
        self._setbacks.note(report)

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse an event that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Split Markdown into parts of at most 4,096 characters."""
        return split_markdown(text, limit=TEXT_LIMIT, measure=measure)

    def preview(self, text: str) -> list[str]:
        """Return each message in WhatsApp's own markup."""
        return [words_of(part) for part in self.split(text)]

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Send a message. Raises `ChatWaits` after 24 hours without a template, and others."""
        chat = message.address.chat_id
        if pause := self._setbacks.measure_pause(chat):
            raise RateLimited("WhatsApp could not deliver there just now.", retry_after=pause)
        if not self._windows.is_open(chat):
            return await self._send_template(message)
        if message.file is not None:
            if not 0 < len(message.file.data) <= MOST_FILE_BYTES:
                raise Rejected(f"{message.file.name} is empty or too large for WhatsApp.")
            media_id = await self._api.upload(message.file)
            content = media_of(message, message.file, media_id)
        else:
            content = content_of(message)
        self._windows.note_send(message.key)
        try:
            return PlatformMessageId(await self._api.send(_address(message) | content))
        except ChatWaits:
            self._windows.close(chat, message.key)
            return await self._send_template(message)

    def newest(self, address: Address) -> PlatformMessageId | None:
        """Return None: a message is found by its key, not by its place."""
        return None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Wait for the report of a message of unknown delivery. Raises `Unreachable`."""
        if self._inlet is None:
            raise Unreachable("WhatsApp is not connected yet.")
        return await self._reports.find(message.key)

    async def type(self, address: Address) -> None:
        """Mark the newest message as read, and show that an answer is on its way."""
        newest = self._newest.get(address.chat_id)
        if newest is not None and address.is_direct:
            mark = {"status": "read", "message_id": newest, "typing_indicator": {"type": "text"}}
            await self._api.post(mark, lost=Unreachable)

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Add or remove the eyes reaction. Raises `AdapterError`."""
        reaction = {"message_id": message_id, "emoji": _SEEN if seen else ""}
        request = _recipient(address) | {"type": "reaction", "reaction": reaction}
        await self._api.post(request, lost=Unreachable)

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Download a file that a person sent. Raises `AdapterError`."""
        return await self._api.download(attachment.file_id, most_bytes=most_bytes)

    async def count_people(self, address: Address) -> int | None:
        """Count the people besides the bot who can read the address. Raises `AdapterError`."""
        if address.is_direct:
            return 1
        return await self._rooms.count(address.chat_id, lambda: self._count(address.chat_id))

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the commands, which WhatsApp offers after a slash. Raises `AdapterError`."""
        commands = [
            {
                "command_name": one.name[:_LONGEST_COMMAND],
                "command_description": one.description[:_LONGEST_ABOUT],
            }
            for one in entries
            if one.is_listed
        ]
        await self._api.set_commands(commands[:_MOST_COMMANDS])

    def invite(self, words: str) -> str | None:
        """Return an address that opens the chat with the words typed in. Pure."""
        typed = quote(f"/start {words}")
        return f"https://wa.me/{self._digits}?text={typed}" if self._digits else None

    async def identify(self) -> Bot:
        """Check the token, and return the number. Raises `AdapterError`."""
        async with self._api:
            name, digits = read_name(await self._api.fetch_number())
        gaps = () if self._settings.template else (_WAITS,)
        return Bot(name=name, link=f"https://wa.me/{digits}", gaps=gaps)

    def health(self) -> Health:
        """Report whether Meta answers, and when it last called."""
        return self._connection_health.health()

    async def _watch(self, inlet: Inlet) -> None:
        """Ask now and then whether Meta takes the token. Only a person can repair a token."""
        backoff = Backoff(self._settings.longest_pause)
        while True:
            try:
                _, self._digits = read_name(await self._api.fetch_number())
                if self._inlet is None:
                    self._windows.load(await inlet.marks())
                    self._inlet = inlet
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._connection_health.note("disconnected", str(error))
                await backoff.wait(error)
            else:
                backoff.reset()
                self._connection_health.note_alive()
                self._connection_health.note("connected")
                await asyncio.sleep(self._settings.check_interval)

    def _is_old(self, pair: tuple[Any, RawEvent]) -> bool:
        """Return whether a report says no more than one that is stored."""
        report, _ = pair
        return report.outcome == "sent" and self._reports.knows(report)

    async def _send_template(self, message: OutboundMessage) -> PlatformMessageId:
        """Send the words of a message by the template. Raises `ChatWaits` if it can't hold them."""
        name = self._settings.template
        if not name or not fits_template(message):
            raise ChatWaits
        content = template_of(name, self._settings.template_language, message.text)
        return PlatformMessageId(await self._api.send(_address(message) | content))

    async def _count(self, group: str) -> int | None:
        with contextlib.suppress(Rejected):
            return await self._api.count_members(group)
        return None


def create(settings: WhatsAppSettings) -> ChatAdapter:
    """Create the adapter; the gateway finds this function by the platform's name."""
    return WhatsAppAdapter(settings)


def _recipient(address: Address) -> dict[str, str]:
    """Return who gets a message: a number, an id of Meta (`US.123`), or a group."""
    kind = "individual" if address.is_direct else "group"
    is_id = address.is_direct and not address.chat_id.isdecimal()
    return {"recipient_type": kind, "recipient" if is_id else "to": address.chat_id}


def _address(message: OutboundMessage) -> dict[str, Any]:
    """Return the part of a request that says where a message goes, and the key of its row."""
    request: dict[str, Any] = _recipient(message.address)
    request["biz_opaque_callback_data"] = message.key
    if message.reply_to is not None:
        request["context"] = {"message_id": message.reply_to}
    return request
