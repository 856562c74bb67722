"""Read a time in words into the fields of a job."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args
from zoneinfo import ZoneInfo

from agent_core.errors import ToolArgumentError
from agent_core.schedule.job_fields import JobFields
from agent_core.schedule.said_rules import read_rule
from agent_core.schedule.triggers import (
    EventKind,
    Once,
    Timing,
    dump_timing,
    moment,
    read_cron,
    read_once,
    show_stamp,
    write_arguments,
)
from agent_core.schedule.wall_clock import find_zone
from agent_core.spoken_times import name_days, read_when

_LIMITS = ("skip", "starts", "until", "count")
_TIME = r"(?:\d{1,2}:\d\d(?:-\d{1,2}:\d\d/\d+)?|(?:sunrise|sunset)(?:[+-]\d+)?)"
_RULE = re.compile(
    rf"(?P<times>{_TIME}(?:,? {_TIME})*),? (?:RRULE:)?(?P<rule>FREQ=\S+)"
    rf"|(?:RRULE:)?(?P<first>FREQ=\S+),? (?:at )?(?P<behind>{_TIME}(?:,? {_TIME})*)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"(.*?)(?:\bat )?(\d{1,2}:\d\d(?:(?:, and |, | and )(?:at )?\d{1,2}:\d\d)+)")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_PLAIN = re.compile(r"(\d+) (\d+) (\d+|\*|L|LW) (\d+|\*) (\*|[\d,#-]+L?)")
_NUMBERED = re.compile(r"(\d)(?:#(\d)|(L))?")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_CRON = re.compile(r"@\w+|[\d*/,-]+(?: [\dA-Z*/,#-]+){2,6}", re.IGNORECASE)
_DAYS = ("SU", "MO", "TU", "WE", "TH", "FR", "SA", "SU")
_USAGE = (
    "`when` can't be read: {given!r}. The nearest forms are `tomorrow at 9:00`, `in 20 minutes`,"
    " `every monday at 19:00`, `every 2 hours`, `2026-11-23T08:00` and, for anything else, times"
    " with an RRULE: `09:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=MO`; events are `after job 3`,"
    " `message WORDS`, `feed URL`, `file *.pdf` and `webhook`"
)


def fill_in(given: JobFields, words: str, *, zone: str, now: int, old: Timing | None) -> JobFields:
    """Return the fields with the time that words mean on the clock of a zone.

    `old` is the present timing of a job that is changed: a time of day alone keeps its days, and a
    day alone keeps its time. Raises `ToolArgumentError`.
    """
    words = _plain(words)
    try:
        clock = moment(now).astimezone(find_zone(zone))
        found = (_keep_rest(words, old, clock) if old else None) or _read(words, clock)
    except ValueError as error:
        raise ToolArgumentError(str(error)) from error
    if found is None:
        raise ToolArgumentError(_USAGE.format(given=words[:100]))
    is_limited = any(getattr(given, name) for name in _LIMITS)
    if is_limited and isinstance(cron := found.get("cron"), str):
        found = _make_rule(cron) or found
    return replace(given, **found)


def reads_as_time(words: str) -> bool:
    """Return whether words name a time and nothing else."""
    plain, today = _plain(words), datetime(2000, 1, 1)
    try:
        return _speak(f"2000-01-01 {plain}", today) is not None or _read(plain, today) is not None
    except ValueError:
        return False


def _plain(words: str) -> str:
    return " ".join(words.split()).strip("`.!")


def _read(words: str, now: datetime) -> dict[str, Any] | None:
    if at := _read_stamp(words, now):
        return {"at": at}
    if spoken := _speak(words, now):
        return spoken
    if words.split(" ")[0].casefold() in get_args(EventKind):
        return {"on": words}
    if found := _RULE.fullmatch(words):
        times = (found["times"] or found["behind"]).replace(",", " ").split()
        return {"times": tuple(times), "rule": found["rule"] or found["first"]}
    if found := _SEVERAL.fullmatch(words):
        return _read_several(found[1].strip() or "today", _CLOCK.findall(found[2]), now)
    return _read_cron(words) or read_rule(words, now, lambda plain: _read_repeated(plain, now))


def _read_repeated(words: str, now: datetime) -> dict[str, Any] | None:
    """Read a plain time; its days are a rule where they repeat."""
    found = _read(words, now)
    return _make_rule(found["cron"]) if found and "cron" in found else found


def _read_stamp(words: str, now: datetime) -> str:
    """Return a local time for an exact one, which may name its own offset; "" for other words.

    Raises `ValueError` for a time that no clock shows.
    """
    try:
        return dump_timing(read_once(words)).removeprefix("once ")
    except ValueError:
        if not _STAMP.fullmatch(words):
            return ""
        at = _read_offset(words)
        if at is None:
            raise
    return show_stamp(at.astimezone(now.tzinfo).replace(tzinfo=None, microsecond=0))


def _read_offset(words: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(words)
    except ValueError:
        return None
    return at if at.tzinfo else None


def _speak(words: str, now: datetime) -> dict[str, Any] | None:
    spoken = read_when(words, now)
    if spoken is None:
        return None
    fields: dict[str, Any] = {
        "at": spoken.at,
        "cron": spoken.cron,
        "in_minutes": spoken.in_minutes,
        "every_minutes": spoken.every_minutes,
        "rule": spoken.rule,
        "times": (spoken.times,) if spoken.times else (),
    }
    return {name: value for name, value in fields.items() if value}


def _read_cron(words: str) -> dict[str, Any] | None:
    """Return a cron expression; None for other words. Raises `ValueError` for a wrong one."""
    expression = words.removeprefix("cron ")
    return {"cron": read_cron(expression).expression} if _CRON.fullmatch(expression) else None


def _read_several(days: str, clocks: list[str], now: datetime) -> dict[str, Any] | None:
    """Read "every day at 9:00 and 21:00"; None for days that don't repeat."""
    found = _speak(f"{days} at {clocks[0]}", now)
    rule = _make_rule(found["cron"]) if found and "cron" in found else found
    return {**rule, "times": tuple(clocks)} if rule and "rule" in rule else None


