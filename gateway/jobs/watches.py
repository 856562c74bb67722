"""Watches the feeds and folders that jobs wait for."""

import asyncio
import fnmatch
import hashlib
import logging
import os
import stat
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agent_core.digest.formatting import SOURCES, own_folder
from agent_core.digest.tools import DigestOptions, open_web
from agent_core.digest.web_sources import FeedItem, list_items
from agent_core.ids import JobId
from agent_core.schedule.triggers import OnEvent, load_timing
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_marks, jobs, waiting_jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import people, rooms
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.readers.faults import SourceFailed
from agent_core.transcript import flatten
from gateway.jobs.events import JobEvent
from gateway.jobs.outcomes import Outcomes
from gateway.texts import job_results

_log = logging.getLogger(__name__)

WATCH = 2.0
"""Seconds between two looks at the folders. A file that is the same in both is complete."""
_FEED_POLL = 900_000
"""Milliseconds between two looks at a feed."""
_FEED_SECONDS = 30.0
_MOST_ITEMS = 20
"""Most items or files that one look handles; the next look handles the rest."""
_MOST_MARKS = 2000
_MOST_FILES = 5000
"""Files of a folder that are watched."""
_DAY = 86_400_000
_FAILING, _TOLD = "failing", "told"
"""The mark of an unreadable feed: the time it began in milliseconds, or that it was reported."""
_UNREAD = "unread"
"""The mark of a feed that was never read: none of its items is new."""
_WHOLE, _ONCE_READ = "whole", 40
"""The mark of a feed that was read whole. Earlier versions read and marked its first 40 items."""
_LONGEST_TEXT = 64_000
_LONGEST_NAME = 200
_Marks = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """A job that waits for a feed or a file, and the folders of its owner."""

    job: Job
    event: OnEvent
    folders: tuple[Path, ...]


@dataclass(slots=True, kw_only=True)
class _Look:
    """The result of one look: its events, everything seen so far, and a report to send."""

    events: list[JobEvent] = field(default_factory=list)
    marks: _Marks
    failure: str = ""


@dataclass(frozen=True, slots=True)
class EventSources:
    """Starts jobs for new items of feeds, and for files that arrive or change.

    Items and files that exist at the first look are not new. A look's events and its marks are
    written together, so that each item starts a job once.
    """

    database: Database
    digest: DigestOptions
    outcomes: Outcomes
    enqueue: Callable[[Sequence[OutboxRow]], None]
    wake: Callable[[], None]
    """Called after a write that starts runs."""
    now: Callable[[], int]
    pause: float = WATCH
    """Seconds between two looks."""
    _feeds_due: dict[tuple[JobId, str], int] = field(init=False, default_factory=dict)
    """When each feed of a job is looked at next, in milliseconds."""
    _sizes: dict[JobId, _Marks] = field(init=False, default_factory=dict)
    """The files of each folder as the last look saw them."""

    async def watch_folders(self) -> None:
        """Watch the folders until cancelled. Raises `StoreDamaged`."""
        await self._watch("file", self._look_at_files)

    async def watch_feeds(self) -> None:
        """Watch the feeds until cancelled; a slow one must not hold up files.

        Raises `StoreDamaged`.
        """
        await self._watch("feed", self._look_at_due_feed)

    async def _watch(self, kind: str, look_at: Callable[[_Waiting], Awaitable[None]]) -> None:
        async def look() -> None:
            read = partial(_list_waiting, kind=kind, home=self.digest.home)
            for one in await self.database.read(read):
                await look_at(one)

        while True:
            await self.database.retry_while_unavailable(look, f"jobs that wait for a {kind}")
            await asyncio.sleep(self.pause)

    async def _look_at_due_feed(self, one: _Waiting) -> None:
        now, feed = self.now(), (one.job.id, one.event.value)
        wait = self._feeds_due.get(feed, now) - now
        if not 0 < wait <= _FEED_POLL:  # a longer wait means that the clock was put back
            self._feeds_due[feed] = now + _FEED_POLL
            await self._look_at_feed(one)

    async def _look_at_files(self, one: _Waiting) -> None:
        seen = await self.database.read(job_marks.load, job_id=one.job.id)
        sizes = await asyncio.to_thread(_list_sizes, one.folders, one.event.value)
        before = self._sizes.get(one.job.id)
        self._sizes[one.job.id] = sizes
        marks = {_hash(path): size for path, size in sizes.items()}
        if seen is None:
            await self._store(one, _Look(marks=marks))
            return
        whole = {path for path, size in sizes.items() if before and before.get(path) == size}
        new = sorted(path for path in whole if seen.get(_hash(path)) != sizes[path])[:_MOST_ITEMS]
        kept = {key: size for key, size in seen.items() if key in marks}
        look = _Look(marks=kept | {_hash(path): sizes[path] for path in new})
        for path in new:
            look.events.append(await asyncio.to_thread(_read_file, Path(path), sizes[path]))
        if look.events or look.marks != seen:
            await self._store(one, look)

    async def _look_at_feed(self, one: _Waiting) -> None:
        seen = await self.database.read(job_marks.load, job_id=one.job.id)
        marks = {_UNREAD: ""} if seen is None else dict(seen)
        try:
            async with asyncio.timeout(_FEED_SECONDS):
                items = await list_items(open_web(self.digest), one.event.value)
        except (SourceFailed, TimeoutError) as error:
            reason = str(error) or f"it took longer than {_FEED_SECONDS:g} s"
            await self._store(one, self._note_failure(one.job, marks, reason))
            return
        marks.pop(_FAILING, None)
        is_first = marks.pop(_UNREAD, None) is not None
        known = items if marks.pop(_WHOLE, None) is not None else items[:_ONCE_READ]
        new = [] if is_first else [item for item in known if item.key not in marks]
        taken = new[::-1][:_MOST_ITEMS]  # the oldest first
        left = {item.key for item in new} - {item.key for item in taken}
        current = {_WHOLE: ""} | {item.key: "" for item in items if item.key not in left}
        old = [key for key in marks if key not in current][-_MOST_MARKS:]
        look = _Look(
            events=[_describe_item(item) for item in taken], marks=dict.fromkeys(old, "") | current
        )
        if look.marks != seen:
            await self._store(one, look)

    def _note_failure(self, job: Job, marks: _Marks, reason: str) -> _Look:
        """Note the time since which a feed can't be read; after a day, report it once."""
        _log.warning("the feed of job %d can't be read: %s", job.id, reason)
        since = marks.setdefault(_FAILING, str(self.now()))
        if since != _TOLD and self.now() - int(since) > _DAY:
            return _Look(marks=marks | {_FAILING: _TOLD}, failure=reason)
        return _Look(marks=marks)

    async def _store(self, one: _Waiting, look: _Look) -> None:
        """Start the job for each event, and store what was seen."""
        now = self.now()

        def work(connection: Connection) -> list[OutboxRow]:
            job = jobs.find(connection, job_id=one.job.id)
            if job is None or job.timing != one.job.timing or job.state != "active":
                return []
            rows = [
                row
                for event in look.events
                for row in self.outcomes.take_event(connection, job, event, now)
            ]
            if look.failure:
                report = partial(job_results.describe_feed_failure, job.title, job.id, look.failure)
                rows += self.outcomes.tell(connection, job, report, now)
            job_marks.store(connection, job_id=job.id, marks=look.marks)
            return rows

        self.enqueue(await self.database.write("jobs.sources", work))
        if look.events:
            self.wake()


