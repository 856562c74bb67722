"""Days on somebody's own clock: where they begin and end, and that none can be had early."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.agent.quotas.balance import QuotaDay, day_of

HOUR = 3_600_000
ZONES = ("UTC", "Europe/Vienna", "Africa/Cairo", "America/Havana", "Asia/Kolkata", "Pacific/Apia")


def at(text: str) -> int:
    """A moment in UTC, in milliseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("now", "zone", "start", "end"),
    [
        ("2026-11-20T12:00", "UTC", "2026-11-20T00:00", "2026-11-21T00:00"),
        ("2026-11-20T23:30", "Europe/Vienna", "2026-11-20T23:00", "2026-11-21T23:00"),
        ("2026-11-20T12:00", "Asia/Kolkata", "2026-11-19T18:30", "2026-11-20T18:30"),
        # The clocks go forward, and back: 23 and 25 hours.
        ("2026-03-29T12:00", "Europe/Vienna", "2026-03-28T23:00", "2026-03-29T22:00"),
        ("2026-10-25T12:00", "Europe/Vienna", "2026-10-24T22:00", "2026-10-25T23:00"),
        # Cairo skips midnight itself, and Havana has it twice.
        ("2026-04-24T12:00", "Africa/Cairo", "2026-04-23T22:00", "2026-04-24T21:00"),
        ("2026-11-01T12:00", "America/Havana", "2026-11-01T04:00", "2026-11-02T05:00"),
        ("2026-11-20T12:00", "Nowhere/Real", "2026-11-20T00:00", "2026-11-21T00:00"),
    ],
)
def test_a_day_goes_from_midnight_to_midnight(now: str, zone: str, start: str, end: str) -> None:
    assert day_of(at(now), zone) == QuotaDay(start=at(start), end=at(end))


def test_the_first_moment_of_a_day_is_in_it_and_its_end_is_not() -> None:
    day = day_of(at("2026-11-20T12:00"), "Europe/Vienna")
    assert day_of(day.start, "Europe/Vienna", day) == day
    assert day_of(day.end - 1, "Europe/Vienna", day) == day
    assert day_of(day.end, "Europe/Vienna", day).start == day.end


def test_another_time_zone_gives_no_fresh_day() -> None:
    day = day_of(at("2026-11-20T12:00"), "UTC")
    # In Apia it is the first hour of the 21st.
    moved = day_of(at("2026-11-20T11:30"), "Pacific/Apia", day)
    assert moved.start == day.start
    assert moved.end == at("2026-11-21T11:00")


def test_going_back_and_forth_between_time_zones_gives_no_fresh_day_either() -> None:
    now = at("2026-11-20T12:00")
    day = day_of(now, "UTC")
    for zone in ("Pacific/Pago_Pago", "Etc/GMT+12", "Pacific/Kiritimati", "Etc/GMT-12", "UTC"):
        day = day_of(now, zone, day)
        assert day.start == at("2026-11-20T00:00"), zone
        assert day.end > now


def test_a_clock_that_is_set_back_gives_the_day_that_it_shows() -> None:
    later = day_of(at("2026-11-20T12:00"), "UTC")
    assert day_of(at("2026-11-18T12:00"), "UTC", later).start == at("2026-11-18T00:00")


@given(
    start=st.integers(at("2026-01-01T00:00"), at("2027-01-01T00:00")),
    steps=st.lists(
        st.tuples(st.integers(0, 30 * HOUR), st.sampled_from(ZONES)), min_size=1, max_size=30
    ),
)
def test_no_day_is_shorter_than_twenty_hours_and_each_holds_its_moment(
    start: int, steps: list[tuple[int, str]]
) -> None:
    now, day = start, None
    for pause, zone in steps:
        now += pause
        following = day_of(now, zone, day)
        assert following.start <= now < following.end
        if day is not None and following.start != day.start:
            assert following.start - day.start >= 20 * HOUR
        day = following
