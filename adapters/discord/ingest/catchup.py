"""Fetches messages from channel histories that arrived while the bot was offline."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from adapters.discord.channel_directory import ChannelDirectory
from adapters.discord.places import DiscordChannel
from adapters.discord.receive import Context, find_author, is_for_us, pack
from adapters.discord.snowflakes import id_in, newest_in, number_of, snowflake_at
from adapters.errors import AdapterError, AdapterStopped, RateLimited, Unreachable
from adapters.ids import EventId
from adapters.messages import RawEvent
from adapters.toolkit.connection_health import Backoff
from adapters.toolkit.text import Json, make_unreadable, words_in

_log = logging.getLogger(__name__)

HeardKind = Literal["message", "edit", "interaction", "reaction", "mark", "presence", "unreadable"]

NOISE = 50
"""Number of other people's messages after which a channel's read position advances, so that a
restart does not read them again. A smaller number would cost more rows.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardEvent:
    """An event of Discord to be stored."""

    kind: HeardKind
    channel: str
    data: Json
    context: Context


class Backlog:
    """Tracks which channels are incomplete, and holds back their newer events."""

    def __init__(self) -> None:
        self.behind: set[str] = set()
        """Channels whose older messages may be missing."""
        self.unmarked: set[str] = set()
        """Channels with unread messages but without a read position."""
        self.searched: set[str] = set()
        """Servers whose archived threads are still asked for."""
        self._held: dict[str, list[HeardEvent]] = {}
        self._known: set[str] = set()
        """Channels that have a read position, or will have one soon."""
        self._met: set[str] = set()
        """Channels whose history was requested."""
        self._noise: dict[str, int] = {}
        self._since = 0
        self._begun: set[str] = set()
        """Channels whose reading began in this session."""

    def begin(self, channels: Iterable[str], *, now: int) -> None:
        """Mark channels as possibly incomplete for a new session. `now` is a snowflake."""
        self._since = now
        self._begun.clear()
        self.searched.clear()
        for channel in channels:
            self._known.add(channel)
            self._fall_behind(channel)

    def add(self, starts: Mapping[str, "Start"]) -> None:
        """Mark further channels of the session as possibly incomplete."""
        self.unmarked |= {channel for channel, start in starts.items() if not start.has_mark}
        for channel in starts:
            self._fall_behind(channel)

    def has_begun(self, channel: str) -> bool:
        """True once a channel is read in this session."""
        return channel in self._begun

    def discover(self, channel: str) -> bool:
        """Return True for a direct chat that is new to us but older than the session.

        Such a chat may have older messages.
        """
        if channel in self._met or int(channel) >= self._since:
            return False
        self._known.add(channel)
        self._fall_behind(channel)
        return True

    @property
    def is_whole(self) -> bool:
        """True while no older message of any channel may be missing."""
        return not (self.behind or self.searched)

    def is_behind(self, channel: str) -> bool:
        """True while older messages of a channel may be missing."""
        return channel in self.behind

    def holds(self, heard: HeardEvent) -> bool:
        """Hold an event back if it must wait for older messages; True if held."""
        held = self._held.get(heard.channel)
        if held is None:
            return False
        held.append(heard)
        return True

    def finish(self, channel: str) -> list[HeardEvent]:
        """Mark a channel as complete and return the events that it held back."""
        self.behind.discard(channel)
        return self._held.pop(channel, [])

    def release(self, channels: Iterable[str]) -> list[HeardEvent]:
        """Return events that were held back, although older messages are still missing."""
        return [heard for channel in channels for heard in self._held.pop(channel, [])]

    def note_conversation(self, channel: str) -> None:
        """Start tracking a read position: somebody addressed the bot in this channel."""
        self._known.add(channel)
        self._noise.pop(channel, None)

    def note_noise(self, channel: str) -> bool:
        """Count a message that does not address the bot; return True if the read position should
        advance.
        """
        if channel not in self._known or channel in self.behind:
            return False
        count = self._noise.get(channel, 0) + 1
        self._noise[channel] = count % NOISE
        return count == NOISE

    def _fall_behind(self, channel: str) -> None:
        self._begun.add(channel)
        self._met.add(channel)
        self.behind.add(channel)
        self._held.setdefault(channel, [])


def park(data: object, error: ValueError) -> HeardEvent:
    """Wrap unreadable data as an event that the gateway sets aside."""
    _log.error("an event of Discord can't be read and is set aside: %s", error)
    about = {"event": data, "fault": str(error)}
    return HeardEvent(kind="unreadable", channel="", data=about, context=Context(bot=""))


