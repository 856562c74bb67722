"""What people read of a schedule: words in their language, and never a pattern."""

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.localization import use_language
from agent_core.schedule.descriptions import describe_timing
from agent_core.schedule.occurrences import first_slot
from agent_core.schedule.triggers import NeverOccurs, read_cron
from agent_core.tools.clock import ReaderClock
from tests.tables import check_each

VIENNA = ZoneInfo("Europe/Vienna")
CLOCK = ReaderClock(zone="Europe/Vienna", now=1_796_020_000_000)
"""Monday 2026-11-30, 7:26 in Vienna."""
SAID = (
    ("0 9 1-31 * 1", "Every day, 9:00", "Jeden Tag, 9:00"),
    ("0 9 13 12 0-6", "Every day in December, at 9:00", "Jeden Tag im Dezember, um 9:00"),
    ("*/15 * * * *", "Every 15 minutes", "Alle 15 Minuten"),
    ("0 */2 * * *", "Every 2 hours", "Alle 2 Stunden"),
    (
        "0 9-17 * * 1-5",
        "From Monday to Friday, every hour from 9:00 to 17:00",
        "Von Montag bis Freitag, jede Stunde von 9:00 bis 17:00",
    ),
    ("0 8,20 * * *", "Every day, 8:00 and 20:00", "Jeden Tag, 8:00 und 20:00"),
    ("0 8 * * 1-5", "Monday to Friday, 8:00", "Montag bis Freitag, 8:00"),
    (
        "0 10 LW * *",
        "Every month on the last working day, at 10:00",
        "Jeden Monat am letzten Arbeitstag, um 10:00",
    ),
    (
        "30 7 * * 5L",
        "Every month on the last Friday, 7:30",
        "Jeden Monat am letzten Freitag, 7:30",
    ),
    (
        "0 8 1 * 1",
        "Every month on day 1, and also on Monday, at 8:00",
        "Jeden Monat am Tag 1, außerdem am Montag, um 8:00",
    ),
    (
        "0 9 24 12 *",
        "Every year on 24 December, at 9:00",
        "Jedes Jahr am 24. Dezember, um 9:00",
    ),
    (
        "0 9 29 2 *",
        "Every leap year on 29 February, at 9:00",
        "In jedem Schaltjahr am 29. Februar, um 9:00",
    ),
    (
        "*/7 * * * *",
        "At set times; the next are today, 7:28; today, 7:35; today, 7:42",
        "Zu festen Zeiten, als Nächstes: heute, 7:28; heute, 7:35; heute, 7:42",
    ),
)


def test_every_pattern_is_said_in_words() -> None:
    def check(row: tuple[str, str, str]) -> None:
        expression, english, german = row
        for language, expected in (("en", english), ("de", german)):
            with use_language(language):
                assert describe_timing(read_cron(expression), VIENNA, CLOCK) == expected

    check_each(SAID, check)


def test_programs_read_which_days_a_pattern_means() -> None:
    def check(row: tuple[str, str]) -> None:
        expression, said = row
        assert describe_timing(read_cron(expression), VIENNA) == said

    rows = (
        ("0 9 1-31 * 1", "Every day, 9:00"),
        ("0 9 1,2 * 1", "At 09:00, every month on day 1 and 2, and also on Monday"),
        ("0 9 31 * *", "At 09:00 on the 31st day of every month"),
        ("0 9 12 * *", "At 09:00 on the 12th day of every month"),
        ("0 9 22 * *", "At 09:00 on the 22nd day of every month"),
        ("0 9 */2 * 1", "At 09:00 on every second day of month if it's on Monday"),
    )
    check_each(rows, check)


def _field(first: int, last: int, *others: str) -> st.SearchStrategy[str]:
    number = st.integers(first, last)
    lists = st.lists(number, min_size=1, max_size=4).map(lambda found: ",".join(map(str, found)))
    spans = st.tuples(number, number).map(lambda two: f"{min(two)}-{max(two)}")
    steps = st.integers(1, max(last, 2)).map(lambda step: f"*/{step}")
    return st.one_of(st.just("*"), lists, spans, steps, st.sampled_from(others or ("*",)))


EXPRESSIONS = st.tuples(
    _field(0, 59),
    _field(0, 23),
    _field(1, 31, "L", "LW", "1,L"),
    _field(1, 12, "FEB", "2"),
    _field(0, 7, "5L", "1#2", "MON-FRI", "1#5,3"),
).map(" ".join)


@given(EXPRESSIONS, st.sampled_from(["en", "de"]))
def test_an_accepted_pattern_comes_again_and_is_said_without_signs(
    expression: str, language: str
) -> None:
    try:
        cron = read_cron(expression)
    except NeverOccurs:
        return
    assert first_slot(cron, VIENNA, CLOCK.now) is not None
    with use_language(language):
        for clock in (CLOCK, None):
            said = describe_timing(cron, VIENNA, clock)
            assert not set("*/#") & set(said)
            assert expression not in said


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("0 9 30 2 *", "30 February never occurs. Choose another day, such as 28 February."),
        ("0 9 31 4,6 *", "31 April never occurs. Choose another day, such as 30 April."),
    ],
)
def test_a_date_that_never_occurs_is_refused_with_one_that_does(
    expression: str, sentence: str
) -> None:
    with pytest.raises(NeverOccurs) as refused:
        read_cron(expression)
    assert str(refused.value) == sentence
