"""Quiet hours, days off, and moments that a person names although they are quiet. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

from agent_core.localization import Text
from agent_core.schedule.job_editor import next_slot_of
from agent_core.schedule.occurrences import walk_slots
from agent_core.schedule.triggers import Once, load_timing
from agent_core.schedule.wall_clock import find_zone, slot_at
from agent_core.state.jobs.jobs import NewJob
from agent_core.state.people.people import Person
from agent_core.tools.clock import ReaderClock, local_time
from agent_core.tools.settings_tool import describe_hours

_MINUTES = 60
_DAYS = 7
_MOST_STEPS = 2 * _DAYS + 1
LONGEST_QUIET = (_DAYS + 1) * 86_400_000
"""Milliseconds; no quiet time is longer, because at least one day of the week is not off."""
_MOST_EXAMINED = 200
"""The most slots of a job, within `LONGEST_QUIET`, that are compared with quiet times."""
_OFF = Text("You have {days} off.")
_QUIET = Text("Your quiet hours are {hours}.")
COMES_LATER = Text("What falls in your quiet time comes when it ends: {moment}.")
_DAYS_OFF = (
    Text("Mondays"),
    Text("Tuesdays"),
    Text("Wednesdays"),
    Text("Thursdays"),
    Text("Fridays"),
    Text("Saturdays"),
    Text("Sundays"),
)
_CLOCK = re.compile(
    r"(?<![\d.,:])(?P<before>(?:\b(?:at|by|um|gegen|kl)\s+|@\s*)?)"
    r"(?P<hour>[01]?\d|2[0-4])(?:[:.h](?P<minute>[0-5]\d))?"
    r"(?P<after>\s*(?:uhr|o.?clock|h\b|a\.?m\b|p\.?m\b)?)(?![\d.:]*\d|\s*(?:st|nd|rd|th)\b)"
)
"""A time of day in words; a bare number is not a time, because it may count something."""
_WORDS = {"noon": 12, "midday": 12, "mittag": 12, "midnight": 0, "mitternacht": 0}
_SPAN = re.compile(
    r"\b(?:in|nach)\s+(?:\d+|an?|one|two|three|half|ein\w*|zwei|drei)(?:\s+\w+)?\s*"
    r"(?:min|h\b|hour|stunde|std|sec|sek)"
)


def is_quiet(person: Person, zone: str, now: int) -> bool:
    """Return whether a person has quiet hours now. `zone` is an IANA name."""
    return _is_quiet_at(person, local_time(now, zone))


def quiet_until(person: Person, days_off: Sequence[int], zone: str, now: int) -> int | None:
    """Return the end of the current quiet hours and days off, in milliseconds, or None.

    Seven days off count as none, because otherwise nothing would ever be delivered.
    """
    off = days_off if len(set(days_off)) < _DAYS else ()
    moment = local_time(now, zone)
    for _ in range(_MOST_STEPS):
        if moment.isoweekday() in off:
            moment = _at(moment + timedelta(days=1), 0)
        elif _is_quiet_at(person, moment):
            moment = _end_of_quiet(person, moment)
        else:
            break
    known = moment.tzinfo if isinstance(moment.tzinfo, ZoneInfo) else ZoneInfo("UTC")
    end = slot_at(moment.replace(tzinfo=None), known).at
    return end if end > now else None


def _is_quiet_at(person: Person, moment: datetime) -> bool:
    start, end = person.quiet_from, person.quiet_until
    if start is None or end is None:
        return False
    minute = moment.hour * _MINUTES + moment.minute
    return start <= minute < end if start <= end else minute >= start or minute < end


def _end_of_quiet(person: Person, moment: datetime) -> datetime:
    end = person.quiet_until or 0
    today = _at(moment, end)
    return today if today > moment else _at(moment + timedelta(days=1), end)


def _at(day: datetime, minute: int) -> datetime:
    return day.replace(hour=minute // _MINUTES, minute=minute % _MINUTES, second=0, microsecond=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSlot:
    """A slot within a quiet time: the sentence about it, and the end of the quiet time.

    `place` is its place among the next slots; the next one has 0.
    """

    sentence: str
    until: str
    place: int


def find_held_slot(
    job: NewJob, person: Person, days_off: Sequence[int], clock: ReaderClock
) -> HeldSlot | None:
    """Find the first slot whose message would be held; None if no near slot would be.

    The clock is the person's.
    """
    waited = next_slot_of(job)
    if waited is None or (person.quiet_from is None and not days_off):
        return None
    slots = walk_slots(load_timing(job.timing), find_zone(job.zone), waited)
    near = takewhile(lambda slot: slot.at < waited.at + LONGEST_QUIET, slots)
    for place, slot in enumerate(islice(near, _MOST_EXAMINED)):
        until = quiet_until(person, days_off, clock.zone, slot.at)
        if until is None:
            continue
        moment = local_time(slot.at, clock.zone)
        is_off = moment.isoweekday() in days_off
        sentence = (
            _OFF(days=_DAYS_OFF[moment.weekday()]())
            if is_off
            else _QUIET(hours=describe_hours(person))
        )
        return HeldSlot(sentence=sentence, until=clock.show(until), place=place)
    return None


def comes_in_quiet(is_urgent: bool | None, job: NewJob, words: str, zone: str) -> bool:
    """Return whether a job also sends messages in quiet times.

    `is_urgent` is what was decided, if anything was. A job with a single moment comes then if the
    `words` of its person name that moment.
    """
    if is_urgent is not None:
        return is_urgent
    if not isinstance(load_timing(job.timing), Once) or job.next_slot is None:
        return job.is_urgent
    return names_moment(words, job.next_slot[1], zone)


def names_moment(words: str, at: int, zone: str) -> bool:
    """Return whether a person's words name a moment's time of day, or a span of time until it.

    A number is a time of day only with a sign of the clock: "at 8", "20:00", "8 pm", "8 Uhr".
    """
    said, moment = words.casefold(), local_time(at, zone)
    if _SPAN.search(said):
        return True
    if any(word in said and (hour, 0) == _clock(moment) for word, hour in _WORDS.items()):
        return True
    return any(_is_clock(found, moment) for found in _CLOCK.finditer(said))


def _is_clock(found: re.Match[str], moment: datetime) -> bool:
    before, after = found["before"].strip(), found["after"].strip()
    if not (before or after or found["minute"]):
        return False
    hour, minute = int(found["hour"]) % 24, int(found["minute"] or 0)
    afternoon = (hour + 12) % 24 if hour <= 12 and after not in ("uhr", "h") else hour
    return _clock(moment) in ((hour, minute), (afternoon, minute))


def _clock(moment: datetime) -> tuple[int, int]:
    return moment.hour, moment.minute
