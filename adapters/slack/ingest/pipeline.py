"""Stores inbound events in their order; returns once they are durable."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.abilities import MenuEntry
from adapters.contract import Inlet
from adapters.errors import AdapterError
from adapters.ids import EventId
from adapters.messages import RawEvent
from adapters.slack.api import Api
from adapters.slack.events import BotIdentity, SlackEvent, pack
from adapters.slack.ingest.user_directory import UserDirectory
from adapters.slack.places import is_im, read_mark
from adapters.slack.recent_activity import RecentActivity
from adapters.toolkit.caches import BoundedDict
from adapters.toolkit.connection_health import Backoff
from adapters.toolkit.text import Json, make_unreadable

if TYPE_CHECKING:
    from adapters.slack.ingest.catchup import CatchUp

_log = logging.getLogger(__name__)
_MOST_AT_ONCE = 100
_TURNS = 3
"""Loop iterations in which events from several sockets gather into one batch."""
_DEADLINE = 1.5
"""Seconds after which no further attempt to store starts: Slack waits three seconds for its ack."""
_FIRST_PAUSE = 0.05
_PATIENCE = 1.2
"""Seconds that a command waits for the answer whether its place is the bot's own direct chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    slack_event: SlackEvent
    is_kept: asyncio.Future[bool]


class EventPipeline:
    """A queue for all sockets; events that gather during a write are stored together."""

    def __init__(self, api: Api, activity: RecentActivity) -> None:
        self._api = api
        self._activity = activity
        self._people = UserDirectory(api)
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._present: BoundedDict[EventId, None] = BoundedDict()
        """People and programs whose presence in a channel is durable."""
        self._transient: Collection[str] = ()
        """The commands whose reply is transient; none until the menu is published."""

    def note_menu(self, entries: Sequence[MenuEntry]) -> None:
        """Note the transient commands, for the events from now on."""
        self._transient = {entry.name for entry in entries if entry.is_transient}

    async def take(self, slack_event: SlackEvent) -> bool:
        """Store an event; return True once it is durable, False if it could not be stored."""
        if slack_event.event_id in self._present:
            return True
        self.note(slack_event)
        waiting = _Waiting(
            slack_event=slack_event, is_kept=asyncio.get_running_loop().create_future()
        )
        self._queue.put_nowait(waiting)
        is_kept = await waiting.is_kept
        if is_kept and slack_event.kind == "presence":
            self._present.put(slack_event.event_id, None)
        return is_kept

    async def run(self, inlet: Inlet, me: BotIdentity, gaps: "CatchUp") -> None:
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
                slack_events = [waiting.slack_event for waiting in batch]
                _finish(batch, is_kept=await self._insist(inlet, me, slack_events, gaps))
        finally:
            while not self._queue.empty():
                batch.append(self._queue.get_nowait())
            _finish(batch, is_kept=False)

    async def _insist(
        self, inlet: Inlet, me: BotIdentity, slack_events: Sequence[SlackEvent], gaps: "CatchUp"
    ) -> bool:
        """Retry for as long as Slack waits: it never resends commands and presses."""
        backoff = Backoff(_DEADLINE, first=_FIRST_PAUSE)
        deadline = time.monotonic() + _DEADLINE
        while True:
            try:
                await self.store(inlet, me, slack_events, gaps.is_whole)
            except AdapterError as error:
                if time.monotonic() > deadline:
                    _log.warning(
                        "%d events of Slack could not be stored: %s", len(slack_events), error
                    )
                    gaps.open(slack_events)
                    return False
                await backoff.wait()
            else:
                return True

    async def store(
        self,
        inlet: Inlet,
        me: BotIdentity,
        slack_events: Sequence[SlackEvent],
        is_whole: Callable[[str], bool],
    ) -> None:
        """Store events. Raises what the inlet raises."""
        rooms = [a.channel for a in slack_events if a.mark and not is_im(a.channel)]
        await self._people.learn([slack_event.user for slack_event in slack_events], rooms)
        await inlet.take(
            [await self._make(slack_event, me, is_whole) for slack_event in slack_events]
        )

    async def _make(
        self, slack_event: SlackEvent, me: BotIdentity, is_whole: Callable[[str], bool]
    ) -> RawEvent:
        """Build the event to store; one that cannot be built is set aside, without the others."""
        about = slack_event.event
        if slack_event.kind == "unreadable":
            return make_unreadable(about["body"], about["fault"])
        try:
            return RawEvent(
                event_id=slack_event.event_id,
                payload=pack(slack_event, me, self._people.get, await self._facts(slack_event)),
                channel=slack_event.mark,
                position=slack_event.ts
                if slack_event.mark and is_whole(slack_event.channel)
                else "",
            )
        except ValueError as error:
            _log.error("an event of Slack can't be stored as it is and is set aside: %s", error)
            return make_unreadable(about, str(error))

    def remember(self, marks: Sequence[str]) -> None:
        """Restore knowledge of threads and chats from the names of read positions."""
        for mark in marks:
            channel, thread, is_ours = read_mark(mark)
            if thread is not None and is_ours:
                self._activity.threads.put((channel, thread), None)
            if is_im(channel):
                self._activity.direct_chats.put(channel, None)

    def note(self, slack_event: SlackEvent) -> None:
        """Learn from a message at once, because parsing the next one depends on it."""
        if slack_event.kind != "message":
            return
        self._activity.note_sent(slack_event.channel, slack_event.ts)
        thread = slack_event.event.get("thread_ts") or slack_event.ts
        self._activity.note_speaker(slack_event.channel, str(thread), slack_event.user)
        if slack_event.is_ours and slack_event.thread is not None:
            self._activity.threads.put((slack_event.channel, slack_event.thread), None)
        if is_im(slack_event.channel):
            self._activity.direct_chats.put(slack_event.channel, None)

    async def _facts(self, slack_event: SlackEvent) -> Json:
        """Collect the facts that are needed to parse some kinds of events."""
        facts: Json = {
            "at": int(time.time() * 1000),
            "room": self._people.title(slack_event.channel),
        }
        if slack_event.kind in ("command", "shortcut"):
            facts["is_own_talk"] = await self._is_own_chat(slack_event)
        if slack_event.kind == "command":
            words = str(slack_event.event.get("text") or "").split()
            facts["is_transient"] = bool(words) and words[0] in self._transient
        return facts

    async def _is_own_chat(self, slack_event: SlackEvent) -> bool:
        """Return whether a command's chat is the bot's own; people can also use commands in their
        own chats.
        """
        channel = slack_event.channel
        if not is_im(channel) or channel in self._activity.direct_chats:
            return is_im(channel)
        try:
            async with asyncio.timeout(_PATIENCE):
                room = await self._api.fetch_room(channel)
        except (TimeoutError, AdapterError, ValueError) as error:
            _log.info("%s on Slack is taken for a conversation of others: %s", channel, error)
            return False
        if room.get("is_im") and room.get("user") == slack_event.user:
            self._activity.direct_chats.put(channel, None)
            return True
        return False


def _in_order(batch: list[_Waiting]) -> list[_Waiting]:
    """Sort messages by time: several sockets deliver in any order."""
    timed = iter(sorted((w for w in batch if w.slack_event.ts), key=lambda w: w.slack_event.ts))
    return [next(timed) if waiting.slack_event.ts else waiting for waiting in batch]


def _finish(batch: Sequence[_Waiting], *, is_kept: bool) -> None:
    for waiting in batch:
        if not waiting.is_kept.done():
            waiting.is_kept.set_result(is_kept)
