"""The Slack adapter: receives events, and sends, edits and reconciles messages."""

import asyncio
import logging
from collections.abc import Sequence

from adapters.abilities import Bot, MenuEntry
from adapters.contract import ChatAdapter, Health, Inlet, Pace
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
from adapters.slack.api import Api, SlackPlace
from adapters.slack.errors import StreamOpen
from adapters.slack.events import BotIdentity
from adapters.slack.files import MOST_BYTES, Files
from adapters.slack.ingest.catchup import CatchUp
from adapters.slack.ingest.http_mode import Webhook, serving
from adapters.slack.ingest.pipeline import EventPipeline
from adapters.slack.ingest.requests import RequestReceiver
from adapters.slack.ingest.socket_mode import SocketMode
from adapters.slack.lookup import ChannelMembers, EphemeralAnswers, find, is_whisper
from adapters.slack.places import HOME_MESSAGE, channel_of, home_owner, is_ts, read_ticket
from adapters.slack.receive import receive
from adapters.slack.recent_activity import RecentActivity
from adapters.slack.render import (
    MOST_BUTTONS,
    TEXT_LIMIT,
    measure,
    post_of,
    update_of,
    view_of,
    words_of,
)
from adapters.slack.settings import SlackSettings, read_manifest_scopes
from adapters.slack.streams import StatusIndicator, Streams
from adapters.toolkit.caches import BoundedDict, ShownContents
from adapters.toolkit.connection_health import Backoff, ConnectionHealth
from adapters.toolkit.split_long_messages import split_markdown
from adapters.toolkit.text import words_in

_log = logging.getLogger(__name__)

_SEEN = "eyes"
_INTERVAL, _BURST = 1.05, 5
"""One message a second in a channel, and "short bursts" (docs: rate limits, chat.postMessage); with
a margin, because the network may delay a message less than the previous one.
"""
_NO_SCOPES = (
    "The app's manifest is out of date; it lacks {scopes}. On the app's page, replace the manifest"
    " with docs/slack-manifest.json, and install the app again."
)
_UNSEEN = "What only one person saw can't be looked for."
_DEAF = 4.0
"""Heartbeat intervals without a message after which a connection counts as dead."""


