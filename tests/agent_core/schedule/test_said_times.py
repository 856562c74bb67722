"""What the `when` of a call becomes: the fields of a job."""

from typing import Any

import pytest

from agent_core.errors import ToolArgumentError
from agent_core.schedule.job_fields import DECLARATIONS, JobFields, read_fields
from agent_core.schedule.said_times import fill_in
from agent_core.schedule.triggers import load_timing
from tests.tables import check_each

ZONE = "Europe/Berlin"
NOW = 1_795_950_000_000
"""Sunday 2026-11-29, noon in Berlin."""

EVENING = 1_796_059_200_000
"""Monday 2026-11-30, 18:20 in Vienna, which is 2:20 on Tuesday in Tokyo."""


def fill(words: str, old: str = "", **given: object) -> dict[str, Any]:
    """Return the fields of a job that words for a time set."""
    timing = load_timing(old) if old else None
    found = fill_in(read_fields(given), words, zone=ZONE, now=NOW, old=timing)
    return {
        one.name: value
        for one in DECLARATIONS
        if (value := getattr(found, one.name)) is not None and one.name not in given
    }


READ: list[tuple[str, dict[str, Any]]] = [
    ("tomorrow 9:00", {"at": "2026-11-30T09:00"}),
    ("2026-12-24T18:00", {"at": "2026-12-24T18:00"}),
    ("2026-12-24 18:00:30", {"at": "2026-12-24T18:00:30"}),
    ("2026-12-24T18:00:00Z", {"at": "2026-12-24T19:00"}),
    ("2026-12-24T18:00+05:00", {"at": "2026-12-24T14:00"}),
    ("tomorrow at 3:30 Tokyo time", {"at": "2026-11-30T03:30", "zone": "Asia/Tokyo"}),
    ("9:00 UTC+2 on friday", {"at": "2026-12-04T09:00", "zone": "Etc/GMT-2"}),
    ("morgen um 9 Uhr New Yorker Zeit", {"at": "2026-11-30T09:00", "zone": "America/New_York"}),
    ("every monday at 9 am PST", {"cron": "0 9 * * 1", "zone": "America/Los_Angeles"}),
    ("2 days before Christmas Eve", {"at": "2026-12-22T09:00"}),
    ("2 Tage vor Heiligabend um 8", {"at": "2026-12-22T08:00"}),
    ("0 8 * dec mon-fri", {"cron": "0 8 * DEC MON-FRI"}),
    ("0 8-12/2 * * 1-5", {"cron": "0 8-12/2 * * 1-5"}),
    ("feed https://example.org/3/4/2027", {"on": "feed https://example.org/3/4/2027"}),
    ("in 20 minutes", {"in_minutes": 20}),
    ("every 2 hours", {"every_minutes": 120}),
    ("every monday at 19:00", {"cron": "0 19 * * 1"}),
    (
        "weekdays at 7:30 except Friday",
        {"times": ("07:30",), "rule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH"},
    ),
    (
        "jeden Werktag außer Freitag um 7",
        {"times": ("07:00",), "rule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH"},
    ),
    (
        "every day but Sunday and Wednesday at 9",
        {"times": ("09:00",), "rule": "FREQ=WEEKLY;BYDAY=MO,TU,TH,FR,SA"},
    ),
    (
        "täglich um 9 außer am Wochenende",
        {"times": ("09:00",), "rule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
    ),
    ("alle 2 stunden von 9 bis 17 uhr", {"times": ("09:00-17:00/120",), "rule": "FREQ=DAILY"}),
    ("every 90 minutes between 9 and 5", {"times": ("09:00-17:00/90",), "rule": "FREQ=DAILY"}),
    (
        "every 2 hours between 9am and 5pm on weekdays",
        {"times": ("09:00-17:00/120",), "rule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
    ),
    ("second and fourth Wednesday", {"times": ("09:00",), "rule": "FREQ=MONTHLY;BYDAY=2WE,4WE"}),
    (
        "on the first and last Friday of the month at 10",
        {"times": ("10:00",), "rule": "FREQ=MONTHLY;BYDAY=1FR,-1FR"},
    ),
    (
        "jeden zweiten und vierten Mittwoch im Monat um 8",
        {"times": ("08:00",), "rule": "FREQ=MONTHLY;BYDAY=2WE,4WE"},
    ),
    (
        "on the 1st and 15th of every month",
        {"times": ("09:00",), "rule": "FREQ=MONTHLY;BYMONTHDAY=1,15"},
    ),
    ("every day at 8 and 20", {"times": ("08:00", "20:00"), "rule": "FREQ=DAILY"}),
    ("two days before 24 December", {"at": "2026-12-22T09:00"}),
    ("eine Woche vor dem 24. Dezember um 18 Uhr", {"at": "2026-12-17T18:00"}),
    ("a day before 1 March", {"at": "2027-02-28T09:00"}),
    ("every day at 9:00 and 21:00", {"times": ("09:00", "21:00"), "rule": "FREQ=DAILY"}),
    (
        "every weekday at 9:00, 13:00 and 17:30",
        {"times": ("09:00", "13:00", "17:30"), "rule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
    ),
    (
        "every other friday at 9:00",
        {"times": ("09:00",), "rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"},
    ),
    (
        "jeden zweiten Montag um 18 Uhr",
        {"times": ("18:00",), "rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"},
    ),
    ("every second day at 8:00", {"times": ("08:00",), "rule": "FREQ=DAILY;INTERVAL=2"}),
    ("every 2 days at 8", {"times": ("08:00",), "rule": "FREQ=DAILY;INTERVAL=2"}),
    ("jeden zweiten Tag um 8", {"times": ("08:00",), "rule": "FREQ=DAILY;INTERVAL=2"}),
    ("alle 3 Tage um 7:30", {"times": ("07:30",), "rule": "FREQ=DAILY;INTERVAL=3"}),
    (
        "every other day at 8:00 and 20:00",
        {"times": ("08:00", "20:00"), "rule": "FREQ=DAILY;INTERVAL=2"},
    ),
    (
        "alle zwei Wochen am Montag um 9",
        {"times": ("09:00",), "rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"},
    ),
    ("on 29 february", {"at": "2028-02-29T09:00"}),
    (
        "half an hour before sunset on Fridays, ten times",
        {"times": ("sunset-30",), "rule": "FREQ=WEEKLY;BYDAY=FR", "count": 10},
    ),
    (
        "every 90 minutes between 9 and 17 on weekdays, except on holidays",
        {
            "times": ("09:00-17:00/90",),
            "rule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
            "skip": ("holidays",),
        },
    ),
    (
        "jeden Werktag um 7 außer an Feiertagen",
        {"times": ("07:00",), "rule": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "skip": ("holidays",)},
    ),
    (
        "am letzten Werktag jeden Monats um 10",
        {"times": ("10:00",), "rule": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
    ),
    ("jeden Tag bei Sonnenuntergang", {"times": ("sunset",), "rule": "FREQ=DAILY"}),
    (
        "two days before the month ends at 9",
        {"times": ("09:00",), "rule": "FREQ=MONTHLY;BYMONTHDAY=-3"},
    ),
    (
        "every day at 8, not from 24 December to 6 January",
        {"times": ("08:00",), "rule": "FREQ=DAILY", "skip": ("2026-12-24/2027-01-06",)},
    ),
    (
        "every 2 weeks on Thursday at 8:00 and 18:30, until the end of March",
        {
            "times": ("08:00", "18:30"),
            "rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TH",
            "until": "2027-03-31",
        },
    ),
    (
        "every day at 8 for two weeks",
        {"times": ("08:00",), "rule": "FREQ=DAILY", "until": "2026-12-13"},
    ),
    (
        "jeden Tag um 20 Uhr eine Woche lang",
        {"times": ("20:00",), "rule": "FREQ=DAILY", "until": "2026-12-05"},
    ),
    (
        "täglich um 8 bis Ende des Monats",
        {"times": ("08:00",), "rule": "FREQ=DAILY", "until": "2026-11-30"},
    ),
    (
        "every day at 8 until the end of the year",
        {"times": ("08:00",), "rule": "FREQ=DAILY", "until": "2026-12-31"},
    ),
    ("am ersten Montag im Monat um 8", {"cron": "0 8 * * 1#1"}),
    ("jeden letzten Freitag des Monats um 17 Uhr", {"cron": "0 17 * * 5L"}),
    ("every 1st monday at 18:00", {"cron": "0 18 * * 1#1"}),
    ("every first Monday at 18:00", {"cron": "0 18 * * 1#1"}),
    ("each third friday at 9:00", {"cron": "0 9 * * 5#3"}),
    ("every last friday at 17:00", {"cron": "0 17 * * 5L"}),
    ("jeden ersten Montag um 18 Uhr", {"cron": "0 18 * * 1#1"}),
    ("jeden letzten Freitag um 17 Uhr", {"cron": "0 17 * * 5L"}),
    (
        "every second monday at 18:00",
        {"rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "times": ("18:00",)},
    ),
    ("every 2nd tuesday of the month", {"cron": "0 9 * * 2#2"}),
    ("0 8 * * 1-5", {"cron": "0 8 * * 1-5"}),
    ("`*/30 9-17 * * MON`", {"cron": "*/30 9-17 * * MON"}),
    ("@daily", {"cron": "0 0 * * *"}),
    (
        "09:00-17:00/90 FREQ=WEEKLY;BYDAY=MO",
        {"times": ("09:00-17:00/90",), "rule": "FREQ=WEEKLY;BYDAY=MO"},
    ),
    (
        "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO at 9:00",
        {"times": ("9:00",), "rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"},
    ),
    ("sunset-30 FREQ=DAILY", {"times": ("sunset-30",), "rule": "FREQ=DAILY"}),
    ("after job 3 failed", {"on": "after job 3 failed"}),
    ("file *.pdf", {"on": "file *.pdf"}),
]


def test_words_become_fields() -> None:
    def check(row: tuple[str, dict[str, Any]]) -> None:
        words, fields = row
        assert fill(words) == fields

    check_each(READ, check)


LIMITED: list[tuple[str, str]] = [
    ("every day at 9:00", "FREQ=DAILY"),
    ("every monday and friday at 9:00", "FREQ=WEEKLY;BYDAY=MO,FR"),
    ("every weekend at 9:00", "FREQ=WEEKLY;BYDAY=SA,SU"),
    ("on the 15th of every month at 9:00", "FREQ=MONTHLY;BYMONTHDAY=15"),
    ("the last day of every month at 9:00", "FREQ=MONTHLY;BYMONTHDAY=-1"),
    (
        "the last workday of every month at 9:00",
        "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    ),
    ("the second tuesday of every month at 9:00", "FREQ=MONTHLY;BYDAY=2TU"),
    ("the last friday of every month at 9:00", "FREQ=MONTHLY;BYDAY=-1FR"),
    ("every year on 24 december at 9:00", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24"),
    ("0 9 * 6 *", "FREQ=DAILY;BYMONTH=6"),
]


@pytest.mark.parametrize(
    "limit", [{"until": "2026-12-31"}, {"count": 3}, {"skip": ["holidays"]}], ids=str
)
def test_what_repeats_may_be_limited(limit: dict[str, object]) -> None:
    def check(row: tuple[str, str]) -> None:
        words, rule = row
        assert fill(words, **limit) == {"times": ("09:00",), "rule": rule}

    check_each(LIMITED, check)


KEPT: list[tuple[str, str, dict[str, Any]]] = [
    ("at 17:30", "once 2026-12-03T16:00", {"at": "2026-12-03T17:30"}),
    ("5 pm", "once 2026-12-03T16:00", {"at": "2026-12-03T17:00"}),
    ("friday", "once 2026-12-03T16:00", {"at": "2026-12-04T16:00"}),
    ("friday at 10:00", "once 2026-12-03T16:00", {"at": "2026-12-04T10:00"}),
    ("in 20 minutes", "once 2026-12-03T16:00", {"in_minutes": 20}),
    ("at 20:15", "cron 0 19 * * 2", {"cron": "15 20 * * 2"}),
    ("every friday at 8:00", "cron 0 19 * * 2", {"cron": "0 8 * * 5"}),
    (
        "at 7:30",
        "rule DTSTART:19700101T000000 RRULE:FREQ=WEEKLY;BYDAY=MO X-TIMES:09:00",
        {"times": ("07:30",), "rule": "FREQ=WEEKLY;BYDAY=MO", "skip": ()},
    ),
]


def test_a_change_keeps_what_its_words_leave_open() -> None:
    def check(row: tuple[str, str, dict[str, Any]]) -> None:
        words, old, fields = row
        assert fill(words, old) == fields

    check_each(KEPT, check)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("soon", "can't be read"),
        ("3/4/2027 at 9", "a date that may be two"),
        ("next week", "can't be read"),
        ("2026-02-31T08:00", "is not a time"),
        ("61 8 * * *", "minute 0-59"),
        ("0 8 * *", "five fields"),
        ("x" * 10_000, "can't be read"),
    ],
)
def test_other_words_are_refused_in_a_sentence(words: str, reason: str) -> None:
    with pytest.raises(ToolArgumentError, match=reason) as refusal:
        fill(words)
    assert len(str(refusal.value)) < 600


def test_a_wrong_zone_is_refused() -> None:
    with pytest.raises(ToolArgumentError, match="not a time zone"):
        fill_in(JobFields(), "tomorrow at 9:00", zone="Mars/Base", now=NOW, old=None)


def test_tomorrow_is_the_day_of_the_person_also_on_another_clock() -> None:
    def check(row: tuple[str, str]) -> None:
        words, at = row
        given = fill_in(read_fields({}), words, zone="Europe/Vienna", now=EVENING, old=None)
        assert given.at == at

    rows = [
        ("tomorrow at 3:30 Tokyo time", "2026-12-01T03:30"),
        ("morgen um 3:30 Uhr Tokioter Zeit", "2026-12-01T03:30"),
        ("tmrw at 3:30 Tokyo time", "2026-12-01T03:30"),
        ("the day after tomorrow at 9 Tokyo time", "2026-12-02T09:00"),
        ("today at 22:00 Tokyo time", "2026-12-01T22:00"),
        ("tuesday at 3:30 Tokyo time", "2026-12-01T03:30"),
        ("today at 15:00 New York time", "2026-11-30T15:00"),
    ]
    check_each(rows, check)
