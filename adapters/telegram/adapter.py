"""Joins Telegram's rooms into one adapter: fetches, hands over, sends, edits, finds."""

import asyncio
import logging
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.abilities import MenuEntry
from adapters.contract import ChatAdapter, Health, HealthState, Inlet, Pace
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    MessageGone,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address, EventId, PlatformMessageId
from adapters.messages import InboundMessage, OutboundMessage, RawEvent
from adapters.split import split_markdown
from adapters.telegram.api import AnotherPoller, Api
from adapters.telegram.find import Tracks
from adapters.telegram.places import chat_of, thread_of
from adapters.telegram.receive import Me, pack, receive
from adapters.telegram.render import TEXT_LIMIT, Page, measure, render
from adapters.telegram.settings import TelegramSettings, read_settings

_log = logging.getLogger(__name__)

_FIRST_PAUSE = 0.5
_LATE = 15.0
"""Seconds beyond the longest poll after which silence means that the line is dead."""
_DESCRIPTION_LIMIT = 256
"""Letters of a command's description (Bot API, BotCommand)."""


class TelegramAdapter:
    """One bot account. Can edit, show typing, find unsure messages and show a menu."""

    name = "telegram"
    typing_lasts = 5.0
    """Telegram takes the sign away after five seconds (Bot API, sendChatAction)."""

    def __init__(self, settings: TelegramSettings) -> None:
        self._settings = settings
        self._api = Api(settings)
        self._tracks = Tracks()
        self._state: HealthState = "starting"
        self._detail = ""
        self._alive_at: float | None = None
        is_limited = settings.messages_per_second > 0
        self.pace = Pace(
            chat_interval=1.0 if is_limited else 0.0,
            edit_interval=settings.edit_interval,
            per_second=settings.messages_per_second,
        )

    async def run(self, inlet: Inlet) -> None:
        """Receive until cancelled. Raises `AdapterStopped` when only a person can help."""
        self._note("starting")
        try:
            async with self._api:
                me = await self._greet()
                await self._listen(inlet, me)
        except AdapterStopped as stop:
            self._note("stopped", str(stop))
            raise
        finally:
            if self._state != "stopped":
                self._note("stopped", "Telegram was shut down.")

    def receive(self, event: RawEvent) -> InboundMessage | None:
        """Read an update that `run` handed over; pure. Raises `ValueError`."""
        return receive(event.payload)

    def split(self, text: str) -> tuple[str, ...]:
        """Cut Markdown into parts of at most 4,096 UTF-16 units once rendered."""
        return split_markdown(text, limit=TEXT_LIMIT, measure=measure)

    async def send(self, message: OutboundMessage) -> PlatformMessageId:
        """Post a message. Raises `AdapterError`."""
        chat_id = chat_of(message.address)
        message_id = await self._api.send(
            _page(message),
            chat_id,
            thread_of(message.address),
            reply_to=int(message.reply_to) if message.reply_to else None,
            is_silent=message.is_silent,
        )
        self._tracks.note_sent(chat_id, message_id)
        return PlatformMessageId(str(message_id))

    async def edit(self, message: OutboundMessage, message_id: PlatformMessageId) -> None:
        """Make a message read so. Raises `AdapterError`."""
        await self._api.edit(_page(message), chat_of(message.address), int(message_id))

    async def type(self, address: Address) -> None:
        """Show "typing" in a chat or topic. Raises `AdapterError`."""
        await self._api.type(chat_of(address), thread_of(address))

    async def show_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Publish the commands for all chats. Raises `AdapterError`."""
        await self._api.show_menu(
            [
                MenuEntry(name=entry.name, description=entry.description[:_DESCRIPTION_LIMIT])
                for entry in entries
            ]
        )

    def newest(self, address: Address) -> PlatformMessageId | None:
        """The newest id seen in the chat's count, which private chats share; pure."""
        message_id = self._tracks.newest(chat_of(address))
        return PlatformMessageId(str(message_id)) if message_id else None

    async def find(
        self, message: OutboundMessage, known: Sequence[PlatformMessageId]
    ) -> PlatformMessageId | None:
        """Look for an unsure message by edits that change nothing.

        Telegram has neither history nor idempotency keys for bots. But an edit says of each
        id whether it is a message of ours, and "not modified" says that it is this one. Limits:
        at most 100 ids behind the newest known one are tried, each one a call. Where that is not
        enough, `Unsure` is raised; but what a newly started process has not seen it can't know, so
        after more than 100 foreign messages meanwhile the answer None may be wrong. A message
        of ours that was sent behind it with other text by an earlier process would be
        overwritten; those of this process are known and passed over.
        """
        if not known:
            raise Unsure("No message of this chat is known from before the one in doubt.")
        chat_id = chat_of(message.address)
        page = _page(message)
        ids = self._tracks.candidates(chat_id, max(int(message_id) for message_id in known))
        for message_id in ids.within_reach:
            try:
                await self._api.edit(page, chat_id, message_id)
            except MessageGone:
                continue
            except Unsure as error:  # of an edit that changes nothing
                raise Unreachable(str(error)) from error
            self._tracks.note_sent(chat_id, message_id)
            return PlatformMessageId(str(message_id))
        if ids.are_more:
            raise Unsure("Too many messages were written meanwhile to look through all.")
        return None

    def health(self) -> Health:
        """How the last request for updates went, and when the last good one ended."""
        state, detail = self._state, self._detail
        if state == "connected" and self._alive_at is not None:
            silence = time.monotonic() - self._alive_at
            if silence > self._settings.poll_timeout + _LATE:
                state = "disconnected"
                detail = f"Telegram has not answered for {silence:.0f} s."
        return Health(state=state, detail=detail, alive_at=self._alive_at)

    async def _greet(self) -> Me:
        """Learn who the bot is and have updates kept for it; tries until both worked."""
        pauses = _Pauses(self._settings.longest_pause)
        while True:
            try:
                me = await self._api.fetch_me()
                await self._api.drop_webhook()
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._note("disconnected", str(error))
                await pauses.wait(error)
            else:
                return me

    async def _listen(self, inlet: Inlet, me: Me) -> None:
        """Fetch updates, hand them over, and only then ask for the next, which confirms them."""
        offset = 0
        pauses = _Pauses(self._settings.longest_pause)
        conflict = _Conflict(self._settings.conflict_patience)
        while True:
            # The first answer, and the first after a failure, shall come at once: it tells that
            # the line works.
            wait = self._settings.poll_timeout if self._state == "connected" else 0
            try:
                updates = await self._api.fetch(offset, wait)
                self._alive_at = time.monotonic()
                numbered = [update for update in updates if _is_numbered(update)]
                if updates and not numbered:
                    raise Unreachable("Telegram sent updates without numbers.")
                if numbered:
                    self._tracks.note_updates(numbered)
                    await inlet.take([_event(update, me) for update in numbered])
            except AnotherPoller as error:
                self._note("disconnected", str(error))
                conflict.weigh(error, time.monotonic())
                if "webhook" in str(error):
                    await self._greet()
                await pauses.wait(error)
            except AdapterStopped:
                raise
            except AdapterError as error:
                self._note("disconnected", str(error))
                await pauses.wait(error)
            else:
                offset = max((update["update_id"] + 1 for update in numbered), default=offset)
                self._note("connected")
                pauses.reset()

    def _note(self, state: HealthState, detail: str = "") -> None:
        """Keep how it fares; a change is logged, its repetitions are not."""
        if (state, detail) != (self._state, self._detail):
            level = logging.WARNING if state == "disconnected" else logging.INFO
            _log.log(level, "telegram is %s. %s", state, detail)
        self._state, self._detail = state, detail


