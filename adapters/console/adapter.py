"""The console as a chat platform: joins its wire with what it reads and writes."""

import time
from collections.abc import Mapping, Sequence

from adapters.console import receive as reading
from adapters.console.api import Client, ConsoleServer
from adapters.console.render import (
    render_ack,
    render_deletion,
    render_error,
    render_message,
    render_sign,
    render_typing,
)
from adapters.console.settings import ConsoleSettings, read_settings
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.errors import Unreachable
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Inbound, OutboundMessage, RawEvent
from adapters.toolkit.split import split_markdown

_LONGEST_MESSAGE = 100_000


class ConsoleAdapter:
    """One talk between the owner of the home and the house, over any number of clients."""

    name = "console"
    pace = Pace(chat_interval=0, edit_interval=0.1, per_second=0)
    typing_lasts = 5.0
    most_buttons = 25
    """More could be shown, and nobody would read them."""

    def __init__(self, settings: ConsoleSettings) -> None:
        self._server = ConsoleServer(settings.socket, self._hear, confirm=settings.confirm)
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
        """The message or press in an event. Raises `ValueError`."""
        return reading.receive(event)

    def split(self, text: str) -> tuple[str, ...]:
        """Cut only what no screen would show."""
        return split_markdown(text, limit=_LONGEST_MESSAGE, measure=len)

    def preview(self, text: str) -> list[str]:
        """The messages of a text, which clients get as they stand."""
        return list(self.split(text))

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Show a message; returns once a client has it. Raises `Unreachable` and `Unsure`.

        Its id is the key of what is owed: clients show a repeat in place of the first.
        """
        line = render_message(message, message_id=message.key, key=message.key, is_edit=False)
        await self._server.post(line, message.key)
        return PlatformMessageId(message.key)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Show new words in place of the old. Raises `Unreachable` and `Unsure`."""
        key = self._name_change(message_id)
        line = render_message(message, message_id=message_id, key=key, is_edit=True)
        if message.is_live:
            self._server.broadcast(line)
        else:
            await self._server.post(line, key)

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Take a message away; returns once a client has. Raises `Unreachable` and `Unsure`."""
        key = self._name_change(message_id)
        await self._server.post(render_deletion(message_id, key=key), key)

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Show the eyes on a message, or take them away; nobody has to confirm it."""
        self._server.broadcast(render_sign(message_id, seen=seen))

    async def type(self, address: Address) -> None:
        """Show that the house is at work."""
        self._server.broadcast(render_typing())

    def newest(self, address: Address) -> PlatformMessageId | None:
        """None: nothing has to be looked for here."""
        return None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """None: a repeat under the same key is shown once, so that it may always be sent."""
        return None

    def health(self) -> Health:
        """Connected while the socket is there; having no client is nothing to mend."""
        if self._is_open:
            return Health(state="connected", alive_at=time.monotonic())
        return Health(state="starting", detail="the console's socket is not open yet")

    def _name_change(self, message_id: PlatformMessageId) -> str:
        """A key under which clients confirm this one change of a message."""
        self._changes += 1
        return f"{message_id}/{self._changes}"

    def _note_open(self) -> None:
        self._is_open = True

    async def _hear(self, line: str, client: Client) -> None:
        """Take one line of a client; what can't be used is said, and nothing breaks off."""
        try:
            heard = reading.read_line(line, now=time.time_ns() // 1_000_000)
            if isinstance(heard, reading.Got):
                self._server.confirm(heard.key)
            elif self._inlet is None:
                client.write(render_error("The house is not open yet; say it again."))
            elif isinstance(heard, reading.Hello):
                client.shows_buttons = heard.shows_buttons
                self._inlet.notice(Address(chat_id=reading.CHAT, is_direct=True))
            else:
                await self._inlet.take([heard.event])
                client.write(render_ack(heard.event.event_id))
        except (ValueError, Unreachable) as error:
            client.write(render_error(str(error)))


def create(options: Mapping[str, str]) -> ChatAdapter:
    """The console from plain options. Raises `ValueError` with a sentence."""
    return ConsoleAdapter(read_settings(options))
