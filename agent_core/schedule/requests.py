"""The arguments of the `schedule` tool, parsed into a job request. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from agent_core.errors import ToolArgumentError
from agent_core.schedule.almanac import CALENDAR, find_region, require_named
from agent_core.schedule.gates import read_gate
from agent_core.schedule.job_editor import JobRequest
from agent_core.schedule.rule_slots import MOST_COUNT, Limits, limit_rule
from agent_core.schedule.rules import (
    ALWAYS,
    Calendar,
    Rule,
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
from agent_core.tools.schemas import make_schema
from agent_core.transcript import ToolSpec

ACTIONS = ("create", "list", "change", "pause", "resume", "run_now", "delete")
_TIMINGS = ("times", "cron", "every_minutes", "at", "in_minutes", "on")
_RULE_ONLY = ("rule", "skip", "place")
_LIMITS = ("starts", "until", "count")
_HOLIDAYS = "holidays"
_MOST_SKIPPED = 50
_HERE, _HOME = "here", "home"
_PLATFORMS = ("telegram", "discord", "slack")
MOST_NAMES = 20
"""The largest number of tools, or of skills, in a job."""
_LONGEST_NAME = 200
MOST_DAY_USD = 1000
MOST_FAILURES = 100
_MOST_SPAN = MOST_INTERVAL // 60

_NAMES = {"type": "array", "items": {"type": "string"}}

SCHEDULE_SPEC = ToolSpec(
    name="schedule",
    description=(
        "Reminders and recurring work. One of cron (5 fields), times, every_minutes, at (local,"
        " like 2026-11-23T08:00), in_minutes or on says when. kind `message`: `text` is sent as it"
        " stands; `prompt`: you get `text` then, with your tools, and your answer is sent."
    ),
    schema=make_schema(
        ("action",),
        action={"enum": list(ACTIONS)},
        job={"type": "integer"},
        kind={"enum": ["message", "prompt"]},
        title={"type": "string"},
        text={"type": "string"},
        times={
            **_NAMES,
            "description": "18:30, 09:00-17:00/90 (each 90 min), sunset-30 (min)",
        },
        rule={
            "type": "string",
            "description": "days of `times`: RRULE with FREQ, INTERVAL, BY…",
        },
        skip={
            **_NAMES,
            "description": "a date, 2026-12-24/2027-01-06, holidays, holidays:DE-BY,"
            " a calendar's URL",
        },
        starts={"type": "string", "description": "local date or time"},
        until={"type": "string", "description": "likewise, included"},
        count={"type": "integer"},
        place={"type": "string", "description": "lat,lon of the sun"},
        cron={"type": "string"},
        every_minutes={"type": "integer"},
        at={"type": "string"},
        in_minutes={"type": "integer"},
        on={
            "type": "string",
            "description": "after JOB [done|failed|ended]; message [WORDS]; feed URL;"
            " file *.pdf; webhook",
        },
        zone={"type": "string"},
        to={
            "type": "array",
            "items": {"enum": [_HERE, _HOME, *_PLATFORMS]},
        },
        late={"enum": ["catch_up", "skip", "all"]},
        urgent={"type": "boolean", "description": "also in quiet hours"},
        skills={
            **_NAMES,
            "description": "`digest`: put its sources' addresses into `text`",
        },
        model={"type": "string"},
        tools={**_NAMES, "description": "if not all"},
        aware={"type": "boolean", "description": "sees its earlier runs"},
        day_usd={"type": "number"},
        gate={
            "type": "string",
            "description": "a check before a prompt runs, like `page URL contains"
            " WORDS`; `?` lists all",
        },
        pause_after={"type": "integer", "description": "failures in a row"},
    ),
)


def read_request(
    arguments: Mapping[str, object],
    *,
    here: Target,
    zone: str,
    known: Options,
    now: int,
    calendars: Mapping[str, Calendar],
) -> JobRequest:
    """Parse the arguments of a call.

    `here` is the chat of the turn, `known` the present options. `calendars` are the ones that
    `read_calendars` has read. Raises `ToolArgumentError` with a sentence.
    """
    options = _read_options(arguments, known)
    named = _text(arguments, "zone")
    urgent = arguments.get("urgent")
    return JobRequest(
        kind=arguments.get("kind"),  # type: ignore[arg-type]  # the schema allows only these two
        title=_text(arguments, "title"),
        body=_text(arguments, "text"),
        timing=_read_timing(arguments, named or zone, now, calendars),
        zone=named,
        late=arguments.get("late"),  # type: ignore[arg-type]  # as above
        options=options if options != known else None,
        targets=_read_targets(arguments.get("to"), here),
        is_urgent=None if urgent is None else bool(urgent),
    )


def _read_options(arguments: Mapping[str, object], known: Options) -> Options:
    """Parse the run options. Raises `ToolArgumentError`.

    An empty text or list selects the default; so does 0 for `day_usd`.
    """
    options = known
    if (is_aware := arguments.get("aware")) is not None:
        options = replace(options, is_aware=bool(is_aware))
    if isinstance(model := arguments.get("model"), str):
        options = replace(options, model=model.strip())
    if (tools := arguments.get("tools")) is not None:
        options = replace(options, tools=_read_names("tools", tools))
    if (skills := arguments.get("skills")) is not None:
        options = replace(options, skills=_read_names("skills", skills))
    if isinstance(day_usd := arguments.get("day_usd"), int | float):
        if not 0 <= day_usd <= MOST_DAY_USD:
            raise ToolArgumentError(f"`day_usd` is at most {MOST_DAY_USD}, or 0 for no limit")
        micro = round(day_usd * 1_000_000)
        if day_usd and not micro:
            raise ToolArgumentError("`day_usd` is too small; 0 is no limit")
        options = replace(options, day_micro_dollars=micro)
    if isinstance(gate := arguments.get("gate"), str) and gate.strip() != known.gate:
        options = replace(options, gate=_read_gate(gate.strip()), gate_seen="")
    if isinstance(pause_after := arguments.get("pause_after"), int):
        if not 1 <= pause_after <= MOST_FAILURES:
            raise ToolArgumentError(f"`pause_after` is from 1 to {MOST_FAILURES}")
        options = replace(options, pause_after=pause_after)
    return options


def _read_gate(text: str) -> str:
    """Check a gate, and return it; "" means no gate. Raises `ToolArgumentError`."""
    try:
        if text:
            read_gate(text)
    except ValueError as error:
        raise ToolArgumentError(str(error)) from error
    return " ".join(text.split())


def _read_names(what: str, given: object) -> tuple[str, ...]:
    """Parse a list of unique names. Raises `ToolArgumentError`."""
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise ToolArgumentError(f"`{what}` is a list of names")
    names = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
    if len(names) > MOST_NAMES or any(len(name) > _LONGEST_NAME for name in names):
        raise ToolArgumentError(f"`{what}` takes at most {MOST_NAMES} names")
    return names


def _read_timing(
    arguments: Mapping[str, object], zone: str, now: int, calendars: Mapping[str, Calendar]
) -> Timing | None:
    given = [name for name in _TIMINGS if arguments.get(name) is not None]
    if len(given) > 1:
        raise ToolArgumentError(f"give only one of {' and '.join(given)}")
    kind = given[0] if given else ""
    _refuse_unused(arguments, kind)
    try:
        match kind:
            case "":
                return None
            case "times":
                return _read_rule(arguments, find_zone(zone), now, calendars)
            case "cron":
                return read_cron(str(arguments[kind]))
            case "every_minutes":
                return _read_every(arguments, find_zone(zone), now)
            case "on":
                return read_event(str(arguments[kind]))
            case "at":
                return read_once(str(arguments[kind]))
            case _:
                return _read_span(int(str(arguments[kind])), zone, now)
    except ValueError as error:
        raise ToolArgumentError(str(error)) from error


def check_feed(arguments: Mapping[str, object], evidence: str | None) -> None:
    """Refuse a feed whose address the person did not write. Raises `ToolArgumentError`."""
    for word in str(arguments.get("on") or "").split():
        require_named(word, evidence)


def _refuse_unused(arguments: Mapping[str, object], kind: str) -> None:
    """Refuse arguments that this kind of timing would ignore. Raises `ToolArgumentError`."""
    allowed = {"times": (*_RULE_ONLY, *_LIMITS), "every_minutes": _LIMITS}.get(kind, ())
    unused = [
        name
        for name in (*_RULE_ONLY, *_LIMITS)
        if arguments.get(name) not in (None, "", []) and name not in allowed
    ]
    if unused:
        needed = "" if set(unused) & set(_RULE_ONLY) else " or every_minutes"
        raise ToolArgumentError(
            f"{' and '.join(unused)} can't go with {kind or 'nothing'}; the nearest is `times`"
            f'{needed}, such as times ["09:00"] with rule FREQ=DAILY'
        )


def _read_rule(
    arguments: Mapping[str, object], zone: ZoneInfo, now: int, calendars: Mapping[str, Calendar]
) -> Rule:
    """Parse a calendar rule. Raises `ValueError` with a sentence."""
    words = _list_words(arguments, "times")
    times = read_times(words)
    skipped = _list_words(arguments, "skip")
    if len(skipped) > _MOST_SKIPPED:
        raise ValueError(f"`skip` takes at most {_MOST_SKIPPED} items; spans count as one")
    regions = {word for word in skipped if word.startswith(_HOLIDAYS)}
    if len(regions) > 1:
        raise ValueError(f"`skip` takes one calendar; the nearest is {min(regions)}")
    own = {word for word in skipped if word.startswith(CALENDAR)}
    if len(own) > 1:
        raise ValueError(f"`skip` takes one calendar of one's own; the nearest is {min(own)}")
    place = _read_place(_text(arguments, "place"))
    if any(isinstance(one, SunTime) for one in times):
        place = place or _find_place(zone)
    rule = Rule(
        days=read_days(_text(arguments, "rule") or "FREQ=DAILY"),
        times=times,
        start=ALWAYS,
        without=tuple(read_without(word) for word in skipped if word not in regions | own),
        region=_read_region(regions.pop(), zone) if regions else "",
        calendar=calendars[own.pop().removeprefix(CALENDAR).strip()] if own else None,
        place=place,
    )
    limits = Limits(
        start=_read_limit(arguments, "starts", time()),
        until=_read_limit(arguments, "until", time(23, 59)),
        count=_read_count(arguments),
    )
    return limit_rule(rule, zone, limits, now)


def _read_every(arguments: Mapping[str, object], zone: ZoneInfo, now: int) -> Every:
    """Parse an interval with its limits. Raises `ValueError` with a sentence."""
    seconds = int(str(arguments["every_minutes"])) * 60
    start = _read_limit(arguments, "starts", time())
    until, count = _read_limit(arguments, "until", time(23, 59)), _read_count(arguments)
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


def _read_limit(arguments: Mapping[str, object], name: str, usual: time) -> datetime | None:
    """Parse a local date, which means its `usual` time, or a local time. Raises `ValueError`."""
    text = _text(arguments, name)
    if text is None:
        return None
    try:
        return datetime.combine(date.fromisoformat(text), usual)
    except ValueError:
        return read_once(text).at


def _read_count(arguments: Mapping[str, object]) -> int | None:
    count = arguments.get("count")
    if count is None:
        return None
    if not isinstance(count, int) or not 1 <= count <= MOST_COUNT:
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


def _list_words(arguments: Mapping[str, object], name: str) -> list[str]:
    given = arguments.get(name) or []
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        raise ValueError(f"`{name}` is a list of texts")
    return [word.strip() for word in given if word.strip()]


def _read_span(minutes: int, zone: str, now: int) -> Timing:
    """Convert minutes from now to a local time, rounded up to the second."""
    if not 1 <= minutes <= _MOST_SPAN:
        raise ToolArgumentError(f"`in_minutes` is at least 1 and at most {_MOST_SPAN}, a year")
    whole = moment(now + 999) + timedelta(minutes=minutes)
    return Once(at=whole.astimezone(find_zone(zone)).replace(tzinfo=None, microsecond=0))


def _read_targets(wanted: object, here: Target) -> tuple[Target, ...] | None:
    if not isinstance(wanted, list) or not wanted:
        return None
    found = []
    for word in dict.fromkeys(map(str, wanted)):
        if word == _HERE:
            found.append(here)
        elif word == _HOME:
            found.append(Target(kind="home"))
        else:
            found.append(Target(kind="account", platform=word))
    return tuple(found)


def _text(arguments: Mapping[str, object], name: str) -> str | None:
    value = arguments.get(name)
    return value.strip() or None if isinstance(value, str) else None