def _make_rule(cron: str) -> dict[str, Any] | None:
    """Return the calendar rule of a plain cron expression, which limits may follow."""
    found = _PLAIN.fullmatch(cron)
    if found is None:
        return None
    minute, hour, day, month, weekdays = found.groups()
    times = {"times": (f"{int(hour):02}:{int(minute):02}",)}
    in_month = "" if month == "*" else f";BYMONTH={month}"
    frequency = "YEARLY" if in_month else "MONTHLY"
    if weekdays == "*":
        if day == "LW":
            return {**times, "rule": f"FREQ={frequency}{in_month};BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"}
        number = "-1" if day == "L" else day
        plain = f"FREQ=DAILY{in_month}" if day == "*" else ""
        return {**times, "rule": plain or f"FREQ={frequency}{in_month};BYMONTHDAY={number}"}
    if day != "*" or in_month:
        return None
    if numbered := _NUMBERED.fullmatch(weekdays):
        place = numbered[2] or ("-1" if numbered[3] else "")
        name = _DAYS[int(numbered[1])]
        return {**times, "rule": f"FREQ={'MONTHLY' if place else 'WEEKLY'};BYDAY={place}{name}"}
    return {**times, "rule": f"FREQ=WEEKLY;BYDAY={name_days(weekdays)}"}


def _keep_rest(words: str, old: Timing, now: datetime) -> dict[str, Any] | None:
    """Return the old days at a new time of day, or a new day at the old time of day."""
    clock = _speak(f"2000-01-01 {words}", now)
    at = datetime.fromisoformat(clock["at"]) if clock else None
    if isinstance(old, Once):
        day = _speak(f"{words} at {old.at:%H:%M}", now)
        if at is None:
            return day if day and "at" in day else None
        return {"at": f"{old.at:%Y-%m-%d}T{at:%H:%M}"}
    if at is None:
        return None
    fields: Mapping[str, Any] = write_arguments(old, ZoneInfo("UTC"))
    if "times" in fields:
        return {**fields, "skip": tuple(fields["skip"]), "times": (f"{at:%H:%M}",)}
    if "cron" in fields and (plain := _PLAIN.fullmatch(fields["cron"])):
        return {"cron": f"{at.minute} {at.hour} {' '.join(plain.groups()[2:])}"}
    return None
