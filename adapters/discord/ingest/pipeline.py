"""Stores Discord's events in order, then acknowledges commands and presses."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.contract import Inlet
from adapters.discord.channel_directory import ChannelDirectory
from adapters.discord.client import LISTED
from adapters.discord.ingest.archived import find_archived
from adapters.discord.ingest.catchup import (
    Backlog,
    Catchup,
    HeardEvent,
    HeardKind,
    Start,
    make_event,
    park,
)
from adapters.discord.ingest.unmarked import REST, GuildListing, Rest, read_listing
from adapters.discord.interactions import Acknowledgements
from adapters.discord.receive import BUTTON, PRESS, find_author, is_for_us, is_written
from adapters.discord.settings import DiscordSettings
from adapters.discord.snowflakes import id_in, number_of, snowflake_at
from adapters.errors import AdapterStopped, Unreachable
from adapters.messages import RawEvent
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.connection_health import Backoff
from adapters.toolkit.text import Json, inside, words_in

_log = logging.getLogger(__name__)

_MOST_AT_ONCE = 100
_READ_AT_ONCE = 4
"""Channels whose history is read concurrently."""
_LONGEST_PAUSE = 5.0
_AHEAD = 3600.0
"""The most seconds by which Discord's clock may be ahead of ours."""
_COMMAND = 2
_PLACED = ("message", "edit", "reaction", "presence")
"""Kinds that name a channel only by its id."""


