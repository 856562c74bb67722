"""Stores inbound events in their order; returns once they are durable."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from adapters.contract import Inlet
from adapters.errors import AdapterError
from adapters.messages import RawEvent
from adapters.slack.api import Api
from adapters.slack.events import Arrival, Me, pack
from adapters.slack.ingest.user_directory import People
from adapters.slack.places import is_im, read_mark
from adapters.slack.recent_activity import Tracks
from adapters.toolkit.caches import Pauses
from adapters.toolkit.text import Json

_log = logging.getLogger(__name__)

_MOST_AT_ONCE = 100
_TURNS = 3
"""Loop iterations in which events from several sockets gather into one batch."""
_DEADLINE = 1.5
"""Seconds after which no further attempt to store starts: Slack waits three for its ack."""
_FIRST_PAUSE = 0.05
_PATIENCE = 1.2
"""Seconds that a command waits to learn whether its place is the bot's own direct chat."""


class Gaps(Protocol):
    """Knows where older messages may still be missing."""

    def is_whole(self, channel: str) -> bool:
        """True when everything earlier in the channel is stored."""

    async def wait_until_whole(self, channel: str) -> bool:
        """Wait until the channel is complete, or as long as Slack can wait.

        False if the message should rather be read again in order.
        """

    def open(self, arrivals: Sequence[Arrival]) -> None:
        """Mark events that could not be stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    arrival: Arrival
    is_kept: asyncio.Future[bool]


class Arrivals:
    """One queue for all sockets; events that gather during a write are stored together."""

    def __init__(self, api: Api, tracks: Tracks) -> None:
        self._api = api
        self._tracks = tracks
        self._people = People(api)
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self.commands: frozenset[str] | None = None
        """The gateway's command names; None until the menu is published."""

    async def take(self, arrival: Arrival) -> bool:
        """Store an event; True once it is durable, False if it could not be stored."""
        self.note(arrival)
        waiting = _Waiting(arrival=arrival, is_kept=asyncio.get_running_loop().create_future())
        self._queue.put_nowait(waiting)
        return await waiting.is_kept

    async def run(self, inlet: Inlet, me: Me, gaps: Gaps) -> None:
        """Store events until cancelled."""
        batch: list[_Waiting] = []
        try:
            while True:
                batch = [await self._queue.get()]
                for _ in range(_TURNS):
                    await asyncio.sleep(0)
                while not self._queue.empty() and len(batch) < _MOST_AT_ONCE:
                    batch.append(self._queue.get_nowait())
                batch = _in_order(batch)
                arrivals = [waiting.arrival for waiting in batch]
                _settle(batch, is_kept=await self._insist(inlet, me, arrivals, gaps))
        finally:
            while not self._queue.empty():
                batch.append(self._queue.get_nowait())
            _settle(batch, is_kept=False)

    async def _insist(self, inlet: Inlet, me: Me, arrivals: Sequence[Arrival], gaps: Gaps) -> bool:
        """Retry for as long as Slack waits: it never resends commands and presses."""
        pauses = Pauses(_DEADLINE, first=_FIRST_PAUSE)
        deadline = time.monotonic() + _DEADLINE
        while True:
            try:
                await self.store(inlet, me, arrivals, gaps.is_whole)
            except AdapterError as error:
                if time.monotonic() > deadline:
                    _log.warning("slack: %d events could not be kept: %s", len(arrivals), error)
                    gaps.open(arrivals)
                    return False
                await pauses.wait()
            else:
                return True

    async def store(
        self,
        inlet: Inlet,
        me: Me,
        arrivals: Sequence[Arrival],
        is_whole: Callable[[str], bool],
    ) -> None:
        """Store events. Raises what the inlet raises."""
        rooms = [a.channel for a in arrivals if a.mark and not is_im(a.channel)]
        await self._people.learn([arrival.user for arrival in arrivals], rooms)
        events = [
            RawEvent(
                event_id=arrival.event_id,
                payload=pack(arrival, me, self._people.get, await self._facts(arrival)),
                channel=arrival.mark,
                position=arrival.ts if arrival.mark and is_whole(arrival.channel) else "",
            )
            for arrival in arrivals
        ]
        await inlet.take(events)

    def remember(self, marks: Sequence[str]) -> None:
        """Restore knowledge of threads and chats from the names of read positions."""
        for mark in marks:
            channel, thread, is_ours = read_mark(mark)
            if thread is not None and is_ours:
                self._tracks.threads.put((channel, thread), None)
            if is_im(channel):
                self._tracks.talks.put(channel, None)

    def note(self, arrival: Arrival) -> None:
        """Learn from a message at once, because parsing the next one depends on it."""
        if arrival.kind != "message":
            return
        self._tracks.note_sent(arrival.channel, arrival.ts)
        thread = arrival.event.get("thread_ts") or arrival.ts
        self._tracks.note_speaker(arrival.channel, str(thread), arrival.user)
        if arrival.is_ours and arrival.thread is not None:
            self._tracks.threads.put((arrival.channel, arrival.thread), None)
        if is_im(arrival.channel):
            self._tracks.talks.put(arrival.channel, None)

    async def _facts(self, arrival: Arrival) -> Json:
        """Collect the facts that parsing some kinds of events needs."""
        facts: Json = {"at": int(time.time() * 1000), "room": self._people.title(arrival.channel)}
        if arrival.kind in ("command", "shortcut"):
            facts["is_own_talk"] = await self._is_own_talk(arrival)
        if arrival.kind == "command":
            facts["is_command"] = self._is_command(str(arrival.event.get("text") or ""))
        return facts

    def _is_command(self, text: str) -> bool:
        words = text.split(maxsplit=1)
        if not words:
            return False
        if self.commands is None:  # nobody has said what there is: then one word is a command
            return len(words) == 1 and words[0].isascii() and words[0].isalpha()
        return words[0] in self.commands

    async def _is_own_talk(self, arrival: Arrival) -> bool:
        """Tell whether a command's chat is the bot's own; two people can use one in theirs."""
        channel = arrival.channel
        if not is_im(channel) or channel in self._tracks.talks:
            return is_im(channel)
        try:
            async with asyncio.timeout(_PATIENCE):
                room = await self._api.fetch_room(channel)
        except (TimeoutError, AdapterError, ValueError) as error:
            _log.info("slack: %s is taken for somebody else's talk: %s", channel, error)
            return False
        if room.get("is_im") and room.get("user") == arrival.user:
            self._tracks.talks.put(channel, None)
            return True
        return False


def _in_order(batch: list[_Waiting]) -> list[_Waiting]:
    """Sort messages by time: several sockets deliver in any order."""
    timed = iter(sorted((w for w in batch if w.arrival.ts), key=lambda w: w.arrival.ts))
    return [next(timed) if waiting.arrival.ts else waiting for waiting in batch]


def _settle(batch: Sequence[_Waiting], *, is_kept: bool) -> None:
    for waiting in batch:
        if not waiting.is_kept.done():
            waiting.is_kept.set_result(is_kept)
