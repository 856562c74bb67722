"""Sentences about time, written by hand, with the call that a model makes of each.

What a sentence means is said a second time, as a test of a day and a set of minutes: nothing of it
comes from the code that it judges. A sentence that no call can express has the words of its
refusal, and the nearest call that can.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from agent_core.schedule.rules import Calendar

NOW = datetime(2026, 11, 22, 21, 0)
"""In Vienna, on a Sunday evening."""
Days = Callable[[date], bool]
Call = dict[str, object]
WEEK = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
WORKING = "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS="
AUSTRIA = {
    *(date(2026, 12, day) for day in (8, 25, 26)),
    *(date(2027, 1, day) for day in (1, 6)),
    *(date(2027, *day) for day in ((3, 29), (5, 1), (5, 6), (5, 17), (5, 27), (8, 15), (10, 26))),
    *(date(2027, *day) for day in ((11, 1), (12, 8), (12, 25), (12, 26))),
}
"""From Austria's law on public holidays (Arbeitsruhegesetz § 7), with Easter on 28 March 2027."""
BAVARIA = {
    *(date(2026, 12, day) for day in (25, 26)),
    *(date(2027, *day) for day in ((1, 1), (1, 6), (3, 26), (3, 29), (5, 1), (5, 6), (5, 17))),
    *(date(2027, *day) for day in ((5, 27), (10, 3), (11, 1), (12, 25), (12, 26))),
}
SCHOOL = {date(2026, 12, 23) + timedelta(days=day) for day in range(16)}
OFF = {date(2026, 12, 1), date(2027, 2, 1), date(2027, 2, 2)}
CALENDARS = {
    "school.ics": Calendar(at="school.ics", spans=((date(2026, 12, 23), date(2027, 1, 7)),)),
    "https://calendar.example/off.ics": Calendar(
        at="https://calendar.example/off.ics",
        spans=((date(2026, 12, 1), date(2026, 12, 1)), (date(2027, 2, 1), date(2027, 2, 2))),
    ),
}
"""Calendars by their names, as they were read."""


@dataclass(frozen=True)
class Understood:
    """A sentence, its call, the days that it means and the minutes of each."""

    text: str
    call: Call
    days: Days
    minutes: frozenset[int]
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Stepped:
    """A sentence about steps of minutes: the first moment, the step, and how many there are."""

    text: str
    call: Call
    first: datetime
    minutes: int
    count: int | None


@dataclass(frozen=True)
class Sunny:
    """A sentence about the sun: rising or not, minutes from it, the days, and the position."""

    text: str
    call: Call
    is_rising: bool
    offset: int
    days: Days
    place: tuple[float, float]


@dataclass(frozen=True)
class Refused:
    """A sentence that cannot be expressed, words of the refusal, and the nearest call."""

    text: str
    call: Call
    reason: str
    nearest: Call


def _is(
    text: str,
    call: Call,
    days: Days,
    clock: str | Iterable[int],
    first: datetime = NOW,
    last: datetime = datetime(2100, 1, 1),
) -> Understood:
    minutes = [_minute(one) for one in clock.split()] if isinstance(clock, str) else clock
    return Understood(text, call, days, frozenset(minutes), first, last)


def _minute(clock: str) -> int:
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)


def _each(_: date) -> bool:
    return True


def _on(*weekdays: int) -> Days:
    return lambda day: day.weekday() in weekdays


_working = _on(0, 1, 2, 3, 4)


def _fortnight(first: date) -> Days:
    return lambda day: (day - first).days % 14 == 0


