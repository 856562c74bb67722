"""Read a time in words into the fields of a job."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args
from zoneinfo import ZoneInfo

from agent_core.errors import ToolArgumentError
from agent_core.localization import say_moment
from agent_core.schedule.job_fields import JobFields
from agent_core.schedule.triggers import (
    EventKind,
    NeverOccurs,
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
from agent_core.spoken_rules import make_rule, read_rule, read_several, speak
from agent_core.spoken_zones import take_zone
from agent_core.time_phrases import list_meanings, rewrite

_LIMITS = ("skip", "starts", "until", "count")
_TIME = r"(?:\d{1,2}:\d\d(?:-\d{1,2}:\d\d/\d+)?|(?:sunrise|sunset)(?:[+-]\d+)?)"
_RULE = re.compile(
    rf"(?P<times>{_TIME}(?:,? {_TIME})*),? (?:RRULE:)?(?P<rule>FREQ=\S+)"
    rf"|(?:RRULE:)?(?P<first>FREQ=\S+),? (?:at )?(?P<behind>{_TIME}(?:,? {_TIME})*)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(\d+) (\d+) (\d+|\*|L|LW) (\d+|\*) (\*|[\d,#-]+L?)")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
_CRON_FIELD = (
    r"(?:[\d*/,#LW-]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)+"
)
_CRON = re.compile(
    rf"@\w+|[\d*/,-]+(?: {_CRON_FIELD}){{2,6}}|(?=.*\*)[\d*/,-]+(?: \S+){{2,6}}", re.IGNORECASE
)
"""A cron expression, if only a wrong one; "2 days before Christmas Eve" is none."""
_OWN_DAY = re.compile(r"\b(?:today|tonight|tomorrow|heute|morgen|übermorgen)\b")
"""Days that follow from the day on which they are said."""
_USAGE = (
    "`when` can't be read: {given!r}. The nearest forms are `tomorrow at 9:00`, `in 20 minutes`,"
    " `every monday at 19:00`, `every 2 hours`, `2026-11-23T08:00` and, for anything else, times"
    " with an RRULE: `09:00 FREQ=WEEKLY;INTERVAL=2;BYDAY=MO`; events are `after job 3`,"
    " `message WORDS`, `feed URL`, `file *.pdf` and `webhook`"
)
_WRONG = "`when` can't be read: {given!r}, because {error}"
_TWO_DATES = (
    "`when` names a date that may be two: {given!r}. Ask the person which, and write it as"
    " `2026-11-23 at 8:00`"
)


def fill_in(given: JobFields, words: str, *, zone: str, now: int, old: Timing | None) -> JobFields:
    """Return the fields with the time that words mean on the clock of a zone.

    `old` is the present timing of a job that is changed: a time of day alone keeps its days, and a
    day alone keeps its time. A place whose clock the words name is the zone of the job, which
    keeps nothing; "tomorrow" is the person's own, though. Raises `ToolArgumentError`.
    """
    words, named = take_zone(_plain(words))
    home = zone
    if named:
        given, zone, old = replace(given, zone=named), named, None
    if list_meanings(words):
        raise ToolArgumentError(_TWO_DATES.format(given=words[:100]))
    try:
        clock = moment(now).astimezone(find_zone(zone))
        found = (
            (_keep_rest(words, old, clock) if old else None)
            or (_read_day_here(words, find_zone(home), clock) if named else None)
            or _read(words, clock)
        )
    except NeverOccurs as error:
        raise ToolArgumentError(str(error)) from error
    except ValueError as error:
        raise ToolArgumentError(_WRONG.format(given=words[:100], error=error)) from error
    if found is None:
        raise ToolArgumentError(_USAGE.format(given=words[:100]))
    is_limited = any(getattr(given, name) for name in _LIMITS)
    if is_limited and isinstance(cron := found.get("cron"), str):
        found = make_rule(cron) or found
    return replace(given, **found)


def list_dates(
    words: str, *, zone: str, now: int, old: Timing | None = None
) -> tuple[tuple[str, str], ...]:
    """Return both dates that words such as "3/4/2027 at 9" may mean; none if they are clear.

    Each is in words that mean no other date, and as people say it.
    """
    found = []
    for one in list_meanings(_plain(words)):
        try:
            at = fill_in(JobFields(), one, zone=zone, now=now, old=old).at
        except ToolArgumentError:
            return ()
        if not at:
            return ()
        here = moment(now).astimezone(find_zone(zone))
        found.append((one, say_moment(datetime.fromisoformat(at), here)))
    return tuple(found)


def reads_as_time(words: str) -> bool:
    """Return whether words name a time and nothing else."""
    plain, today = take_zone(_plain(words))[0], datetime(2000, 1, 1)
    try:
        return speak(f"2000-01-01 {plain}", today) is not None or _read(plain, today) is not None
    except ValueError:
        return False


def _plain(words: str) -> str:
    return " ".join(words.split()).strip("`.!")


def _read(words: str, now: datetime) -> dict[str, Any] | None:
    if at := _read_stamp(words, now):
        return {"at": at}
    if spoken := speak(words, now):
        return spoken
    if words.split(" ")[0].casefold() in get_args(EventKind):
        return {"on": words}
    if found := _RULE.fullmatch(words):
        times = (found["times"] or found["behind"]).replace(",", " ").split()
        return {"times": tuple(times), "rule": found["rule"] or found["first"]}
    return read_several(words, now) or _read_cron(words) or read_rule(words, now)


def _read_day_here(words: str, home: ZoneInfo, there: datetime) -> dict[str, Any] | None:
    """Read "tomorrow at 3:30" with the person's date and the clock of another place.

    Returns None for words without such a day, and for a moment that has passed there.
    """
    if not _OWN_DAY.search(rewrite(words)):
        return None
    today = there.astimezone(home).date()
    found = speak(words, there.replace(year=today.year, month=today.month, day=today.day))
    at = found.get("at") if found else None
    is_ahead = at and datetime.fromisoformat(at) > there.replace(tzinfo=None)
    return found if is_ahead else None


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


def _read_cron(words: str) -> dict[str, Any] | None:
    """Return a cron expression; None for other words. Raises `ValueError` for a wrong one."""
    expression = words.removeprefix("cron ")
    return {"cron": read_cron(expression).expression} if _CRON.fullmatch(expression) else None


def _keep_rest(words: str, old: Timing, now: datetime) -> dict[str, Any] | None:
    """Return the old days at a new time of day, or a new day at the old time of day."""
    clock = speak(f"2000-01-01 {words}", now)
    at = datetime.fromisoformat(clock["at"]) if clock else None
    if isinstance(old, Once):
        day = speak(f"{words} at {old.at:%H:%M}", now)
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
