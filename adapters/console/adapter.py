"""Joins the console's rooms into one adapter."""

import time
import uuid
from collections.abc import Sequence

from adapters.console.api import Api
from adapters.console.receive import HERE, pack, receive
from adapters.console.settings import ConsoleSettings
from adapters.console.wire import Wrote, write_line
from adapters.contract import Health, HealthState, Inlet, Pace
from adapters.errors import AdapterStopped, Rejected
from adapters.ids import Address, EventId, PlatformMessageId
from adapters.messages import InboundMessage, OutboundMessage, RawEvent
from adapters.split import split_markdown

_TEXT_LIMIT = 100_000
"""Letters in one message: a terminal scrolls, so this only keeps lines far below 2 MB."""


class ConsoleAdapter:
    """The terminals of whoever owns the home. Can edit, show typing and find unsure messages."""

    name = "console"
    typing_lasts = 5.0
    pace = Pace(chat_interval=0.0, edit_interval=0.1, per_second=0.0)

    def __init__(self, settings: ConsoleSettings) -> None:
        self._path = settings.socket
        self._api = Api(settings.socket, answer_timeout=settings.answer_timeout)
        self._state: HealthState = "starting"
        self._detail = ""

    async def run(self, inlet: Inlet) -> None:
        """Serve terminals until cancelled. Raises `AdapterStopped` if the socket can't be had."""

        async def take(wrote: Wrote) -> None:
            payload = pack(wrote.message_id, wrote.text, now=time.time_ns() // 1_000_000)
            await inlet.take([RawEvent(event_id=EventId(wrote.message_id), payload=payload)])

        self._state = "starting"
        self._detail = "The console was shut down."
        try:
            await self._api.serve(take, self._open)
        except AdapterStopped as stop:
            self._detail = str(stop)
            raise
        finally:
            self._state = "stopped"

    def _open(self) -> None:
        self._state = "connected"

    def receive(self, event: RawEvent) -> InboundMessage:
        """Read a line that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Cut Markdown into parts of at most 100,000 letters."""
        return split_markdown(text, limit=_TEXT_LIMIT, measure=len)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Show a message; returns once a terminal confirmed it. Its key is also its id.

        Raises `Unreachable` without a terminal, `Unsure` if none confirms it in time.
        """
        key = message.key or uuid.uuid4().hex
        line = write_line(
            type="message", id=key, text=_text(message), key=key, silent=message.is_silent
        )
        await self._api.deliver(key, line)
        return PlatformMessageId(key)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Show a message's new text. Raises `Unreachable` without a terminal."""
        await self._api.show(write_line(type="edit", id=message_id, text=_text(message)))

    async def type(self, address: Address) -> None:
        """Show that the assistant is at work. Raises `Unreachable` without a terminal."""
        await self._api.show(write_line(type="typing"))

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """The message's id if a terminal confirmed it to this process, late perhaps; else None.

        After a restart a confirmed message may be reported as None. Sending it again does no
        harm: a terminal that has shown a key does not show it twice.
        """
        if message.key and self._api.is_delivered(message.key):
            return PlatformMessageId(message.key)
        return None

    def health(self) -> Health:
        """Connected while the socket is open, with or without terminals."""
        if self._state != "connected":
            detail = self._detail if self._state == "stopped" else ""
            return Health(state=self._state, detail=detail)
        return Health(
            state="connected",
            detail=f"{self._api.viewer_count} terminals are open.",
            alive_at=time.monotonic(),
        )


def _text(message: OutboundMessage) -> str:
    if message.address != HERE:
        raise Rejected(f'The console has no chat "{message.address.chat_id}".')
    if not message.text.strip():
        raise Rejected("The message is empty.")
    return message.text