def _month_end(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _nth_working(nth: int, without: Iterable[date] = ()) -> Days:
    def found(day: date) -> bool:
        month = [day.replace(day=one) for one in range(1, _month_end(day).day + 1)]
        working = [one for one in month if one.weekday() < 5 and one not in without]
        return working[nth] == day

    return found


def _nth(weekday: int, nth: int) -> Days:
    return lambda day: day.weekday() == weekday and (day.day - 1) // 7 == nth - 1


def _last(weekday: int) -> Days:
    return lambda day: day.weekday() == weekday and day.day + 7 > _month_end(day).day


def _times(rule: str | None, *times: str, **more: object) -> Call:
    return {"times": list(times), **({"rule": rule} if rule else {}), **more}


def _at(*fields: int) -> datetime:
    return datetime(*fields)  # type: ignore[arg-type]  # year to minute


ENGLISH: tuple[Understood | Stepped | Sunny | Refused, ...] = (
    _is("every day at 8", _times(None, "08:00"), _each, "8:00"),
    _is("every morning at 7:15, on cron", {"cron": "15 7 * * *"}, _each, "7:15"),
    _is("at 8:00 and 18:30 every day", _times(None, "8:00", "18:30"), _each, "8:00 18:30"),
    _is(
        "at 8, noon and 8 pm on weekdays",
        _times(WEEK, "08:00", "12:00", "20:00"),
        _working,
        "8:00 12:00 20:00",
    ),
    _is("every Monday at 8", _times("FREQ=WEEKLY;BYDAY=MO", "08:00"), _on(0), "8:00"),
    _is(
        "Tuesdays and Fridays at 6:30", _times("FREQ=WEEKLY;BYDAY=TU,FR", "6:30"), _on(1, 4), "6:30"
    ),
    _is("at weekends at 10", _times("FREQ=WEEKLY;BYDAY=SA,SU", "10:00"), _on(5, 6), "10:00"),
    _is(
        "every day but Sunday at 9",
        _times("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA", "9:00"),
        _on(0, 1, 2, 3, 4, 5),
        "9:00",
    ),
    _is(
        "every 2 weeks on Thursday at 19:00",
        _times("FREQ=WEEKLY;INTERVAL=2;BYDAY=TH", "19:00"),
        _fortnight(date(2026, 11, 26)),
        "19:00",
    ),
    _is(
        "every other Sunday at 22:00, today first",
        _times("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU", "22:00"),
        _fortnight(date(2026, 11, 22)),
        "22:00",
    ),
    _is(
        "every other Sunday at 20:00, which is over today",
        _times("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU", "20:00"),
        _fortnight(date(2026, 11, 29)),
        "20:00",
    ),
    _is(
        "every second Thursday from 3 December at 19:00",
        _times("FREQ=WEEKLY;INTERVAL=2;BYDAY=TH", "19:00", starts="2026-12-03"),
        _fortnight(date(2026, 12, 3)),
        "19:00",
        _at(2026, 12, 3),
    ),
    _is(
        "every other week since 12 November, Thursday at 7",
        _times("FREQ=WEEKLY;INTERVAL=2", "7:00", starts="2026-11-12"),
        _fortnight(date(2026, 11, 12)),
        "7:00",
    ),
    _is(
        "Mondays and Fridays of every third week at 9",
        _times("FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,FR", "9:00"),
        lambda day: (day - date(2026, 11, 23)).days % 21 in (0, 4),
        "9:00",
    ),
    _is(
        "every 3 days at 6 from 1 December",
        _times("FREQ=DAILY;INTERVAL=3", "6:00", starts="2026-12-01"),
        lambda day: (day - date(2026, 12, 1)).days % 3 == 0,
        "6:00",
        _at(2026, 12, 1),
    ),
    _is(
        "every 90 minutes between 9 and 17 on weekdays",
        _times(WEEK, "09:00-17:00/90"),
        _working,
        range(540, 1021, 90),
    ),
    _is(
        "every half hour between 8 and 10",
        _times(None, "8:00-10:00/30"),
        _each,
        range(480, 601, 30),
    ),
    _is(
        "every 20 minutes from 8 to 12 and from 13 to 17 on Mondays",
        _times("FREQ=WEEKLY;BYDAY=MO", "8:00-12:00/20", "13:00-17:00/20"),
        _on(0),
        [*range(480, 721, 20), *range(780, 1021, 20)],
    ),
    _is("every hour from 22:00 to midnight", _times(None, "22:00-23:59/60"), _each, "22:00 23:00"),
    _is(
        "every 5 minutes, with the clock",
        {"cron": "*/5 * * * *"},
        _each,
        range(0, 1440, 5),
        NOW,
        _at(2026, 11, 24),
    ),
    _is(
        "every 90 minutes this evening until 23:00",
        _times(None, "21:30-23:00/90", until="2026-11-22"),
        _each,
        "21:30 23:00",
        NOW,
        _at(2026, 11, 23),
    ),
    _is(
        "every day at 9 until 31 December",
        _times(None, "9:00", until="2026-12-31"),
        _each,
        "9:00",
        NOW,
        _at(2027, 1, 1),
    ),
    _is(
        "every day at 9 until Friday noon",
        _times(None, "9:00", until="2026-11-27T12:00"),
        _each,
        "9:00",
        NOW,
        _at(2026, 11, 27, 12),
    ),
    _is(
        "from 1 to 24 December at 7, an advent calendar",
        _times(None, "7:00", starts="2026-12-01", until="2026-12-24"),
        _each,
        "7:00",
        _at(2026, 12, 1),
        _at(2026, 12, 25),
    ),
    _is(
        "ten times, every day at 9",
        _times(None, "9:00", count=10),
        _each,
        "9:00",
        NOW,
        _at(2026, 12, 2, 9),
    ),
    _is(
        "five times, at 8 and 20, from 1 December",
        _times(None, "8:00", "20:00", starts="2026-12-01", count=5),
        _each,
        "8:00 20:00",
        _at(2026, 12, 1),
        _at(2026, 12, 3, 8),
    ),
    _is(
        "the next three Mondays at 8",
        _times("FREQ=WEEKLY;BYDAY=MO", "8:00", count=3),
        _on(0),
        "8:00",
        NOW,
        _at(2026, 12, 7, 8),
    ),
    _is(
        "weekdays at 8 except holidays",
        _times(WEEK, "8:00", skip=["holidays"]),
        lambda day: _working(day) and day not in AUSTRIA,
        "8:00",
        NOW,
        _at(2027, 12, 31),
    ),
    _is(
        "weekdays at 8 except Bavarian holidays",
        _times(WEEK, "8:00", skip=["holidays:DE-BY"]),
        lambda day: _working(day) and day not in BAVARIA,
        "8:00",
        NOW,
        _at(2027, 12, 31),
    ),
    _is(
        "weekdays at 8, but not when school.ics says holidays",
        _times(WEEK, "8:00", skip=["calendar school.ics"]),
        lambda day: _working(day) and day not in SCHOOL,
        "8:00",
        NOW,
        _at(2027, 12, 31),
    ),
    _is(
        "first working day at 9; days off are in my calendar",
        _times(f"{WORKING}1", "9:00", skip=["calendar https://calendar.example/off.ics"]),
        _nth_working(0, OFF),
        "9:00",
        NOW,
        _at(2027, 12, 31),
    ),
    _is(
        "every day at 7 but not from Christmas to Epiphany",
        _times(None, "7:00", skip=["2026-12-24/2027-01-06"]),
        lambda day: not date(2026, 12, 24) <= day <= date(2027, 1, 6),
        "7:00",
    ),
    _is(
        "Mondays at 9, not on 7 December and not on holidays",
        _times("FREQ=WEEKLY;BYDAY=MO", "9:00", skip=["2026-12-07", "holidays:AT"]),
        lambda day: day.weekday() == 0 and day not in {*AUSTRIA, date(2026, 12, 7)},
        "9:00",
        NOW,
        _at(2027, 12, 31),
    ),
    _is(
        "the first Monday of the month at 9",
        _times("FREQ=MONTHLY;BYDAY=1MO", "9:00"),
        _nth(0, 1),
        "9:00",
    ),
    _is(
        "the last Friday of each month at 16:00",
        _times("FREQ=MONTHLY;BYDAY=-1FR", "16:00"),
        _last(4),
        "16:00",
    ),
    _is(
        "the second and fourth Tuesday at 18:00",
        _times("FREQ=MONTHLY;BYDAY=2TU,4TU", "18:00"),
        lambda day: _nth(1, 2)(day) or _nth(1, 4)(day),
        "18:00",
    ),
    _is(
        "the first working day of the month at 9",
        _times(f"{WORKING}1", "9:00"),
        _nth_working(0),
        "9:00",
    ),
    _is(
        "the first working day that is no holiday at 9",
        _times(f"{WORKING}1", "9:00", skip=["holidays"]),
        _nth_working(0, AUSTRIA),
        "9:00",
        NOW,
        _at(2027, 12, 31),
    ),
    _is(
        "the last working day of the month at 16:00",
        _times(f"{WORKING}-1", "16:00"),
        _nth_working(-1),
        "16:00",
    ),
    _is(
        "the third working day and the third to last one at 10",
        _times(f"{WORKING}3,-3", "10:00"),
        lambda day: _nth_working(2)(day) or _nth_working(-3)(day),
        "10:00",
    ),
    _is(
        "on the 15th of each month at 12",
        _times("FREQ=MONTHLY;BYMONTHDAY=15", "12:00"),
        lambda day: day.day == 15,
        "12:00",
    ),
    _is(
        "on the last day of each month at 18:00",
        _times("FREQ=MONTHLY;BYMONTHDAY=-1", "18:00"),
        lambda day: day == _month_end(day),
        "18:00",
    ),
    _is(
        "two days before the month ends at 18:00",
        _times("FREQ=MONTHLY;BYMONTHDAY=-3", "18:00"),
        lambda day: day == _month_end(day) - timedelta(days=2),
        "18:00",
    ),
    _is(
        "every quarter on the 1st at 8, from January",
        _times("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1", "8:00", starts="2027-01-01"),
        lambda day: day.day == 1 and day.month in (1, 4, 7, 10),
        "8:00",
        _at(2027, 1, 1),
    ),
    _is(
        "every Friday the 13th at 13:13",
        _times("FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", "13:13"),
        lambda day: day.day == 13 and day.weekday() == 4,
        "13:13",
    ),
    _is(
        "on 24 December every year at 15:00",
        _times("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "15:00"),
        lambda day: (day.month, day.day) == (12, 24),
        "15:00",
    ),
    _is(
        "the fourth Thursday of November at 17:00",
        _times("FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "17:00"),
        lambda day: day.month == 11 and _nth(3, 4)(day),
        "17:00",
    ),
    _is(
        "on 1 to 7 or on Mondays at 8, as cron has it",
        {"cron": "0 8 1-7 * MON"},
        lambda day: day.day <= 7 or day.weekday() == 0,
        "8:00",
    ),
    _is("tomorrow at 9", {"at": "2026-11-23T09:00"}, lambda day: day == date(2026, 11, 23), "9:00"),
    Stepped("in 20 minutes", {"in_minutes": 20}, _at(2026, 11, 22, 21, 20), 20, 1),
    Stepped("every 36 hours", {"every_minutes": 2160}, _at(2026, 11, 24, 9), 2160, None),
    Stepped(
        "every 20 minutes, three times",
        {"every_minutes": 20, "count": 3},
        _at(2026, 11, 22, 21, 20),
        20,
        3,
    ),
    Stepped(
        "every 3 hours from tomorrow 6:00 until noon",
        {"every_minutes": 180, "starts": "2026-11-23T06:00", "until": "2026-11-23T12:00"},
        _at(2026, 11, 23, 6),
        180,
        3,
    ),
    Sunny("every day at sunrise", _times(None, "sunrise"), True, 0, _each, (48.22, 16.33)),
    Sunny(
        "half an hour before sunset on Fridays",
        _times("FREQ=WEEKLY;BYDAY=FR", "sunset-30"),
        False,
        -30,
        _on(4),
        (48.22, 16.33),
    ),
    Sunny(
        "20 minutes after sunrise in Tenerife at weekends",
        _times("FREQ=WEEKLY;BYDAY=SA,SU", "sunrise+20", place="28.47,-16.25"),
        True,
        20,
        _on(5, 6),
        (28.47, -16.25),
    ),
    Refused(
        "every 30 February at 9",
        _times("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "9:00"),
        "never occurs",
        _times("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", "9:00"),
    ),
    Refused(
        "every 10 seconds",
        _times("FREQ=SECONDLY;INTERVAL=10", "00:00"),
        "least is 1 minute",
        {"every_minutes": 1},
    ),
    Refused("at 25 o'clock", _times(None, "25:00"), "is not a time of day", _times(None, "01:00")),
    Refused(
        "at every full moon",
        _times("FREQ=LUNAR", "21:00"),
        "no rule of days",
        _times("FREQ=WEEKLY;INTERVAL=4;BYDAY=MO", "21:00"),
    ),
    Refused(
        "on Easter Sunday at 9",
        _times("FREQ=YEARLY;BYEASTER=0", "9:00"),
        "can't have BYEASTER",
        {"at": "2027-03-28T09:00"},
    ),
    Refused(
        "every 45 minutes from 22:00 to 2:00",
        _times(None, "22:00-02:00/45"),
        "over midnight",
        _times(None, "22:00-23:59/45"),
    ),
    Refused(
        "four hours before sunset",
        _times(None, "sunset-240"),
        "sunset-180",
        _times(None, "sunset-180"),
    ),
    Refused(
        "on the sixth Monday of the month",
        _times("FREQ=MONTHLY;BYDAY=6MO", "9:00"),
        "-1MO",
        _times("FREQ=MONTHLY;BYDAY=-1MO", "9:00"),
    ),
    Refused(
        "a million times, daily at 9",
        _times(None, "9:00", count=1_000_000),
        "1000",
        _times(None, "9:00", count=1000),
    ),
    Refused(
        "daily at 9 until last Friday",
        _times(None, "9:00", until="2026-11-20"),
        "no time is left",
        _times(None, "9:00"),
    ),
    Refused(
        "every month, some day",
        _times("FREQ=MONTHLY", "9:00"),
        "BYMONTHDAY=22",
        _times("FREQ=MONTHLY;BYMONTHDAY=22", "9:00"),
    ),
    Refused(
        "daily at 8 and 20 until New Year, as cron",
        {"cron": "0 8,20 * * *", "until": "2027-01-01"},
        "can't go with cron",
        _times(None, "8:00", "20:00", until="2027-01-01"),
    ),
    Refused(
        "weekdays except the holidays of Mars",
        _times(WEEK, "8:00", skip=["holidays:XX"]),
        "no calendar of XX",
        _times(WEEK, "8:00", skip=["2026-12-25"]),
    ),
    Refused(
        "whenever it is convenient",
        {"rule": "FREQ=DAILY"},
        "can't be read",
        _times("FREQ=DAILY", "09:00"),
    ),
    Refused(
        "every 1000 weeks",
        _times("FREQ=WEEKLY;INTERVAL=1000;BYDAY=MO", "9:00"),
        "INTERVAL=400",
        _times("FREQ=WEEKLY;INTERVAL=400;BYDAY=MO", "9:00"),
    ),
    Refused(
        "in odd calendar weeks on Monday",
        _times("FREQ=YEARLY;BYWEEKNO=1,3,5;BYDAY=MO", "9:00"),
        "can't have BYWEEKNO",
        _times("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "9:00", starts="2026-11-23"),
    ),
)

GERMAN: tuple[Understood | Stepped | Sunny | Refused, ...] = (
    _is("jeden Tag um 8", _times(None, "08:00"), _each, "8:00"),
    _is("werktags um halb acht", _times(WEEK, "07:30"), _working, "7:30"),
    _is(
        "alle zwei Wochen am Donnerstag um 19 Uhr",
        _times("FREQ=WEEKLY;INTERVAL=2;BYDAY=TH", "19:00"),
        _fortnight(date(2026, 11, 26)),
        "19:00",
    ),
    _is("um 8 Uhr und um halb sieben abends", _times(None, "8:00", "18:30"), _each, "8:00 18:30"),
    _is(
        "alle 90 Minuten zwischen 9 und 17 Uhr, werktags",
        _times(WEEK, "9:00-17:00/90"),
        _working,
        range(540, 1021, 90),
    ),
    _is(
        "am ersten Montag im Monat um 9",
        _times("FREQ=MONTHLY;BYDAY=1MO", "9:00"),
        _nth(0, 1),
        "9:00",
    ),
    _is(
        "am letzten Werktag im Monat um 16 Uhr",
        _times(f"{WORKING}-1", "16:00"),
        _nth_working(-1),
        "16:00",
    ),
    _is(
        "werktags um 8, außer an Feiertagen",
        _times(WEEK, "8:00", skip=["holidays:AT"]),
        lambda day: _working(day) and day not in AUSTRIA,
        "8:00",
        NOW,
        _at(2027, 12, 31),
    ),
    _is(
        "täglich um 7 vom 1. bis zum 24. Dezember",
        _times(None, "7:00", starts="2026-12-01", until="2026-12-24"),
        _each,
        "7:00",
        _at(2026, 12, 1),
        _at(2026, 12, 25),
    ),
    _is(
        "zehnmal, täglich um 9",
        _times(None, "9:00", count=10),
        _each,
        "9:00",
        NOW,
        _at(2026, 12, 2, 9),
    ),
    _is(
        "jeden zweiten Dienstag im Monat um 18 Uhr",
        _times("FREQ=MONTHLY;BYDAY=2TU", "18:00"),
        _nth(1, 2),
        "18:00",
    ),
    _is(
        "samstags und sonntags um 10",
        _times("FREQ=WEEKLY;BYDAY=SA,SU", "10:00"),
        _on(5, 6),
        "10:00",
    ),
    _is(
        "am Monatsletzten um 18 Uhr",
        _times("FREQ=MONTHLY;BYMONTHDAY=-1", "18:00"),
        lambda day: day == _month_end(day),
        "18:00",
    ),
    _is("morgen um 9", {"at": "2026-11-23T09:00"}, lambda day: day == date(2026, 11, 23), "9:00"),
    Stepped(
        "alle anderthalb Stunden, viermal",
        {"every_minutes": 90, "count": 4},
        _at(2026, 11, 22, 22, 30),
        90,
        4,
    ),
    Sunny(
        "eine halbe Stunde vor Sonnenuntergang",
        _times(None, "sunset-30"),
        False,
        -30,
        _each,
        (48.22, 16.33),
    ),
    Refused(
        "alle zehn Sekunden",
        _times("FREQ=SECONDLY;INTERVAL=10", "0:00"),
        "least is 1 minute",
        {"every_minutes": 1},
    ),
    Refused(
        "jeden 30. Februar",
        _times("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "9:00"),
        "never occurs",
        _times("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", "9:00"),
    ),
    Refused(
        "bei Vollmond",
        _times("FREQ=VOLLMOND", "21:00"),
        "no rule of days",
        _times("FREQ=WEEKLY;INTERVAL=4;BYDAY=MO", "21:00"),
    ),
    Refused(
        "in geraden Kalenderwochen am Montag",
        _times("FREQ=YEARLY;BYWEEKNO=2,4,6;BYDAY=MO", "9:00"),
        "can't have BYWEEKNO",
        _times("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "9:00", starts="2026-11-30"),
    ),
)