def create(options: Mapping[str, str]) -> ChatAdapter:
    """Make the adapter from its settings as strings.

    They are token, base_url, messages_per_second, edit_interval and poll_timeout. Raises
    `ValueError` with a sentence on one that can't be used.
    """
    return TelegramAdapter(read_settings(options))


def _page(message: OutboundMessage) -> Page:
    page = render(message.text)
    if not page.text:
        raise Rejected("The message is empty, and Telegram takes no empty messages.")
    return page


def _is_numbered(update: Any) -> bool:
    """Without a number an update can be neither told from others nor confirmed."""
    return isinstance(update, dict) and isinstance(update.get("update_id"), int)


def _event(update: dict[str, Any], me: Me) -> RawEvent:
    """Each bot counts its own updates: the number alone would take a new bot's for an old one's."""
    event_id = EventId(f"{me.user_id}/{update['update_id']}")
    return RawEvent(event_id=event_id, payload=pack(update, me))


class _Pauses:
    """Waits between attempts: twice as long each time, up to a bound, never in step with others."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._next = _FIRST_PAUSE

    def reset(self) -> None:
        self._next = _FIRST_PAUSE

    async def wait(self, error: AdapterError) -> None:
        pause = min(self._next, self._longest) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        if isinstance(error, RateLimited):
            pause = max(pause, error.retry_after)
        self._next = min(self._next * 2, self._longest)
        await asyncio.sleep(pause)


class _Conflict:
    """Decides when another poller is there to stay.

    The last request of a killed process stays open at Telegram for a while. But two programs
    that both try again get through in turn, so a success does not end a conflict: quiet does.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since = self._last = float("-inf")

    def weigh(self, error: AnotherPoller, now: float) -> None:
        """Raise the error once conflicts have gone on for longer than our patience."""
        if now - self._last > 2 * self._patience:
            self._since = now
        self._last = now
        if now - self._since >= self._patience:
            raise error
