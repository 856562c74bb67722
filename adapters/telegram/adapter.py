"""The Telegram adapter: receives updates, and sends, edits and reconciles messages."""

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from typing import Any

from adapters.abilities import Bot, MenuEntry, MenuText
from adapters.contract import ChatAdapter, Health, Inlet, Pace
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    MessageGone,
    MessageLocked,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address, EventId, PlatformMessageId, PlatformUserId
from adapters.messages import Attachment, Inbound, OutboundMessage, RawEvent
from adapters.telegram.api import Api, too_large
from adapters.telegram.errors import AnotherPoller
from adapters.telegram.errors import PollingConflict as Conflict
from adapters.telegram.payloads import (
    FILE_LIMIT,
    MOST_BUTTONS,
    KnownIds,
    chat_of,
    draft_id_of,
    make_post,
    message_of,
    thread_of,
    write_html,
)
from adapters.telegram.receive import BotIdentity, pack, receive
from adapters.telegram.render import TEXT_LIMIT, measure, render
from adapters.telegram.settings import TelegramSettings
from adapters.toolkit.caches import ShownContents
from adapters.toolkit.connection_health import Backoff, ConnectionHealth
from adapters.toolkit.split_long_messages import split_markdown
from adapters.toolkit.text import make_unreadable, number_in

_log = logging.getLogger(__name__)

_EYES = "👀"
_CHAT_INTERVAL, _ROOM_INTERVAL, _BURST = 1.05, 3.05, 5
"""One message a second in a chat, 20 a minute in a group, and "short bursts" (Bots FAQ: how can I
message all of my bot's subscribers at once). Telegram gives no number for those. The margin allows
for a network that delays a message less than the previous one.
"""
_NO_GROUPS = (
    "Nobody can add the bot to a group. To allow it, send /setjoingroups to @BotFather and choose"
    " Enable."
)
_DESCRIPTION_LIMIT = 256
_PLAIN_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
"""Telegram's names of commands have only a to z, digits and underscores."""
"""Maximum characters of a command's description (Bot API, BotCommand)."""