def make_event(heard: HeardEvent, *, is_in_order: bool) -> RawEvent:
    """Build the event to store. Raises `ValueError`.

    `is_in_order` is true if no older event of its channel is missing. Only messages advance a read
    position; the order of edits and interactions among them is unknown.
    """
    if heard.kind == "unreadable":
        return make_unreadable(heard.data["event"], heard.data["fault"])
    bot, name = heard.context.bot, id_in(heard.data, "id")
    has_place = is_in_order and heard.kind in ("message", "mark")
    match heard.kind:
        case "message":
            event_id = f"{bot}/{name}"
        case "edit":
            event_id = f"{bot}/{name}/{words_in(heard.data, 'edited_timestamp')}"
        case "interaction":
            event_id = f"{bot}/i/{name}"
        case "reaction":  # the same reaction may be added again later
            event_id = f"{bot}/reaction/{name}/{id_in(heard.data, 'at')}"
        case "presence":  # one for each person and channel is enough
            event_id = f"{bot}/presence/{heard.channel}/{id_in(heard.data, 'user')}"
        case _:
            event_id = f"{bot}/mark/{heard.channel}/{name}"
    return RawEvent(
        event_id=EventId(event_id),
        payload=pack(heard.kind, heard.data, heard.context),
        channel=heard.channel if has_place else "",
        position=name.zfill(20) if has_place else "",
    )


LONGEST_PAUSE = 30.0
OLDEST_IN_ROOMS = 7 * 86_400
"""Seconds. In servers, a week-old question is no longer current."""
_OLDEST_UNKNOWN = 86_400
"""Seconds to look back in an unknown channel, where somebody may have written for the first time.
Older messages may have been meant for another program.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The point to read from: after a read position or, without one, before a live message."""

    after: str = ""
    before: str = ""
    has_mark: bool = True
    """True if the channel has its own read position, False if `Rest` covers it."""


@dataclass(slots=True)
class Catchup:
    """A pass over several channels, newest read positions first."""

    directory: ChannelDirectory
    slots: asyncio.Semaphore
    take: Callable[[Sequence[RawEvent]], Awaitable[None]]

    async def run(self, starts: Mapping[str, Start], done: Callable[[str], None]) -> None:
        """Read every channel from its start; call `done` for each complete one."""
        async with asyncio.TaskGroup() as group:
            for channel in sorted(starts, key=lambda one: starts[one].after, reverse=True):
                group.create_task(self._read(channel, starts[channel], done))

    async def _read(self, channel: str, start: Start, done: Callable[[str], None]) -> None:
        backoff = Backoff(LONGEST_PAUSE)
        async with self.slots:
            while True:
                try:
                    place = await self.directory.place(channel)
                    if start.before:
                        await self._look_back(place, start.before)
                    else:
                        async for mark in self._read_on(place, start):
                            start = replace(start, after=mark)
                except (Unreachable, RateLimited) as error:
                    await backoff.wait(error)
                except AdapterStopped:
                    return  # the gateway connection reports that, too
                except (AdapterError, ValueError) as error:
                    _log.info("channel %s of Discord is skipped: %s", channel, error)
                    break
                else:
                    break
        done(channel)

    async def _read_on(self, place: DiscordChannel, start: Start) -> AsyncIterator[str]:
        """Hand over the messages after the read position, page by page; yield the progress."""
        role = await self.directory.role(place)
        after = int(start.after)
        if not place.is_direct:
            after = max(after, snowflake_at(time.time() - OLDEST_IN_ROOMS))
        async for page in self.directory.history(place, str(after)):
            await self.take(self._sift(page, place, role, has_mark=start.has_mark))
            yield newest_in(page)

    async def _look_back(self, place: DiscordChannel, before: str) -> None:
        """Hand over recent messages to the bot that follow its own last message."""
        role = await self.directory.role(place)
        page = await self.directory.past(place, before)
        own = [number_of(one) for one in page if self._is_ours(one)]
        after = max((snowflake_at(time.time() - _OLDEST_UNKNOWN), *own))
        missed = [one for one in page if number_of(one) > after]
        await self.take(self._sift(missed, place, role, has_mark=True))

    def _is_ours(self, message: Json) -> bool:
        try:
            return self.directory.is_ours(message)
        except ValueError:
            return False

    def _sift(
        self, page: Sequence[Json], place: DiscordChannel, role: str, *, has_mark: bool
    ) -> list[RawEvent]:
        """Return the messages addressed to the bot; after many others, also a read position."""
        events: list[RawEvent] = []
        noise = 0
        context = Context(bot="")
        shown: set[str] = set()
        for message in page:
            try:
                context = self.directory.read(message, place, role=role)
                noise = 0 if is_for_us(message, context) else noise + 1
                if not noise:
                    events.append(_event("message", message, context, place))
                    continue
                author = find_author(message, context.bot)
                if author and author not in shown:
                    shown.add(author)
                    bare = {"id": id_in(message, "id"), "user": author}
                    events.append(_event("presence", bare, context, place))
            except ValueError as error:
                if self.directory.may_concern_us(message, is_direct=place.is_direct):
                    events.append(make_event(park(message, error), is_in_order=True))
        if noise >= NOISE and has_mark:
            events.append(_event("mark", {"id": newest_in(page)}, context, place))
        return events


def _event(kind: HeardKind, data: Json, context: Context, place: DiscordChannel) -> RawEvent:
    heard = HeardEvent(kind=kind, channel=place.channel_id, data=data, context=context)
    return make_event(heard, is_in_order=True)
