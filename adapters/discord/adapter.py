"""The Discord adapter: holds the session, and sends, edits and reconciles messages."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adapters.abilities import Bot, MenuEntry
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.discord import channel_directory, interactions, lookup
from adapters.discord.api import Api
from adapters.discord.channel_directory import ChannelDirectory
from adapters.discord.client import SessionLimit, until_ended
from adapters.discord.ingest.pipeline import EventPipeline
from adapters.discord.interactions import Acknowledgements
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
from adapters.discord.settings import DiscordSettings
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    MessageLocked,
    Unreachable,
    Unsure,
)
from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import Attachment, Inbound, OutboundMessage, RawEvent
from adapters.toolkit.caches import MemberCounts, ShownContents
from adapters.toolkit.connection_health import Backoff, ConnectionHealth
from adapters.toolkit.split_long_messages import split_markdown

_log = logging.getLogger(__name__)

_STEADY = 60.0
"""Seconds after which a session counts as stable: the next failure then starts with a short pause.
"""


class DiscordAdapter:
    """A bot account, with every ability except lists of steps."""

    name = "discord"
    invites_with_words = False
    typing_lasts = 10.0
    """Discord hides the typing indicator after ten seconds (Discord API, Trigger Typing)."""
    most_buttons = MOST_BUTTONS
    opens_pages = True
    most_file_bytes = MOST_FILE_BYTES

    def __init__(self, settings: DiscordSettings) -> None:
        self._settings = settings
        self._api: Api | None = None
        self._recent_ids = lookup.RecentIds()
        self._shown = ShownContents()
        self._session_limit = SessionLimit()
        self._member_counts = MemberCounts(channel_directory.FRESH)
        self._directory = ChannelDirectory(self._connected, threads=settings.thread_per_mention)
        self._acknowledgements = Acknowledgements(self._connected)
        self._pipeline = EventPipeline(self._directory, settings, self._acknowledgements)
        self._connection_health = ConnectionHealth("Discord")
        self.pace = Pace(
            chat_interval=0.0,
            edit_interval=settings.edit_interval,
            per_second=settings.messages_per_second,
        )

    # The connection

    async def run(self, inlet: Inlet) -> None:
        """Receive events until cancelled. Raises `AdapterStopped` when only a person can help."""
        with self._connection_health.running():
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pipeline.work(inlet))
                    group.create_task(self._stay_connected())
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None

    async def identify(self) -> Bot:
        """Check the token and return the bot. Raises `AdapterError`."""
        async with Connection(self._settings, self, self._session_limit) as connection:
            return Api(connection).identify(reads_quotes=self._settings.message_content)

    async def _stay_connected(self) -> None:
        """Sign in again and again, each time with a new client: a client can run only once."""
        backoff = Backoff(self._settings.longest_pause)
        while True:
            began = time.monotonic()
            try:
                await until_ended(asyncio.create_task(self._sign_in()))
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._connection_health.note("disconnected", str(error))
                if time.monotonic() - began > _STEADY:
                    backoff.reset()
                await backoff.wait(error)

    async def _sign_in(self) -> None:
        self._session_limit.check(time.monotonic())
        async with Connection(self._settings, self, self._session_limit) as connection:
            self._api = Api(connection)
            try:
                await connection.listen()
            finally:
                self._api = None

    def _connected(self) -> Api:
        if self._api is None:
            raise Unreachable(self._connection_health.detail or "Discord is not connected.")
        return self._api

    def hear(self, name: str, data: Any) -> None:
        """Take an event from the gateway connection."""
        if name == "MESSAGE_CREATE" and isinstance(data, dict):
            self._recent_ids.note(str(data.get("channel_id")), str(data.get("id")))
        self._pipeline.hear(name, data)

    def note_ready(self) -> None:
        """Handle a new session."""
        self._pipeline.note_ready()
        self._connection_health.note("connected")

    def note_alive(self) -> None:
        """Record a sign of life."""
        self._connection_health.note_alive()

    def note_resumed(self) -> None:
        """Handle a resumed session."""
        self._connection_health.note("connected")

    def note_lost(self, why: str) -> None:
        """Handle a lost connection; the client reconnects."""
        self._connection_health.note("disconnected", why)

    def health(self) -> Health:
        """Report the connection's state and its last sign of life."""
        return self._connection_health.health()

    async def _use(self, ticket: str) -> Api:
        """Return the connection once the ticket's interaction was acknowledged."""
        await self._acknowledgements.wait(ticket)
        return self._connected()

    # Reading and writing

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse an event that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Split Markdown into parts of at most 2,000 UTF-16 units once rendered."""
        return split_markdown(text, limit=TEXT_LIMIT, measure=measure)

    def preview(self, text: str) -> list[str]:
        """Render a text, one string per message."""
        return [render(part) for part in self.split(text)]

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Send a message. Raises `AdapterError`."""
        address = message.address
        if address.ticket is not None:
            try:
                return PlatformMessageId(
                    await interactions.send(
                        await self._use(address.ticket), address.ticket, message
                    )
                )
            except ChatGone:
                if not address.is_direct:
                    raise  # elsewhere, others would see it, or the bot is no member
                message = replace(message, address=replace(address, ticket=None))
        message_id = await channel_directory.send(
            self._connected(), message, opens_threads=self._settings.thread_per_mention
        )
        channel = channel_of(message.address)
        self._recent_ids.note(channel, message_id)
        self._shown.note((channel, message_id), make_content(message))
        return PlatformMessageId(message_id)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Replace a message's content. Raises `AdapterError`."""
        ticket = _ticket_of(message.address)
        if ticket is not None:
            await interactions.edit(await self._use(ticket), ticket, message, message_id)
        else:
            channel, content = channel_of(message.address), make_content(message)
            if not self._shown.is_shown((channel, message_id), content):
                await self._connected().change(channel, message_id, content)
                self._shown.note((channel, message_id), content)

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Delete one of our messages. Raises `AdapterError`."""
        try:
            ticket = _ticket_of(address)
            if ticket is not None:
                await interactions.delete(await self._use(ticket), ticket, message_id)
            else:
                await self._connected().remove(channel_of(address), message_id)
        except MessageLocked:
            raise
        except MessageGone:
            return

    async def type(self, address: Address) -> None:
        """Show the typing indicator, unless a deferred answer shows it already. Raises
        `AdapterError`.
        """
        if address.ticket is None:
            await channel_directory.type_in(self._connected(), address)

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Add or remove 👀 on a person's message. Raises `AdapterError`."""
        if address.ticket is None and not interactions.names_no_message(message_id):
            await channel_directory.react(self._connected(), address, message_id, seen=seen)

    def newest(self, address: Address) -> PlatformMessageId | None:
        """Return the newest id seen in the channel or, for a new thread, its opening message."""
        found = self._recent_ids.newest(channel_of(address)) or address.thread_id
        return PlatformMessageId(found) if found else None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Look for a message of unknown delivery in the channel's history. Raises
        `AdapterError`.
        """
        ticket = message.address.ticket
        try:
            if ticket is not None:
                found = await interactions.find(await self._use(ticket), ticket, message)
            else:
                found = await lookup.find(self._connected(), message, known)
        except ChatGone as error:
            if not message.address.is_direct or ticket is None:
                raise
            raise Unsure(str(error)) from error
        return PlatformMessageId(found) if found else None

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Download an attachment. Raises `Rejected` if it is too large or gone, and
        `AdapterError`.
        """
        return await lookup.fetch(self._connected(), attachment, most_bytes=most_bytes)

    async def find_creator(self, address: Address) -> PlatformUserId | None:
        """Return the owner of the server: a channel itself has no creator. Raises
        `AdapterError`.
        """
        api = self._connected()
        creator = await channel_directory.find_creator(api, self._directory, address)
        return PlatformUserId(creator) if creator else None

    async def count_people(self, address: Address) -> int | None:
        """Return an upper bound of the people besides the bot who can read the address. Raises
        `AdapterError`.
        """
        return await channel_directory.count(
            self._connected(), self._directory, self._member_counts, address
        )

    def invite(self, words: str) -> str | None:
        """Return the address of the bot's profile, which has a field for messages. Pure.

        Discord has no address that opens a direct chat before its first message.
        """
        return f"https://discord.com/users/{self._api.bot}" if self._api else None

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the slash commands if they differ. Raises `AdapterError`."""
        self._acknowledgements.note_menu(entries)
        api = self._connected()
        known, is_for_users = await api.fetch_menu()
        wanted = make_menu(entries, is_for_users=is_for_users)
        if fingerprint(known) != fingerprint(wanted):
            await api.put_menu(wanted)


def create(settings: DiscordSettings) -> ChatAdapter:
    """Create the adapter; the gateway finds this function by the platform's name."""
    return DiscordAdapter(settings)


def _ticket_of(address: Address) -> str | None:
    """Return the ticket to change a sent message; a direct chat needs none."""
    return None if address.is_direct else address.ticket
