"""Joins Discord's rooms into one adapter: connects, hands over, sends, edits, finds."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

from adapters.abilities import MenuEntry
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.discord import channel_directory, interactions, lookup
from adapters.discord.api import Api
from adapters.discord.channel_directory import Facts
from adapters.discord.client import Starts, until_ended
from adapters.discord.ingest.pipeline import Arrivals
from adapters.discord.interactions import Promises
from adapters.discord.payloads import (
    MOST_BUTTONS,
    MOST_FILE_BYTES,
    fingerprint,
    make_content,
    make_menu,
)
from adapters.discord.places import channel_of
from adapters.discord.receive import receive
from adapters.discord.render import TEXT_LIMIT, measure, render
from adapters.discord.session import Connection
from adapters.discord.settings import DiscordSettings, read_settings
from adapters.errors import AdapterError, AdapterStopped, MessageGone, Unreachable
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Attachment, Inbound, OutboundMessage, RawEvent
from adapters.toolkit.caches import Counts, Pauses
from adapters.toolkit.connection_health import Liveness
from adapters.toolkit.split import split_markdown
from adapters.toolkit.text import Json

_log = logging.getLogger(__name__)

_STEADY = 60.0
"""Seconds that a sign-in has to last before the next failure is met with a short pause."""


class DiscordAdapter:
    """One bot account, with all abilities but a list of steps."""

    name = "discord"
    typing_lasts = 10.0
    """Discord takes the sign away after ten seconds (Discord API, Trigger Typing)."""
    most_buttons = MOST_BUTTONS
    most_file_bytes = MOST_FILE_BYTES

    def __init__(self, settings: DiscordSettings) -> None:
        self._settings = settings
        self._api: Api | None = None
        self._tracks = lookup.Tracks()
        self._starts = Starts()
        self._counts = Counts(channel_directory.FRESH)
        self._facts = Facts(self._connected, threads=settings.thread_per_mention)
        self._promises = Promises(self._connected)
        self._arrivals = Arrivals(self._facts, settings, self._promises)
        self._liveness = Liveness("Discord")
        self.pace = Pace(
            chat_interval=0.0,
            edit_interval=settings.edit_interval,
            per_second=settings.messages_per_second,
        )

    # The connection

    async def run(self, inlet: Inlet) -> None:
        """Receive until cancelled. Raises `AdapterStopped` when only a person can help."""
        with self._liveness.running():
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._arrivals.work(inlet))
                    group.create_task(self._stay_connected())
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None

    async def _stay_connected(self) -> None:
        """Sign in, again and again, with a fresh client each time: one never ends well twice."""
        pauses = Pauses(self._settings.longest_pause)
        while True:
            began = time.monotonic()
            try:
                await until_ended(asyncio.create_task(self._sign_in()))
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._liveness.note("disconnected", str(error))
                if time.monotonic() - began > _STEADY:
                    pauses.reset()
                await pauses.wait(error)

    async def _sign_in(self) -> None:
        self._starts.check(time.monotonic())
        async with Connection(self._settings, self, self._starts) as connection:
            self._api = Api(connection)
            try:
                await connection.listen()
            finally:
                self._api = None

    def _connected(self) -> Api:
        if self._api is None:
            raise Unreachable(self._liveness.detail or "Discord is not connected.")
        return self._api

    def hear(self, name: str, data: Json) -> None:
        """An event from the gateway."""
        if name == "MESSAGE_CREATE":
            self._tracks.note(str(data.get("channel_id")), str(data.get("id")))
        self._arrivals.hear(name, data)

    def note_ready(self) -> None:
        """A session began."""
        self._arrivals.note_ready()
        self._liveness.note("connected")

    def note_alive(self) -> None:
        """The gateway said something."""
        self._liveness.note_alive()

    def note_resumed(self) -> None:
        """The session goes on."""
        self._liveness.note("connected")

    def note_lost(self, why: str) -> None:
        """The connection is gone; another one is being made."""
        self._liveness.note("disconnected", why)

    def health(self) -> Health:
        """How the connection fares, and when the gateway last said something."""
        return self._liveness.health()

    async def _use(self, ticket: str) -> Api:
        """The connection, once the promise that the ticket is for was made."""
        await self._promises.wait(ticket)
        return self._connected()

    # Reading and writing

    def receive(self, event: RawEvent) -> Inbound | None:
        """Read an event that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Cut Markdown into parts of at most 2,000 UTF-16 units once rendered."""
        return split_markdown(text, limit=TEXT_LIMIT, measure=measure)

    def preview(self, text: str) -> list[str]:
        """The content of each message of a text."""
        return [render(part) for part in self.split(text)]

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Post a message. Raises `AdapterError`."""
        ticket = message.address.ticket
        if ticket is not None:
            return PlatformMessageId(
                await interactions.send(await self._use(ticket), ticket, message)
            )
        message_id = await channel_directory.send(
            self._connected(), message, opens_threads=self._settings.thread_per_mention
        )
        self._tracks.note(channel_of(message.address), message_id)
        return PlatformMessageId(message_id)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Make a message read so. Raises `AdapterError`."""
        ticket = message.address.ticket
        if ticket is not None:
            await interactions.edit(await self._use(ticket), ticket, message, message_id)
        else:
            channel = channel_of(message.address)
            await self._connected().change(channel, message_id, make_content(message))

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Take a message of ours away. Raises `AdapterError`."""
        try:
            if address.ticket is not None:
                await interactions.delete(
                    await self._use(address.ticket), address.ticket, message_id
                )
            else:
                await self._connected().remove(channel_of(address), message_id)
        except MessageGone:
            return

    async def type(self, address: Address) -> None:
        """Show "typing". A promised answer shows that already. Raises `AdapterError`."""
        if address.ticket is None:
            await channel_directory.type_in(self._connected(), address)

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Put 👀 to a person's message, or take it away. Raises `AdapterError`."""
        if address.ticket is None and not interactions.names_no_message(message_id):
            await channel_directory.react(self._connected(), address, message_id, seen=seen)

    def newest(self, address: Address) -> PlatformMessageId | None:
        """The newest id seen in the channel; in a new thread, the message that opened it."""
        found = self._tracks.newest(channel_of(address)) or address.thread_id
        return PlatformMessageId(found) if found else None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Look for an unsure message in the channel's history. Raises `AdapterError`."""
        ticket = message.address.ticket
        if ticket is not None:
            found = await interactions.find(await self._use(ticket), ticket, message)
        else:
            found = await lookup.find(self._connected(), message, known)
        return PlatformMessageId(found) if found else None

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """The attached file. Raises `Rejected` if it is larger or gone, and `AdapterError`."""
        return await lookup.fetch(self._connected(), attachment, most_bytes=most_bytes)

    async def count_people(self, address: Address) -> int | None:
        """How many people besides the bot can read along, at most. Raises `AdapterError`."""
        return await channel_directory.count(self._connected(), self._facts, self._counts, address)

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the slash commands, unless they are there already. Raises `AdapterError`."""
        api = self._connected()
        known, is_for_users = await api.fetch_menu()
        wanted = make_menu(entries, is_for_users=is_for_users)
        if fingerprint(known) != fingerprint(wanted):
            await api.put_menu(wanted)


def create(options: Mapping[str, str]) -> ChatAdapter:
    """Make the adapter from its settings as strings.

    They are token, api_base_url, gateway_url, edit_interval, messages_per_second,
    thread_per_mention and message_content. Raises `ValueError` with a sentence on one that
    can't be used.
    """
    return DiscordAdapter(read_settings(options))
