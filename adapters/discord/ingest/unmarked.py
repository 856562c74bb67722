"""Finds unread messages in server channels that have no read position of their own.

While the bot is away, somebody may mention it for the first time in a channel or a new thread.
Discord lists every channel with its newest message, so only channels with new messages are read.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.discord.channel_directory import ChannelDirectory
from adapters.discord.ingest.archived import SHORTEST_ABSENCE
from adapters.discord.ingest.catchup import Backlog, HeardEvent, Start
from adapters.discord.receive import Context
from adapters.discord.snowflakes import id_in, snowflake_at
from adapters.toolkit.text import Json, number_in, parts, words_in

REST = "rest"
"""The name of the read position that covers all channels without one."""

_WRITABLE = (0, 2, 5, 10, 11, 12, 13)
"""Channel types with messages: text, voice, news, threads, stages. A forum has only threads."""
_THREADED = (0, 5, 15)
"""Channel types with public threads: text, news, forum."""
_INTERVAL = 300.0
"""Seconds between two advances of the position; each advance adds a row."""
_MARGIN = 60_000 << 22
"""A minute, in snowflakes: messages of several channels may be out of order by that much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildListing:
    """A server's channels with the ids of their newest messages. `joined` is a snowflake.

    `parents` are the channels that can have threads.
    """

    guild_id: str
    newest: Mapping[str, int]
    joined: int
    parents: Sequence[str] = ()


def read_listing(data: Json) -> GuildListing:
    """Parse GUILD_CREATE. Raises `ValueError`.

    Leaves out malformed channels, channels without messages, and types without text.
    """
    try:
        joined = snowflake_at(datetime.fromisoformat(words_in(data, "joined_at")).timestamp())
    except (ValueError, OverflowError):
        joined = 0
    written = (*_list(data, "channels", _WRITABLE), *_list(data, "threads", _WRITABLE))
    return GuildListing(
        guild_id=id_in(data, "id"),
        newest={channel: newest for channel, newest in written if newest},
        joined=joined,
        parents=[channel for channel, _ in _list(data, "channels", _THREADED)],
    )


def _list(data: Json, key: str, kinds: Collection[int]) -> Iterator[tuple[str, int]]:
    """Yield channels with the ids of their newest messages; 0 for one without messages."""
    for channel in parts(data, key):
        try:
            if number_in(channel, "type") in kinds:
                has_messages = channel.get("last_message_id")
                newest = int(id_in(channel, "last_message_id")) if has_messages else 0
                yield id_in(channel, "id"), newest
        except ValueError:
            continue


class Rest:
    """The position up to which all channels without their own position are read.

    The position is stored in the first session, and advances with received messages while none are
    missing. After an absence, reading starts there.
    """

    def __init__(self, directory: ChannelDirectory, backlog: Backlog) -> None:
        self._directory = directory
        self._backlog = backlog
        self._position = 0
        self._advanced = float("-inf")
        self._listed: set[str] = set()

    def begin(self, marks: Mapping[str, str], *, now: int) -> HeardEvent | None:
        """Begin a session; return the position to store, if there was none. `now` is a snowflake.

        Without any read position, the bot is here for the first time: older messages are not for
        it. A message of the same millisecond may have the id `now`; it is read.
        """
        self._listed.clear()
        known = marks.get(REST)
        self._position = int(known or max(marks.values(), default=str(now - 1)))
        return None if known else self._mark(self._position)

    def start(self) -> Start:
        """Return where to start reading in a channel without a read position."""
        return Start(after=str(self._position), has_mark=False)

    def find_starts(self, listing: GuildListing, marks: Mapping[str, str]) -> dict[str, Start]:
        """Return the channels with unread messages, the newest first, and where to start reading.

        They have no limit but Discord's own: 500 channels and 1,000 active threads in a server.

        A server that is listed again was unreachable: all its channels may have missed messages.
        """
        was_away = listing.guild_id in self._listed
        self._listed.add(listing.guild_id)
        starts: dict[str, Start] = {}
        for channel in sorted(listing.newest, key=lambda one: -listing.newest[one]):
            after = int(marks.get(channel) or marks.get(REST) or self._position)
            is_read = self._backlog.has_begun(channel) and not was_away
            if is_read or listing.newest[channel] <= max(after, listing.joined):
                continue
            if self._directory.can_read(channel):
                after = max(after, listing.joined)
                starts[channel] = Start(after=str(after), has_mark=channel in marks)
        return starts

    def find_parents(
        self, listing: GuildListing, marks: Mapping[str, str]
    ) -> tuple[int, list[str]]:
        """Return the snowflake up to which a server's archived threads are read, and the channels
        that may have others; none after a short absence.
        """
        position = int(marks.get(REST) or self._position)
        after = max(position, listing.joined)
        if snowflake_at(time.time()) - position < SHORTEST_ABSENCE:
            return after, []
        return after, [one for one in listing.parents if self._directory.can_read(one)]

    def is_whole(self) -> bool:
        """True while no older message of any channel is missing. Raises `Unreachable`."""
        return self._backlog.is_whole and self._directory.is_complete()

    def advance(self, message_id: int) -> HeardEvent | None:
        """Return the new position from time to time; `message_id` is of a live message."""
        now = time.monotonic()
        position = message_id - _MARGIN
        if position <= self._position or now - self._advanced < _INTERVAL or not self.is_whole():
            return None
        self._advanced = now
        return self._mark(position)

    def _mark(self, position: int) -> HeardEvent:
        context = Context(bot=self._directory.bot)
        return HeardEvent(kind="mark", channel=REST, data={"id": str(position)}, context=context)
