"""External sources of a digest: calendars, feeds and web pages, as quoted lines."""

import asyncio
import hashlib
import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from agent_core.digest.formatting import count, fit
from agent_core.digest.requests import DigestSource, GatherRequest
from agent_core.errors import name_installation
from agent_core.tools.clock import local_time
from agent_core.tools.network.addresses import show_link
from agent_core.tools.readers.faults import SourceFailed
from agent_core.tools.readers.pool import PAGE_READER, ReaderCommand, ReaderPool
from agent_core.tools.web.fetching import MOST_BYTES, Fetcher, FetchRequest, Page
from agent_core.transcript import flatten, quote

_CALENDAR_READER = "agent_core.digest.readers.calendar_reader"
_FEED_READER = "agent_core.digest.readers.feed_reader"
_READ_SECONDS = 12.0
_MOST_REPORTED = 4_000_000
"""The most bytes of JSON that are accepted from a reader."""
_MOST_ENTRIES = 40
_MOST_ITEMS = 500
"""The most items of a feed that starts jobs or opens a gate: a new one may have any date."""
_MOST_DAYS_OFF = 400
"""The most spans of days off that a job stores with its timing."""
_LONGEST_TITLE = 200
_LONGEST_TEXT = 300
_LONGEST_PAGE = 100_000
"""The most characters of a page that a gate reads."""
_FILE = re.compile(r"[\w][\w .()+-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarFolders:
    """The folders with calendar files, in search order."""

    folders: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEvents:
    """The events of some days, and the number of events of the calendar that can't be read."""

    events: Sequence[object]
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAccess:
    """The fetcher and the reader processes."""

    fetcher: Fetcher
    readers: ReaderPool


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """An item of a feed. `key` is a digest of its id, its link or its words.

    `title` is one line, with the link.
    """

    key: str
    title: str
    text: str


async def read_calendar(
    access: WebAccess, folders: CalendarFolders, source: DigestSource, wanted: GatherRequest
) -> str:
    """Format the events of the requested days. Raises `SourceFailed`."""
    days = wanted.first.isoformat()
    found = await list_events(access, folders, source.at, days, wanted.zone, wanted.days)
    events = [_format_event(_texts(event)) for event in found.events]
    span = days if wanted.days == 1 else f"{wanted.days} days from {days}"
    head = f"{count(len(events), 'event')}, {span} ({wanted.zone})"
    if found.unread:
        head += f"; {count(found.unread, 'broken event')} of any day can't be read"
    return fit(head, events, wanted.room)


async def list_events(
    access: WebAccess, folders: CalendarFolders, at: str, first: str, zone: str, days: int = 1
) -> CalendarEvents:
    """List the events of a calendar from a day on. Raises `SourceFailed`."""
    data = await _load_calendar(access, folders, at)
    found = await _read(access, _CALENDAR_READER, data, zone, first, str(days))
    read = found if isinstance(found, dict) else {}
    return CalendarEvents(events=_list(read.get("events")), unread=int(read.get("unread", 0)))


async def list_days_off(
    access: WebAccess, folders: Sequence[Path], at: str, first: date, days: int
) -> tuple[tuple[date, date], ...]:
    """List the spans of a calendar's whole-day events, within some days. Raises `SourceFailed`."""
    data = await _load_calendar(access, CalendarFolders(folders=tuple(folders)), at)
    last = first + timedelta(days=days - 1)
    options = "UTC", first.isoformat(), str(days), "days-off"
    found = cast(list[list[str]], _list(await _read(access, _CALENDAR_READER, data, *options)))
    spans = [(date.fromisoformat(begin), date.fromisoformat(end)) for begin, end in found]
    if len(spans) > _MOST_DAYS_OFF:
        raise SourceFailed(f"it has more than {_MOST_DAYS_OFF} whole-day events in two years")
    return tuple((max(begin, first), min(end, last)) for begin, end in spans)


async def _load_calendar(access: WebAccess, folders: CalendarFolders, at: str) -> bytes:
    """Fetch a calendar, or read its file. Raises `SourceFailed`."""
    if find_spec("recurring_ical_events") is None:
        raise SourceFailed(
            "calendars need a package that is not installed; the owner runs"
            f" {name_installation('calendars')}"
        )
    if "://" not in at:
        return await asyncio.to_thread(_read_file, folders, at)
    url = at.replace("webcal://", "https://", 1)
    return (await access.fetcher.fetch(FetchRequest(url=url))).body


async def list_entries(access: WebAccess, page: Page) -> list[tuple[str, str]]:
    """List the titles and links of a feed's entries, newest first. Raises `SourceFailed`."""
    parsed = await _read(access, _FEED_READER, page.body, page.url, "0", str(_MOST_ITEMS))
    entries = _list(parsed.get("entries")) if isinstance(parsed, dict) else []
    found = [_texts(entry) for entry in entries]
    return [(one.get("title", ""), one.get("link", "")) for one in found]


async def list_items(access: WebAccess, url: str) -> list[FeedItem]:
    """List a feed's items, newest first. Raises `SourceFailed`."""
    page = await access.fetcher.fetch(FetchRequest(url=url))
    parsed = await _read(access, _FEED_READER, page.body, page.url, "0", str(_MOST_ITEMS))
    entries = _list(parsed.get("entries")) if isinstance(parsed, dict) else []
    return [_read_item(_texts(entry)) for entry in entries]


def _read_item(texts: dict[str, str]) -> FeedItem:
    title, link, text = (texts.get(name, "") for name in ("title", "link", "text"))
    named = texts.get("id") or link or f"{title}\n{text}"
    return FeedItem(
        key=hashlib.sha256(named.encode(errors="replace")).hexdigest(),
        title=flatten(title or text or link, _LONGEST_TITLE) + show_link(link),
        text=text,
    )


async def read_text(access: WebAccess, page: Page) -> str:
    """Return the readable text of a page. Raises `SourceFailed`."""
    if not (page.media_type.startswith("text/") or "xml" in page.media_type):
        raise SourceFailed(f"it is {page.media_type}, not a readable page")
    parsed = await _read(access, PAGE_READER, page.body, page.media_type, str(_LONGEST_PAGE))
    return _texts(parsed).get("text", "")


async def read_feed(access: WebAccess, source: DigestSource, wanted: GatherRequest) -> str:
    """Format the newest entries since a moment. Raises `SourceFailed`."""
    page = await access.fetcher.fetch(FetchRequest(url=source.at))
    parsed = await _read(
        access, _FEED_READER, page.body, page.url, str(wanted.since), str(_MOST_ENTRIES)
    )
    if not isinstance(parsed, dict):
        raise SourceFailed("it is unreadable")
    entries = _list(parsed.get("entries"))
    lines = [_format_entry(entry, wanted.zone) for entry in entries]
    begin = local_time(wanted.since, wanted.zone).strftime("%Y-%m-%d %H:%M")
    title = quote(str(parsed.get("title", "")), _LONGEST_TITLE)
    return fit(f"{title}, {parsed.get('count')} since {begin}", lines, wanted.room)


async def read_page(access: WebAccess, source: DigestSource, wanted: GatherRequest) -> str:
    """Format the readable text of a web page. Raises `SourceFailed`."""
    page: Page = await access.fetcher.fetch(FetchRequest(url=source.at))
    if not (page.media_type.startswith("text/") or "xml" in page.media_type):
        raise SourceFailed(f"it is {page.media_type}, not a readable page")
    parsed = await _read(access, PAGE_READER, page.body, page.media_type, str(wanted.room))
    found = _texts(parsed)
    title = quote(found.get("title", ""), _LONGEST_TITLE)
    return f"{title}{show_link(page.url)}\n{quote(found.get('text', ''), wanted.room - 800)}"


def _format_event(event: dict[str, str]) -> str:
    begin, end = event.get("begin", ""), event.get("end", "")
    day = date.fromisoformat(begin[:10]).strftime("%a %Y-%m-%d")
    if "T" not in begin:
        when = f"{day}, all day" if begin == end else f"{day} to {end}, all day"
    elif begin[:10] == end[:10]:
        when = f"{day} {begin[11:]}" + (f"–{end[11:]}" if end != begin else "")
    else:
        when = f"{day} {begin[11:]} to {end.replace('T', ' ')}"
    place = event.get("place", "")
    where = f", at {quote(place, _LONGEST_TITLE)}" if place else ""
    return f"- {when}: {quote(event['title'], _LONGEST_TITLE)}{where}{show_link(event['link'])}"


def _format_entry(entry: object, zone: str) -> str:
    texts = _texts(entry)
    at = entry.get("at") if isinstance(entry, dict) else None
    when = local_time(at, zone).strftime("%Y-%m-%d %H:%M") if isinstance(at, int) else "no date"
    text = f": {quote(texts['text'], _LONGEST_TEXT)}" if texts.get("text") else ""
    title = quote(texts.get("title", ""), _LONGEST_TITLE)
    return f"- {when}, {title}{text}{show_link(texts.get('link', ''))}"


async def _read(access: WebAccess, reader: str, data: bytes, *arguments: str) -> object:
    """Run a reader and parse its JSON. Raises `SourceFailed`."""
    said = await access.readers.run(
        ReaderCommand(
            program=reader,
            arguments=arguments,
            data=data,
            seconds=_READ_SECONDS,
            most_bytes=_MOST_REPORTED,
        )
    )
    try:
        return json.loads(said)
    except ValueError as error:
        raise SourceFailed("it is too large") from error


def _list(found: object) -> list[object]:
    return found if isinstance(found, list) else []


def _texts(found: object) -> dict[str, str]:
    given = found if isinstance(found, dict) else {}
    return {str(name): value for name, value in given.items() if isinstance(value, str)}


def _read_file(folders: CalendarFolders, name: str) -> bytes:
    """Read a calendar file by its plain name, without following links. Raises `SourceFailed`."""
    if not _FILE.fullmatch(name):
        raise SourceFailed("a file name must not contain a folder or signs like / or :")
    for folder in folders.folders:
        try:
            handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SourceFailed(f"can't open the file ({error.strerror})") from error
        with open(handle, "rb") as file:  # noqa: PTH123 - it was opened without following links
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise SourceFailed("it is not a regular file")
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise SourceFailed(f"it is larger than {MOST_BYTES / 1e6:g} MB")
        return data
    raise SourceFailed("there is no such file in the home's sources folder")