class TelegramAdapter:
    """A bot account, with every ability except lists of steps."""

    name = "telegram"
    invites_with_words = True
    typing_lasts = 5.0
    """Telegram hides the typing indicator after five seconds (Bot API, sendChatAction)."""
    most_buttons = MOST_BUTTONS
    opens_pages = True
    most_file_bytes = FILE_LIMIT

    def __init__(self, settings: TelegramSettings) -> None:
        self._settings = settings
        self._api = Api(settings)
        self._recent_ids = KnownIds()
        self._username = ""
        self._shown = ShownContents()
        self._has_drafts = True
        self._connection_health = ConnectionHealth(
            "Telegram", silence=settings.poll_timeout + settings.silence_margin
        )
        is_limited = settings.messages_per_second > 0
        self.pace = Pace(
            chat_interval=_CHAT_INTERVAL if is_limited else 0.0,
            room_interval=_ROOM_INTERVAL if is_limited else 0.0,
            burst=_BURST,
            edit_interval=settings.edit_interval,
            per_second=settings.messages_per_second,
        )

    async def run(self, inlet: Inlet) -> None:
        """Receive updates until cancelled. Raises `AdapterStopped` when only a person can help."""
        with self._connection_health.running():
            async with self._api:
                me = await self._greet()
                self._username = me.username
                await self._listen(inlet, me)

    async def identify(self) -> Bot:
        """Check the token and return the bot. Raises `AdapterError`."""
        async with self._api:
            me = await self._api.fetch_me()
        name, link = f"@{me.username}", f"https://t.me/{me.username}"
        return Bot(name=name, link=link, gaps=() if me.joins_groups else (_NO_GROUPS,))

    def receive(self, event: RawEvent) -> Inbound | None:
        """Parse an update that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Split Markdown into parts of at most 4,096 UTF-16 units once rendered."""
        return split_markdown(text, limit=TEXT_LIMIT, measure=measure)

    def preview(self, text: str) -> list[str]:
        """Render a text as Telegram's HTML, one string per message."""
        return [write_html(render(part)) for part in self.split(text)]

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Send a message. Raises `AdapterError`."""
        post = make_post(message)
        message_id = await self._api.send(post)
        self._recent_ids.note_sent(post.chat_id, message_id)
        sent = PlatformMessageId(str(message_id))
        self._shown.note((message.address.chat_id, sent), (post.page, post.keyboard))
        return sent

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Replace a message's content. Raises `AdapterError`."""
        post, place = make_post(message), (message.address.chat_id, message_id)
        content = (post.page, post.keyboard)
        if not self._shown.is_shown(place, content):
            await self._api.edit(post, message_of(message_id))
            self._shown.note(place, content)

    async def draft(self, message: OutboundMessage) -> bool:
        """Show a growing text as a draft; private chats only. Raises `AdapterError`."""
        if not (message.address.is_direct and self._has_drafts):
            return False
        try:
            await self._api.draft(make_post(message), draft_id_of(message.key))
        except Rejected as error:  # an older Bot API server knows no drafts
            _log.info("telegram shows no drafts, so messages grow by edits: %s", error)
            self._has_drafts = False
        return self._has_drafts

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        """Delete a message; Telegram allows it for two days. Raises `AdapterError`."""
        try:
            await self._api.delete(chat_of(address), message_of(message_id))
        except MessageLocked:
            raise
        except MessageGone:
            return

    async def react(self, address: Address, message_id: PlatformMessageId, *, seen: bool) -> None:
        """Add or remove the eyes reaction. Raises `AdapterError`."""
        await self._api.react(chat_of(address), message_of(message_id), _EYES if seen else None)

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        """Download an attachment; Telegram gives bots at most 20 MB. Raises `AdapterError`."""
        if not attachment.file_id:
            raise Rejected("There is no file in that.")
        if (attachment.size or 0) > most_bytes:
            raise too_large(most_bytes)
        return await self._api.fetch_file(attachment.file_id, most_bytes=most_bytes)

    async def find_creator(self, address: Address) -> PlatformUserId | None:
        """Return the account that created the group. Raises `AdapterError`."""
        creator = await self._api.find_creator(chat_of(address))
        return None if creator is None else PlatformUserId(str(creator))

    async def count_people(self, address: Address) -> int | None:
        """Count the members of a group without this bot; None if others can read along."""
        if address.is_direct:
            return 1
        members = await self._api.count_members(chat_of(address))
        return None if members is None else members - 1

    async def type(self, address: Address) -> None:
        """Show the typing indicator in a chat or topic. Raises `AdapterError`."""
        await self._api.type(chat_of(address), thread_of(address))

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the commands for all chats. Raises `AdapterError`."""
        listed = [entry for entry in entries if entry.is_listed]
        await self._api.show_menu([_fit(entry) for entry in listed], "")
        for language in dict.fromkeys(tag for entry in listed for tag in entry.translations):
            await self._api.show_menu(
                [_fit(entry.translations[language]) for entry in listed], language
            )

    def invite(self, words: str) -> str | None:
        """Return a deep link; Telegram sends `/start words` when the person presses Start. Pure."""
        return f"https://t.me/{self._username}?start={words}" if self._username else None

    def newest(self, address: Address) -> PlatformMessageId | None:
        """Return the newest id seen in the chat's sequence; private chats share one. Pure."""
        message_id = self._recent_ids.newest(chat_of(address))
        return PlatformMessageId(str(message_id)) if message_id else None

    def count_of(self, address: Address) -> str:
        """Return the chat, because all topics of a group share its sequence."""
        return address.chat_id

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Look for a message of unknown delivery by edits that change nothing.

        Telegram offers bots neither history nor idempotency keys. For each id, an edit shows
        whether the message is ours, and "not modified" shows that it is this one. Limits:

        - It tries at most 100 ids after the newest known one, then raises `Unsure`.
        - A new process has not seen earlier ids, so None may be wrong after more than 100 foreign
          messages.
        - A later message of an earlier process with another text would be overwritten. That can't
          happen: no message is sent after one in doubt (`count_of`). This process's own ids are
          skipped.
        - A file is recognised only by its caption and buttons.
        """
        if not known:
            raise Unsure("No message of this chat is known from before the one in doubt.")
        post = make_post(message)
        chat_id = post.chat_id
        ids = self._recent_ids.candidates(
            chat_id, max(message_of(message_id) for message_id in known)
        )
        for message_id in ids.within_reach:
            try:
                await self._api.edit(post, message_id)
            except MessageGone:
                continue
            except Unsure as error:  # the edit changes nothing, so it may be repeated
                raise Unreachable(str(error)) from error
            self._recent_ids.note_sent(chat_id, message_id)
            return PlatformMessageId(str(message_id))
        if ids.are_more:
            raise Unsure("Too many messages were written meanwhile to look through all.")
        return None

    def health(self) -> Health:
        """Report the result of the last request for updates and the time of the last success."""
        return self._connection_health.health()

    async def _greet(self) -> BotIdentity:
        """Fetch the bot's identity and drop any webhook; retries until both succeed."""
        backoff = Backoff(self._settings.longest_pause)
        while True:
            try:
                me = await self._api.fetch_me()
                await self._api.drop_webhook()
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._connection_health.note("disconnected", str(error))
                await backoff.wait(error)
            else:
                return me

    async def _listen(self, inlet: Inlet, me: BotIdentity) -> None:
        """Fetch updates and hand them over; the next fetch acknowledges them."""
        offset = 0
        backoff = Backoff(self._settings.longest_pause)
        conflict, rivalry = Conflict(self._settings.conflict_patience), Backoff(1.0, first=1.0)
        while True:
            # The first answer, also after a failure, must come at once: it shows that
            # the connection works. After a conflict, only some quiet shows that.
            wait = self._settings.poll_timeout
            if not self._connection_health.is_connected:
                wait = math.ceil(conflict.calm(time.monotonic()))
            try:
                updates = await self._api.fetch(offset, wait)
                self._connection_health.note_alive()
                numbered = [update for update in updates if _is_numbered(update)]
                if updates:
                    self._recent_ids.note_updates(numbered)
                    now = time.time_ns() // 1_000_000
                    await inlet.take([_event(update, me, now) for update in updates])
                    await asyncio.gather(*(self._answer_press(update) for update in numbered))
                if updates and not numbered:
                    raise Unreachable("Telegram sent updates without numbers.")
            except AnotherPoller as error:
                self._connection_health.note("disconnected", str(error))
                conflict.weigh(error, time.monotonic())
                if "webhook" in str(error):
                    await self._greet()
                await rivalry.wait(error)
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._connection_health.note("disconnected", str(error))
                await backoff.wait(error)
            else:
                offset = max((update["update_id"] + 1 for update in numbered), default=offset)
                if not conflict.calm(time.monotonic()):
                    self._connection_health.note("connected")
                backoff.reset()

    async def _answer_press(self, update: dict[str, Any]) -> None:
        """Acknowledge a stored press to the client; if that fails, nothing is lost."""
        query = update.get("callback_query")
        if isinstance(query, dict) and isinstance(query.get("id"), str):
            try:
                await self._api.answer_press(query["id"])
            except (AdapterError, ValueError) as error:
                # ValueError: the id can't be encoded in a request.
                _log.debug("a press could not be acknowledged: %s", error)


def create(settings: TelegramSettings) -> ChatAdapter:
    """Create the adapter; the gateway finds this function by the platform's name."""
    return TelegramAdapter(settings)


def _fit(text: MenuText) -> MenuText:
    """Return a command's texts as Telegram takes them."""
    return MenuText(
        name=text.name.translate(_PLAIN_LETTERS), description=text.description[:_DESCRIPTION_LIMIT]
    )


def _is_numbered(update: Any) -> bool:
    """Return whether an update has an id; the id identifies and acknowledges the update."""
    try:
        return isinstance(update, dict) and number_in(update, "update_id") > 0
    except ValueError:
        return False


def _event(update: Any, me: BotIdentity, now: int) -> RawEvent:
    """Wrap an update. The event id includes the bot, because each bot numbers its own updates."""
    if not _is_numbered(update):
        _log.error("a Telegram update has no update_id and is set aside")
        return make_unreadable(update, "an update without a number")
    event_id = EventId(f"{me.user_id}/{update['update_id']}")
    return RawEvent(event_id=event_id, payload=pack(update, me, now=now))