class SlackAdapter:
    """An app in one workspace, with every ability."""

    name = "slack"
    invites_with_words = False
    command_prefix = "/talaria "
    typing_lasts = 60.0
    """Seconds: half of the two minutes after which Slack clears an assistant's status. Slack never
    clears an agent's status (docs: setStatus).
    """
    most_buttons = MOST_BUTTONS
    opens_pages = True
    most_file_bytes = MOST_BYTES

    def __init__(self, settings: SlackSettings) -> None:
        self._settings = settings
        self._api = Api(settings)
        self._activity = RecentActivity()
        self._shown = ShownContents()
        self._pipeline = EventPipeline(self._api, self._activity)
        self._streams = Streams(self._api, is_on=settings.streaming)
        self._sessions = StatusIndicator(self._api)
        self._ephemeral = EphemeralAnswers(self._api)
        self._rooms = ChannelMembers(self._api)
        self._files = Files(self._api, token=settings.bot_token, base_url=settings.base_url)
        self._foreign: BoundedDict[str, None] = BoundedDict()
        """Channels that refused the bot because it is not a member."""
        self._me: BotIdentity | None = None
        self._connection_health = ConnectionHealth(
            "Slack", silence=_DEAF * settings.heartbeat if settings.mode == "socket" else None
        )
        self.http_port: int | None = None
        """The port of HTTP mode, while it listens."""
        is_limited = settings.messages_per_second > 0
        self.pace = Pace(
            chat_interval=_INTERVAL if is_limited else 0.0,
            room_interval=_INTERVAL if is_limited else 0.0,
            burst=_BURST,
            edit_interval=settings.edit_interval,
            per_second=settings.messages_per_second,
        )

    @property
    def shows_steps(self) -> bool:
        """Slack shows steps of streamed messages; otherwise the steps are lines below the text."""
        return True

    async def run(self, inlet: Inlet) -> None:
        """Receive events until cancelled. Raises `AdapterStopped` when only a person can help."""
        try:
            with self._connection_health.running():
                async with self._api:
                    self._me = await self._greet()
                    await self._listen(inlet, self._me)
        finally:
            self.http_port = None

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse an event that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Split Markdown into parts of at most 12,000 characters."""
        return split_markdown(text, limit=TEXT_LIMIT, measure=measure)

    def preview(self, text: str) -> list[str]:
        """Return each message's Markdown; Slack renders it."""
        return [words_of(part) for part in self.split(text)]

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Send a message. Raises `AdapterError`."""
        owner, ticket = home_owner(message.address), message.address.ticket
        if owner is not None:
            await self._api.publish(owner, view_of(message))
            return HOME_MESSAGE
        place = _spot(message.address)
        if ticket is not None and self._is_whispered(message.address):
            return await self._ephemeral.send(message, ticket)
        try:
            ts = await self._post(message, place)
        except ChatGone:
            if ticket is None:
                raise
            self._foreign.put(place.channel, None)
            return await self._ephemeral.send(message, ticket)
        self._activity.note_sent(place.channel, ts)
        await self._finish(message, place, was_edit=False)
        return PlatformMessageId(ts)

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Replace a message's content. Raises `AdapterError`."""
        owner, ticket = home_owner(message.address), message.address.ticket
        if owner is not None:
            await self._api.publish(owner, view_of(message))
        elif is_whisper(message_id):
            if ticket is None:
                raise MessageGone("What only one person saw can't be changed any more.")
            await self._ephemeral.send(message, ticket)
        else:
            place = _spot(message.address)
            if not await self._streams.carry(message, place.channel, message_id):
                await self._update(message, place.channel, message_id)
            await self._finish(message, place, was_edit=True)

    async def type(self, address: Address) -> None:
        """Show that the bot is working, if the app can show that. Raises `AdapterError`."""
        if home_owner(address) is None and not self._is_whispered(address):
            await self._sessions.work(_spot(address))

    def invite(self, words: str) -> str | None:
        """Return the address of the app's direct chat in its workspace. Pure.

        Slack's addresses carry no words (docs: deep linking, `app_redirect`).
        """
        me = self._me
        if me is None or not me.app_id:
            return None
        return f"https://slack.com/app_redirect?app={me.app_id}&team={me.team_id}"

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Note the transient commands. Slack shows one command, from the app's manifest."""
        self._pipeline.note_menu(entries)

    def newest(self, address: Address) -> PlatformMessageId | None:
        """Return the newest message known in the channel, inside or outside threads; pure."""
        ts = self._activity.newest(address.chat_id)
        return PlatformMessageId(ts) if ts is not None else None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Look for a message of unknown delivery by its key. Raises `AdapterError`."""
        if home_owner(message.address) is not None:
            return None  # an App Home is replaced whole, so it may be published again
        if self._is_whispered(message.address):
            raise Unsure(_UNSEEN)
        if self._me is None:
            raise Unreachable("Slack is not connected yet.")
        place = _spot(message.address)
        try:
            ts = await self._files.find(message, place) if message.file is not None else None
            ts = ts or await find(self._api, self._me, message, place, known)
        except ChatGone as error:
            if message.address.ticket is None:
                raise
            raise Unsure(_UNSEEN) from error
        if ts is None:
            return None
        if self._streams.is_on:  # an earlier process may have left it open
            await self._streams.stop(place.channel, ts)
        self._activity.note_sent(place.channel, ts)
        return PlatformMessageId(ts)

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Delete a message. Raises `AdapterError`."""
        if not is_ts(message_id):
            return
        channel = channel_of(address)
        await self._streams.end(channel, message_id)
        try:
            try:
                await self._api.delete(channel, message_id)
            except MessageLocked:  # perhaps a stream that an earlier process started
                await self._streams.stop(channel, message_id)
                await self._api.delete(channel, message_id)
        except MessageLocked:
            raise
        except MessageGone:
            return

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Add or remove the eyes reaction. Raises `AdapterError`."""
        if is_ts(message_id) and address.ticket is None:
            await self._api.react(channel_of(address), message_id, _SEEN, is_on=seen)

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Download a file that a person sent. Raises `AdapterError`."""
        return await self._files.fetch(attachment, most_bytes=most_bytes)

    async def find_creator(self, address: Address) -> PlatformUserId | None:
        """Return the account that created the channel. Raises `AdapterError`."""
        room = await self._api.fetch_room(channel_of(address))
        creator = words_in(room, "creator")
        return PlatformUserId(creator) if creator else None

    async def count_people(self, address: Address) -> int | None:
        """Count the people besides the bot who can read the address. Raises `AdapterError`."""
        return 1 if address.is_direct else await self._rooms.count(channel_of(address))

    def health(self) -> Health:
        """Report the connection's state and its last sign of life."""
        return self._connection_health.health()

    def _is_whispered(self, address: Address) -> bool:
        """Return whether only the person with the ticket sees messages to the address."""
        ticket = address.ticket
        return ticket is not None and (address.chat_id in self._foreign or read_ticket(ticket)[1])

    async def _post(self, message: OutboundMessage, place: SlackPlace) -> str:
        if message.file is not None:
            return await self._files.send(message, message.file, place)
        if self._me is not None and self._streams.suits(message, place):
            reader = self._activity.speaker(place.channel, place.thread)
            team = self._me.team_id
            ts = await self._streams.begin(message, place, reader=reader, team=team)
            if ts is not None:
                return ts
        ts = await self._api.post(place, post_of(message))
        self._shown.note((place.channel, ts), update_of(message))
        return ts

    async def _update(self, message: OutboundMessage, channel: str, ts: str) -> None:
        if not is_ts(ts):
            raise MessageGone(f'"{ts}" is no message of Slack.')
        content = update_of(message)
        if self._shown.is_shown((channel, ts), content):
            return
        try:
            await self._api.update(channel, ts, content)
        except StreamOpen:  # started by an earlier process
            await self._streams.stop(channel, ts)
            await self._api.update(channel, ts, content)
        self._shown.note((channel, ts), content)

    async def _finish(self, message: OutboundMessage, place: SlackPlace, *, was_edit: bool) -> None:
        """Clear the status after the last message, or show that a question waits for an answer."""
        if not message.is_live or message.buttons:
            asks = message.is_live or bool(message.buttons)
            await self._sessions.finalize(place, asks=asks, was_edit=was_edit)

    async def identify(self) -> Bot:
        """Check the tokens and return the bot. Raises `AdapterError`."""
        async with self._api:
            me = await self._api.fetch_me()
            if self._settings.mode == "socket":
                await self._api.open_socket()
        link = f"https://slack.com/app_redirect?app={me.app_id}&team={me.team_id}"
        lacking = ", ".join(sorted(read_manifest_scopes() - me.scopes)) if me.scopes else ""
        gaps = (_NO_SCOPES.format(scopes=lacking),) if lacking else ()
        return Bot(name=f"@{me.name}", link=link, gaps=gaps)

    async def _greet(self) -> BotIdentity:
        """Fetch the bot's identity; retries until it succeeds. Raises `AdapterStopped`."""
        backoff = Backoff(self._settings.longest_pause)
        while True:
            try:
                me = await self._api.fetch_me()
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._connection_health.note("disconnected", str(error))
                await backoff.wait(error)
            else:
                self._sessions.greet(is_agent=me.is_agent)
                return me

    async def _listen(self, inlet: Inlet, me: BotIdentity) -> None:
        """Receive new events and fetch missed ones, until cancelled."""
        catchup = CatchUp(self._api, self._pipeline, self._activity, self._settings.longest_hold)
        receiver = RequestReceiver(
            self._pipeline,
            catchup,
            me,
            self._activity.threads,
            token=self._settings.bot_token,
        )
        stops: list[AdapterStopped] = []
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pipeline.run(inlet, me, catchup))
                tasks.create_task(catchup.run(inlet, me))
                if self._settings.mode == "http":
                    tasks.create_task(self._serve(receiver, catchup))
                else:
                    tasks.create_task(self._hold(receiver, catchup))
        except* AdapterStopped as group:
            stops += _leaves(group)
        if stops:
            raise stops[0]

    async def _hold(self, receiver: RequestReceiver, catchup: CatchUp) -> None:
        settings = self._settings
        sockets = SocketMode(
            self._api,
            receiver,
            self._connection_health.note_alive,
            heartbeat=settings.heartbeat,
            longest_pause=settings.longest_pause,
        )

        def changed() -> None:
            if sockets.open:
                if not self._connection_health.is_connected:
                    catchup.restart()
                self._connection_health.note("connected")
            else:
                self._connection_health.note("disconnected", sockets.trouble)

        await sockets.run(settings.sockets, changed)

    async def _serve(self, receiver: RequestReceiver, catchup: CatchUp) -> None:
        settings = self._settings
        webhook = Webhook(
            receiver,
            signing_secret=settings.signing_secret,
            note_alive=self._connection_health.note_alive,
        )
        async with serving(
            webhook, host=settings.http_bind, port=settings.http_port
        ) as self.http_port:
            self._connection_health.note_alive()
            self._connection_health.note("connected")
            catchup.restart()
            await asyncio.get_running_loop().create_future()


def create(settings: SlackSettings) -> ChatAdapter:
    """Create the adapter; the gateway finds this function by the platform's name."""
    return SlackAdapter(settings)


def _spot(address: Address) -> SlackPlace:
    return SlackPlace(channel=channel_of(address), thread=address.thread_id)


def _leaves(group: BaseExceptionGroup[AdapterStopped]) -> list[AdapterStopped]:
    """Return every `AdapterStopped` inside nested exception groups."""
    found: list[AdapterStopped] = []
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            found += _leaves(error)
        elif isinstance(error, AdapterStopped):
            found.append(error)
    return found