def _list_waiting(connection: Connection, *, kind: str, home: Path) -> list[_Waiting]:
    """List the jobs that wait for a kind of event."""
    found = []
    for job in waiting_jobs.list_on_event(connection):
        event = load_timing(job.timing)
        if not isinstance(event, OnEvent) or event.kind != kind:
            continue
        person = people.find(connection, person_id=job.person_id) if job.person_id else None
        room = rooms.find_by_id(connection, room_id=job.room_id) if job.room_id else None
        if person is None:
            continue
        common = home / SOURCES
        own = own_folder(common, "rooms", room.slug) if room else None
        own = own or own_folder(common, "people", person.slug)
        found.append(_Waiting(job=job, event=event, folders=(own, common)))
    return found


def _list_sizes(folders: Sequence[Path], pattern: str) -> _Marks:
    """List the size and the time of each file that a pattern names, by path. Follows no links."""
    found: _Marks = {}
    for folder in folders:
        try:
            paths = [] if folder.is_symlink() else sorted(folder.iterdir())
        except OSError:
            continue  # the folder does not exist yet
        for path in paths[:_MOST_FILES]:
            name = path.name.casefold()
            if name.startswith(".") or not fnmatch.fnmatchcase(name, pattern.casefold()):
                continue
            try:
                status = path.lstat()
            except OSError:
                continue  # the file was removed meanwhile
            if stat.S_ISREG(status.st_mode):
                found[str(path)] = f"{status.st_size}:{status.st_mtime_ns}"
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _read_file(path: Path, size: str) -> JobEvent:
    """Make an event of a file: its text, or only the name and size of one that is not text."""
    count = int(size.partition(":")[0])
    text = ""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:  # noqa: PTH123 - it was opened without following links
            data = file.read(_LONGEST_TEXT * 4)
        text = "" if b"\0" in data else data.decode()[:_LONGEST_TEXT]
    except (OSError, UnicodeDecodeError):
        pass  # the file was removed or is no text: the line names it
    line = partial(job_results.ARRIVED_FILE, name=flatten(path.name, _LONGEST_NAME), size=count)
    return JobEvent(key="file:" + _hash(f"{path}:{size}"), line=line, details=text)


def _describe_item(item: FeedItem) -> JobEvent:
    line = partial(job_results.FEED_ITEM, title=item.title)
    return JobEvent(key=f"item:{item.key}", line=line, details=item.text)