class EventPipeline:
    """A queue with one worker.

    It stores only messages addressed to the bot: other people's words do not belong in the
    database. It stores reactions to the bot's messages, and once per channel each person, bot or
    webhook that writes, edits or reacts there. In a channel where the bot was addressed, it stores
    a bare read position after every 50 messages of others, so that catch-up stays short.
    """

    def __init__(
        self,
        directory: ChannelDirectory,
        settings: DiscordSettings,
        acknowledgements: Acknowledgements,
    ) -> None:
        self._directory = directory
        self._settings = settings
        self._acknowledgements = acknowledgements
        self._longest_pause = min(settings.longest_pause, _LONGEST_PAUSE)
        self._backlog = Backlog()
        self._present: BoundedDict[tuple[str, str], None] = BoundedDict()
        """Pairs of a channel and a person who was noticed there."""
        self._slots = asyncio.Semaphore(_READ_AT_ONCE)
        self._rest = Rest(directory, self._backlog)
        self._queue: deque[HeardEvent | GuildListing | None] = deque()
        """Events in order; None marks the start of a session."""
        self._stirred = asyncio.Event()

    def note_ready(self) -> None:
        """Mark a new session between the events of the last one and its own."""
        self._put(None)

    def hear(self, name: str, data: Any) -> None:
        """Take an event from the gateway connection; never waits."""
        if name == LISTED:
            self._list(data)
            return
        try:
            if not isinstance(data, dict):
                raise ValueError("an event is no object")
            heard = self._sort(name, data)
        except ValueError as error:
            heard = self._park(data, error, is_for_us=name == "INTERACTION_CREATE")
        if heard is not None:
            self._put(heard)
        if name == "MESSAGE_CREATE" and (mark := self._rest.advance(number_of(data))):
            self._put(mark)

    async def work(self, inlet: Inlet) -> None:
        """Store events until cancelled."""
        try:
            await self._work(inlet)
        finally:
            self._acknowledgements.give_up()

    async def _work(self, inlet: Inlet) -> None:
        reading: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:

            def read(places: Mapping[str, Start]) -> None:
                follow(self._catch_up(inlet, places))

            def follow(work: Coroutine[Any, Any, None]) -> None:
                task = group.create_task(work)
                reading.add(task)
                task.add_done_callback(reading.discard)

            while True:
                await self._stirred.wait()
                if self._queue and not isinstance(self._queue[0], HeardEvent):
                    listing = self._queue.popleft()
                    if isinstance(listing, GuildListing):
                        read(await self._find_unread(inlet, listing))
                        follow(self._read_archived(inlet, listing))
                    else:
                        await _end([*reading])
                        read(await self._begin_session(inlet))
                    continue
                batch, discovered = self._take_batch()
                for heard in discovered:
                    read({heard.channel: Start(before=id_in(heard.data, "id"))})
                asked = [one.data for one in batch if one.kind == "interaction"]
                asked = [one for one in asked if self._acknowledgements.expect(one)]
                try:
                    await self._hand_over(inlet, [await self._make(heard) for heard in batch])
                except asyncio.CancelledError:
                    self._put_back(batch)  # the next run must not advance a read position past it
                    raise
                for interaction in asked:
                    group.create_task(self._acknowledgements.make(interaction))

    def _put(self, item: HeardEvent | GuildListing | None) -> None:
        self._queue.append(item)
        self._stirred.set()

    def _put_back(self, items: Sequence[HeardEvent]) -> None:
        """Put events back in front of later ones."""
        self._queue.extendleft(reversed(items))
        self._stirred.set()

    def _take_batch(self) -> tuple[list[HeardEvent], list[HeardEvent]]:
        """Take the next events without those that must wait for older ones.

        Also returns the first messages in direct chats that are new to the bot.
        """
        batch: list[HeardEvent] = []
        discovered: list[HeardEvent] = []
        while self._queue and len(batch) < _MOST_AT_ONCE:
            heard = self._queue[0]
            if not isinstance(heard, HeardEvent):
                break
            self._queue.popleft()
            if heard.channel == REST and not self._backlog.is_whole:
                continue  # it would skip messages that are still missing
            is_direct = heard.kind == "message" and not heard.data.get("guild_id")
            if is_direct and self._backlog.discover(heard.channel):
                discovered.append(heard)
            if heard.kind == "interaction":  # must be answered soon, but after earlier events
                batch += self._backlog.release((heard.channel,))
            if not self._backlog.holds(heard):
                batch.append(heard)
        if not self._queue:
            self._stirred.clear()
        return batch, discovered

    def _sort(self, name: str, data: Json) -> HeardEvent | None:
        """Classify an event; None if it does not concern the bot. Raises `ValueError`."""
        if name in ("MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE"):
            return self._sort_reaction(data, is_on=name == "MESSAGE_REACTION_ADD")
        id_in(data, "id")  # each of these events has an id
        if name == "INTERACTION_CREATE":
            if not _is_ours(data):
                return None
            kind: HeardKind = "interaction"
        else:
            kind = "message" if name == "MESSAGE_CREATE" else "edit"
        if kind == "edit" and not (data.get("edited_timestamp") and data.get("author")):
            return None  # for example, a link got its picture
        channel = id_in(data, "channel_id")
        if kind != "interaction" and not is_written(data):
            return self._pass_over(kind, channel, data)  # such as our own messages, in every turn
        context = self._directory.guess(data, channel)
        if kind != "interaction" and not is_for_us(data, context):
            return self._pass_over(kind, channel, data)
        if kind == "message":
            self._backlog.note_conversation(channel)
        return HeardEvent(kind=kind, channel=channel, data=data, context=context)

    def _sort_reaction(self, data: Json, *, is_on: bool) -> HeardEvent | None:
        """Classify a reaction: keep one to a message of the bot; of others, report only the person.

        Discord names the author of the message only when a reaction is added. Raises `ValueError`.
        """
        channel, user = id_in(data, "channel_id"), id_in(data, "user_id")
        bare: Json = {"id": id_in(data, "message_id"), "guild_id": words_in(data, "guild_id")}
        author = words_in(data, "message_author_id")
        emoji = inside(data, "emoji")
        sign = "" if emoji.get("id") else words_in(emoji, "name")  # an id means a server's picture
        if user == self._directory.bot:
            return None
        if not sign or author not in ("", self._directory.bot):
            return self._notice(bare, channel, user)
        self._present.put((channel, user), None)
        bare |= {"user": user, "sign": sign, "is_on": is_on, "at": str(time.time_ns())}
        context = self._directory.guess(data, channel)
        return HeardEvent(kind="reaction", channel=channel, data=bare, context=context)

    def _pass_over(self, kind: HeardKind, channel: str, data: Json) -> HeardEvent | None:
        """Skip an event; after many, return a read position instead. Raises `ValueError`."""
        is_mark = kind == "message" and self._backlog.note_noise(channel)
        present = self._notice(data, channel, find_author(data, self._directory.bot))
        if present or not is_mark:
            return present
        context, bare = self._directory.guess(data, channel), {"id": id_in(data, "id")}
        return HeardEvent(kind="mark", channel=channel, data=bare, context=context)

    def _notice(self, data: Json, channel: str, user: str) -> HeardEvent | None:
        """Report a person in a channel of a server, once in each channel. Raises `ValueError`."""
        is_known = (channel, user) in self._present or user in ("", self._directory.bot)
        if is_known or not words_in(data, "guild_id"):
            return None
        self._present.put((channel, user), None)
        bare = {"id": id_in(data, "id"), "user": user}
        context = self._directory.guess(data, channel)
        return HeardEvent(kind="presence", channel=channel, data=bare, context=context)

    def _list(self, data: Any) -> None:
        try:
            self._put(read_listing(data))
        except (ValueError, AttributeError) as error:
            _log.warning("a server of Discord can't be read: %s", error)

    def _park(self, data: Any, error: ValueError, *, is_for_us: bool) -> HeardEvent | None:
        """Park an unreadable event, unless it is a message that does not address the bot."""
        is_direct = is_for_us or not (isinstance(data, dict) and data.get("guild_id"))
        if not self._directory.may_concern_us(data, is_direct=is_direct):
            _log.warning("a Discord message to others can't be read: %s", error)
            return None
        return park(data, error)

    async def _make(self, heard: HeardEvent) -> RawEvent:
        """Build the event to store; one that cannot be built is set aside, without the others."""
        is_in_order = not self._backlog.is_behind(heard.channel)
        try:
            if heard.context.place is None and heard.kind in _PLACED:
                place = await self._directory.place_of(heard.data, heard.channel)
                heard = replace(heard, context=replace(heard.context, place=place))
            return make_event(heard, is_in_order=is_in_order)
        except ValueError as error:
            return make_event(park(heard.data, error), is_in_order=is_in_order)

    async def _catch_up(self, inlet: Inlet, places: Mapping[str, Start]) -> None:
        async def take(events: Sequence[RawEvent]) -> None:
            await self._hand_over(inlet, events)

        def release() -> None:
            self._put_back(self._backlog.release(places))

        def done(channel: str) -> None:
            self._put_back(self._backlog.finish(channel))

        timer = asyncio.get_running_loop().call_later(self._settings.patience, release)
        try:
            await Catchup(self._directory, self._slots, take).run(places, done)
        finally:
            timer.cancel()
        release()

    async def _hand_over(self, inlet: Inlet, events: Sequence[RawEvent]) -> None:
        """Store events; retry until that succeeds, because Discord does not resend them."""
        backoff = Backoff(self._longest_pause)
        while events:
            try:
                await inlet.take(events)
            except Unreachable as error:
                _log.warning("events of Discord can't be stored yet: %s", error)
                await backoff.wait()
            else:
                return

    async def _begin_session(self, inlet: Inlet) -> dict[str, Start]:
        """Return the points from which a new session must read: the read positions.

        A channel that an earlier session read only halfway may have none, because its first
        messages still waited for older ones. Reading such a channel starts with the newest message.
        """
        marks, now = await self._marks(inlet), snowflake_at(time.time())
        rest = self._rest.begin(marks, now=now)
        if rest is not None:
            await self._hand_over(inlet, [make_event(rest, is_in_order=True)])
        newest = str(snowflake_at(time.time() + _AHEAD))
        starts = {channel: Start(after=mark) for channel, mark in marks.items() if channel != REST}
        for channel in self._backlog.behind - starts.keys():
            is_listed = channel in self._backlog.unmarked
            starts[channel] = self._rest.start() if is_listed else Start(before=newest)
        self._backlog.begin(starts, now=now)
        return starts

    async def _find_unread(self, inlet: Inlet, listing: GuildListing) -> dict[str, Start]:
        """Return where to continue reading in a server, and hold back its newer messages."""
        try:
            starts = self._rest.find_starts(listing, await self._marks(inlet))
        except Unreachable:
            return {}  # the next session lists the server again
        self._backlog.add(starts)
        self._backlog.searched.add(listing.guild_id)
        return starts

    async def _read_archived(self, inlet: Inlet, listing: GuildListing) -> None:
        """Read the messages of a server's archived threads that arrived during an absence."""
        marks = await self._marks(inlet)
        try:
            after, parents = self._rest.find_parents(listing, marks)
            async with self._slots:
                starts = await find_archived(self._directory, parents, after, marks)
        except (Unreachable, AdapterStopped):
            return  # the next session lists the server again
        self._backlog.add(starts)
        self._backlog.searched.discard(listing.guild_id)
        await self._catch_up(inlet, starts)

    async def _marks(self, inlet: Inlet) -> Mapping[str, str]:
        backoff = Backoff(self._longest_pause)
        while True:
            try:
                return await inlet.marks()
            except Unreachable as error:
                _log.warning("the read position in Discord is not known yet: %s", error)
                await backoff.wait()


async def _end(tasks: Collection[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _is_ours(interaction: Json) -> bool:
    data = inside(interaction, "data")
    if interaction.get("type") == PRESS:
        return words_in(data, "custom_id").startswith(BUTTON)
    return interaction.get("type") == _COMMAND and data.get("type") == 1
