"""The console adapter: a chat platform over the home's Unix socket."""

import time
from collections.abc import Sequence

from adapters.console import receive as reading
from adapters.console.api import ConsoleClient, ConsoleServer
from adapters.console.render import (
    render_ack,
    render_deletion,
    render_error,
    render_message,
    render_said,
    render_sign,
    render_typing,
)
from adapters.console.settings import ConsoleSettings
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.errors import Unreachable
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Inbound, InboundMessage, OutboundMessage, RawEvent
from adapters.toolkit.split_long_messages import split_markdown

_LONGEST_MESSAGE = 100_000


class ConsoleAdapter:
    """A conversation of each person with the gateway, over any number of clients.

    The owner's is that of `talaria chat`, too. Others have theirs on the page only.
    """

    name = "console"
    pace = Pace(chat_interval=0, edit_interval=0.1, per_second=0)
    typing_lasts = 5.0
    most_buttons = 25
    """A limit for readability; clients could show more."""
    most_file_bytes = 5_000_000
    """A file of this size, encoded in base64, fits the longest line."""

    def __init__(self, settings: ConsoleSettings) -> None:
        self._server = ConsoleServer(settings, self._hear)
        self._inlet: Inlet | None = None
        self._is_open = False
        self._changes = 0

    async def run(self, inlet: Inlet) -> None:
        """Serve clients until cancelled. Raises `AdapterStopped` if the socket can't be made."""
        self._inlet = inlet
        try:
            await self._server.serve(self._note_open)
        finally:
            self._is_open = False

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse the message or press of an event. Raises `ValueError`."""
        return reading.receive(event)

    def split(self, text: str) -> tuple[str, ...]:
        """Split only texts that are too long for any screen."""
        return split_markdown(text, limit=_LONGEST_MESSAGE, measure=len)

    def preview(self, text: str) -> list[str]:
        """Return the texts as clients receive them."""
        return list(self.split(text))

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Show a message; return once a client confirms. Raises `Unreachable` and `Unsure`.

        The message id is the outbox key: clients show a repeat in place of the first.
        """
        line = render_message(message, message_id=message.key, key=message.key, is_edit=False)
        await self._server.post(message.address.chat_id, line, message.key)
        return PlatformMessageId(message.key)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Replace a message's text. Raises `Unreachable` and `Unsure`."""
        key = self._name_change(message_id)
        line = render_message(message, message_id=message_id, key=key, is_edit=True)
        if message.is_live:
            self._server.broadcast(message.address.chat_id, line)
        else:
            await self._server.post(message.address.chat_id, line, key)

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Delete a message; return once a client confirms. Raises `Unreachable` and `Unsure`."""
        key = self._name_change(message_id)
        await self._server.post(address.chat_id, render_deletion(message_id, key=key), key)

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Show or hide the eyes on a message; clients do not confirm it."""
        self._server.broadcast(address.chat_id, render_sign(message_id, seen=seen))

    async def type(self, address: Address) -> None:
        """Show that the gateway is working."""
        self._server.broadcast(address.chat_id, render_typing())

    def newest(self, address: Address) -> PlatformMessageId | None:
        """Return None: the console never needs to look up messages."""
        return None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Return None: clients show a repeated key once, so resending is always safe."""
        return None

    def health(self) -> Health:
        """Report connected while the socket exists; having no client is normal."""
        if self._is_open:
            return Health(state="connected", alive_at=time.monotonic())
        return Health(state="starting", detail="the console's socket is not open yet")

    def _name_change(self, message_id: PlatformMessageId) -> str:
        """Build the key under which clients confirm this change of a message."""
        self._changes += 1
        return f"{message_id}/{self._changes}"

    def _note_open(self) -> None:
        self._is_open = True

    async def _hear(self, line: str, client: ConsoleClient) -> None:
        """Take one line from a client; report an unusable line and continue."""
        try:
            heard = reading.read_line(line, user=client.user, now=time.time_ns() // 1_000_000)
            if isinstance(heard, reading.Open):
                if client.has_written:
                    raise ValueError("This connection has its user already.")
                client.user = heard.user
            elif isinstance(heard, reading.Got):
                self._server.confirm(client.user, heard.key)
            elif self._inlet is None:
                client.write(render_error("The gateway is still starting. Send it again."))
            elif isinstance(heard, reading.Hello):
                client.shows_buttons = heard.shows_buttons
                self._inlet.notice(reading.find_address(client.user))
            else:
                await self._inlet.take([heard.event])
                client.write(render_ack(heard.event.event_id))
                said = reading.receive(heard.event)
                if isinstance(said, InboundMessage):
                    self._server.broadcast(client.user, render_said(said), besides=client)
        except (ValueError, Unreachable) as error:
            client.write(render_error(str(error)))


def create(settings: ConsoleSettings) -> ChatAdapter:
    """Create the adapter; the gateway finds this function by the platform's name."""
    return ConsoleAdapter(settings)
