"""Fetches messages that arrived while the bot was offline, and tracks incomplete channels."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from adapters.contract import Inlet
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    Rejected,
    Unreachable,
)
from adapters.slack.api import Api, SlackPlace
from adapters.slack.events import BotIdentity, SlackEvent, sort_message, unreadable_event
from adapters.slack.ingest.pipeline import EventPipeline
from adapters.slack.places import is_ts, read_mark
from adapters.slack.recent_activity import RecentActivity
from adapters.toolkit.connection_health import Backoff
from adapters.toolkit.text import Json

_log = logging.getLogger(__name__)

_MOST_MESSAGES = 2000
"""Messages of one channel to fetch after an absence."""
_MOST_THREADS = 100
"""Threads of one channel to search after an absence, newest first."""
_OVERLAP = 60.0
"""Seconds before a read position that are read again, because several sockets keep no strict order.
"""
_ROOTS = 2 * 24 * 3600.0
"""Seconds before a read position within which a thread with new replies may have started."""
_OLDEST_THREAD = 30 * 24 * 3600.0
_BATCH = 50
_MOST_UNMARKED = 200
_PATIENCE = 1.2
"""Seconds that a new message waits for earlier ones. Slack expects the ack within three seconds
(docs: Socket Mode), and storing takes part of that time.
"""
_MOST_FAILURES = 5
"""If this many channels fail, Slack or the store itself counts as failing."""
_NEVER = "9999999999.000000"
_REFUSED = (Rejected, ChatGone, MessageGone)
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


class CatchUp:
    """Tracks which channels are complete, and fetches what is missing."""

    def __init__(
        self,
        api: Api,
        slack_events: EventPipeline,
        activity: RecentActivity,
        longest_hold: float,
    ) -> None:
        self._longest_hold = longest_hold
        self._api = api
        self._pipeline = slack_events
        self._activity = activity
        self._behind: set[str] = set()
        self._missed: dict[str, str] = {}
        """The oldest message of each channel that could not be stored."""
        self._knows_marks = False
        self._is_first = True
        self._wanted = asyncio.Event()
        self._restarted = time.monotonic()
        self._progress = asyncio.Event()
        """Set, and replaced, whenever a channel may have become complete."""

    def is_whole(self, channel: str) -> bool:
        """Return True if all earlier messages of the channel are stored."""
        return self._knows_marks and channel not in self._behind

    async def wait_until_whole(self, channel: str) -> bool:
        """Wait until the channel is complete, or as long as Slack can wait.

        Returns False if the message should be read again in order instead: in the first seconds of
        a connection.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while not self.is_whole(channel):
                    await self._progress.wait()
        is_late = time.monotonic() - self._restarted > self._longest_hold
        return is_late or self.is_whole(channel)

    def open(self, slack_events: Sequence[SlackEvent]) -> None:
        """Note events that could not be stored, so that they are fetched again."""
        for slack_event in slack_events:
            if slack_event.kind == "message":
                known = self._missed.get(slack_event.channel, slack_event.ts)
                self._missed[slack_event.channel] = min(known, slack_event.ts)
                self._behind.add(slack_event.channel)
        self._wanted.set()

    def restart(self) -> None:
        """Mark every channel as possibly incomplete after a reconnection."""
        self._knows_marks = False
        self._restarted = time.monotonic()
        self._wanted.set()

    async def run(self, inlet: Inlet, me: BotIdentity) -> None:
        """Catch up whenever needed, until cancelled. Raises `AdapterStopped`."""
        backoff = Backoff(_LONGEST_PAUSE, first=_FIRST_PAUSE)
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._catch_up(inlet, me)
            except AdapterStopped:
                raise
            except AdapterError as error:
                _log.info("catching up on Slack waits: %s", error)
                self._wanted.set()
                await backoff.wait(error)
            else:
                backoff.reset()

    async def _catch_up(self, inlet: Inlet, me: BotIdentity) -> None:
        marks = {mark: ts for mark, ts in (await inlet.marks()).items() if is_ts(ts)}
        self._pipeline.remember([*marks])
        channels = {read_mark(mark)[0] for mark in marks}
        if not self._knows_marks:
            self._behind |= channels
            if marks and self._is_first:
                await self._find_unmarked(marks)
            self._is_first = False
            self._knows_marks = True
            self._show_progress()
        newest: dict[str, str] = {}
        for mark, ts in sorted(marks.items(), key=itemgetter(1)):
            newest[read_mark(mark)[0]] = ts
        failures: list[Unreachable] = []
        # First the channels with the newest messages: somebody may be waiting there.
        for channel in sorted(self._behind, key=lambda one: newest.get(one, ""), reverse=True):
            missed = self._missed.get(channel)
            try:
                await self._read(inlet, me, channel, marks)
            except (*_REFUSED, ValueError) as error:
                _log.warning("the history of %s on Slack can't be read: %s", channel, error)
            except Unreachable as error:  # perhaps only of this channel: try the others
                failures.append(error)
                if len(failures) == _MOST_FAILURES:
                    break
                continue
            if self._missed.get(channel) == missed:  # no further message was missed meanwhile
                self._missed.pop(channel, None)
                self._behind.discard(channel)
                self._show_progress()
        if failures:
            raise failures[0]

    def _show_progress(self) -> None:
        self._progress.set()
        self._progress = asyncio.Event()

    async def _read(
        self, inlet: Inlet, me: BotIdentity, channel: str, marks: Mapping[str, str]
    ) -> None:
        """Store a channel's and its threads' missed messages, oldest first."""
        ours = {mark: ts for mark, ts in marks.items() if read_mark(mark)[0] == channel}
        missed = self._missed.get(channel, _NEVER)
        newest = min(max(ours.values(), default=_NEVER), missed)
        since = _earlier(newest, _OVERLAP)
        found: dict[str, SlackEvent] = {}
        threads = {t: ts for mark, ts in ours.items() if (t := read_mark(mark)[1]) is not None}
        shown = await self._ask(SlackPlace(channel=channel), _earlier(newest, _ROOTS))
        for message in shown:
            root, latest = str(message.get("ts")), str(message.get("latest_reply"))
            if is_ts(root) and is_ts(latest) and latest > since:
                threads[root] = latest
        found |= self._sort(shown, me, channel, since)
        oldest = f"{time.time() - _OLDEST_THREAD:.6f}"
        recent = sorted((ts, thread) for thread, ts in threads.items() if ts > oldest)
        for _, thread in recent[-_MOST_THREADS:]:
            try:
                shown = await self._ask(SlackPlace(channel=channel, thread=thread), since)
            except _REFUSED as error:
                _log.info("the thread %s of %s on Slack is skipped: %s", thread, channel, error)
            else:
                found |= self._sort(shown, me, channel, since)
        unheard = [found[ts] for ts in sorted(found)]
        for start in range(0, len(unheard), _BATCH):
            batch = unheard[start : start + _BATCH]
            await self._pipeline.store(inlet, me, batch, lambda _: True)

    async def _ask(self, place: SlackPlace, after: str) -> list[Json]:
        """Fetch messages after `after`, as slowly as Slack's rate limits demand."""
        shown: list[Json] = []
        async for page in self._api.pages(place, after=after, is_patient=True):
            shown += page
            if len(shown) > _MOST_MESSAGES:
                _log.warning("the history of %s on Slack is too long to read all of it", place)
                break
        return shown

    async def _find_unmarked(self, marks: Mapping[str, str]) -> None:
        """Find channels without a read position, where a first message may have arrived.

        Reading starts at the time when this installation last received any message.
        """
        known = {read_mark(mark)[0] for mark in marks}
        newest = max(marks.values())
        try:
            places = await self._api.fetch_places()
        except _REFUSED as error:
            _log.info("Slack did not list the channels of the bot: %s", error)
            return
        for place in [place for place in places if place not in known][:_MOST_UNMARKED]:
            self._missed.setdefault(place, newest)
            self._behind.add(place)

    def _sort(
        self, messages: Iterable[Json], me: BotIdentity, channel: str, since: str
    ) -> dict[str, SlackEvent]:
        """Return people's messages after `since`, sorted by time, with the unreadable ones last."""
        found: dict[str, SlackEvent] = {}
        for message in messages:
            try:
                slack_event = sort_message(message, me, self._activity.threads, channel)
            except ValueError as error:
                _log.error("a message in %s can't be read and is set aside: %s", channel, error)
                found[f"{_NEVER} {message}"] = unreadable_event(message, str(error))
                continue
            if slack_event is None:
                continue
            self._pipeline.note(slack_event)
            if slack_event.ts > since:
                found[slack_event.ts] = slack_event
        return found


def _earlier(ts: str, seconds: float) -> str:
    return f"{max(float(ts) - seconds, 0):017.6f}"
