"""The fields of a job, parsed into a request. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from agent_core.chat_platforms import list_introduced
from agent_core.errors import ToolArgumentError
from agent_core.schedule.almanac import CALENDAR, find_region, require_named
from agent_core.schedule.job_editor import JobRequest
from agent_core.schedule.job_fields import DECLARATIONS, HERE, HOME, JobFields
from agent_core.schedule.rule_slots import MOST_COUNT, SlotLimits, limit_rule
from agent_core.schedule.rules import (
    ALWAYS,
    Calendar,
    RecurrenceRule,
    SunTime,
    is_region,
    read_days,
    read_times,
    read_without,
)
from agent_core.schedule.triggers import (
    MOST_INTERVAL,
    Every,
    Once,
    Timing,
    milliseconds,
    moment,
    read_cron,
    read_event,
    read_every,
    read_once,
)
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.jobs import Options, Target

TIMINGS = ("times", "cron", "every_minutes", "at", "in_minutes", "on")
_HOLIDAYS = "holidays"
_MOST_SKIPPED = 50
_MOST_SPAN = MOST_INTERVAL // 60


def read_request(
    given: JobFields,
    *,
    here: Target,
    zone: str,
    known: Options,
    now: int,
    calendars: Mapping[str, Calendar],
) -> JobRequest:
    """Parse the fields of a job.

    `here` is the chat of the turn, `known` the present options. `calendars` are the ones that
    `read_calendars` has read. Raises `ToolArgumentError` with a sentence.
    """
    options = _read_options(given, known)
    named = _text(given.zone)
    return JobRequest(
        kind=given.kind,
        title=_text(given.title),
        body=_text(given.text),
        timing=_read_timing(given, named or zone, now, calendars),
        zone=named,
        late=given.late,
        options=options if options != known else None,
        targets=_read_targets(given.to, here),
        is_urgent=given.urgent,
    )


def _read_options(given: JobFields, known: Options) -> Options:
    """Parse the run options. Raises `ToolArgumentError`."""
    changes: dict[str, Any] = {
        one.option.name: one.option.read(value)
        for one in DECLARATIONS
        if one.option and (value := getattr(given, one.name)) is not None
    }
    if changes.get("gate", known.gate) != known.gate:
        changes["gate_seen"] = ""
    return replace(known, **changes)


def _read_timing(
    given: JobFields, zone: str, now: int, calendars: Mapping[str, Calendar]
) -> Timing | None:
    named = [name for name in TIMINGS if getattr(given, name) is not None]
    if len(named) > 1:
        raise ToolArgumentError(f"give only one of {' and '.join(named)}")
    _refuse_unused(given, named[0] if named else "")
    try:
        if given.times is not None:
            return _read_rule(given, given.times, find_zone(zone), now, calendars)
        if given.cron is not None:
            return read_cron(given.cron)
        if given.every_minutes is not None:
            return _read_every(given, given.every_minutes * 60, find_zone(zone), now)
        if given.on is not None:
            return read_event(given.on)
        if given.at is not None:
            return read_once(given.at)
        return None if given.in_minutes is None else _read_span(given.in_minutes, zone, now)
    except ValueError as error:
        raise ToolArgumentError(str(error)) from error


def check_feed(given: JobFields, evidence: str | None) -> None:
    """Refuse a feed whose address the person did not write. Raises `ToolArgumentError`."""
    for word in (given.on or "").split():
        require_named(word, evidence)


def _refuse_unused(given: JobFields, timing: str) -> None:
    """Refuse fields that this kind of timing would ignore. Raises `ToolArgumentError`."""
    unused = [
        one
        for one in DECLARATIONS
        if one.goes_with
        and getattr(given, one.name) not in (None, "", ())
        and timing not in one.goes_with
    ]
    if unused:
        needed = "" if any(len(one.goes_with) == 1 for one in unused) else " or every_minutes"
        raise ToolArgumentError(
            f"{' and '.join(one.name for one in unused)} can't go with {timing or 'nothing'};"
            f' the nearest is `times`{needed}, such as times ["09:00"] with rule FREQ=DAILY'
        )


def _read_rule(
    given: JobFields,
    words: Sequence[str],
    zone: ZoneInfo,
    now: int,
    calendars: Mapping[str, Calendar],
) -> RecurrenceRule:
    """Parse a calendar rule. Raises `ValueError` with a sentence."""
    times = read_times(_strip(words))
    skipped = _strip(given.skip or ())
    if len(skipped) > _MOST_SKIPPED:
        raise ValueError(f"`skip` takes at most {_MOST_SKIPPED} items; spans count as one")
    regions = {word for word in skipped if word.startswith(_HOLIDAYS)}
    if len(regions) > 1:
        raise ValueError(f"`skip` takes one calendar; the nearest is {min(regions)}")
    own = {word for word in skipped if word.startswith(CALENDAR)}
    if len(own) > 1:
        raise ValueError(f"`skip` takes one calendar of one's own; the nearest is {min(own)}")
    place = _read_place(_text(given.place))
    if any(isinstance(one, SunTime) for one in times):
        place = place or _find_place(zone)
    rule = RecurrenceRule(
        days=read_days(_text(given.rule) or "FREQ=DAILY"),
        times=times,
        start=ALWAYS,
        without=tuple(read_without(word) for word in skipped if word not in regions | own),
        region=_read_region(regions.pop(), zone) if regions else "",
        calendar=calendars[own.pop().removeprefix(CALENDAR).strip()] if own else None,
        place=place,
    )
    limits = SlotLimits(
        start=_read_limit(given.starts, time()),
        until=_read_limit(given.until, time(23, 59)),
        count=_read_count(given.count),
    )
    return limit_rule(rule, zone, limits, now)


def _read_every(given: JobFields, seconds: int, zone: ZoneInfo, now: int) -> Every:
    """Parse an interval with its limits. Raises `ValueError` with a sentence."""
    start = _read_limit(given.starts, time())
    until, count = _read_limit(given.until, time(23, 59)), _read_count(given.count)
    anchor = milliseconds(start.replace(tzinfo=zone)) if start else now
    if start is None and until is None and count is None:
        return read_every(seconds, anchor)
    if start is None:  # "every 20 minutes, 3 times" begins in 20 minutes
        anchor += seconds * 1000
    ends = [] if until is None else [milliseconds(until.replace(tzinfo=zone))]
    if count is not None:
        gone = max(-((anchor - now) // (seconds * 1000)), 0) if anchor <= now else 0
        ends.append(anchor + (gone + count - 1) * seconds * 1000)
    return read_every(seconds, anchor, begins=True, until=min(ends, default=None))


def _read_limit(given: str | None, usual: time) -> datetime | None:
    """Parse a local date, which means its `usual` time, or a local time. Raises `ValueError`."""
    text = _text(given)
    if text is None:
        return None
    try:
        return datetime.combine(date.fromisoformat(text), usual)
    except ValueError:
        return read_once(text).at


def _read_count(count: int | None) -> int | None:
    if count is not None and not 1 <= count <= MOST_COUNT:
        raise ValueError(f"`count` is 1 to {MOST_COUNT}; the nearest is {MOST_COUNT}, or `until`")
    return count


def _read_region(word: str, zone: ZoneInfo) -> str:
    """Parse `holidays:DE-BY`, or find the country of the zone. Raises `ValueError`."""
    region = word.removeprefix(_HOLIDAYS).lstrip(":").strip().upper()
    found = find_region(zone)
    usual = found.country if found else "AT"
    if not region and found:
        return usual
    if not is_region(region):
        raise ValueError(
            f"{word!r} names no country for {zone.key}; the nearest is {_HOLIDAYS}:{usual}"
        )
    return region


def _read_place(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"`place` is degrees, such as 48.2,16.4, and not {text!r}") from None
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise ValueError("`place` is at most 90 degrees north or south and 180 east or west")
    return latitude, longitude


def _find_place(zone: ZoneInfo) -> tuple[float, float]:
    found = find_region(zone)
    if found is None:
        raise ValueError(
            f"the sun needs a `place`, because {zone.key} has none; the nearest is a fixed time"
        )
    return found.place


def _strip(words: Sequence[str]) -> list[str]:
    return [word.strip() for word in words if word.strip()]


def _read_span(minutes: int, zone: str, now: int) -> Timing:
    """Convert minutes from now to a local time, rounded up to the second."""
    if not 1 <= minutes <= _MOST_SPAN:
        raise ToolArgumentError(
            f"a span is at least 1 minute and at most {_MOST_SPAN} minutes, a year"
        )
    whole = moment(now + 999) + timedelta(minutes=minutes)
    return Once(at=whole.astimezone(find_zone(zone)).replace(tzinfo=None, microsecond=0))


def _read_targets(wanted: Sequence[str] | None, here: Target) -> tuple[Target, ...] | None:
    found = []
    for word in dict.fromkeys(wanted or ()):
        if word == HERE:
            found.append(here)
        elif word == HOME:
            found.append(Target(kind="home"))
        else:
            found.append(Target(kind="account", platform=_read_platform(word)))
    return tuple(found) or None


def _read_platform(word: str) -> str:
    known = list_introduced()
    name = word.strip().casefold()
    if known and name not in known:
        raise ToolArgumentError(
            f'`to` names "{word}", which is no chat app of this assistant; take {HERE}, {HOME} or'
            f" one of {', '.join(known)}"
        )
    return name


def _text(given: str | None) -> str | None:
    return (given or "").strip() or None
