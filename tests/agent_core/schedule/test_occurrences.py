"""Which moments a timing names: each once, also where the clock is put forward or back."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, available_timezones

import pytest

from agent_core.schedule.occurrences import first_slot, last_slot, next_slot, walk_slots
from agent_core.schedule.triggers import (
    Timing,
    dump_timing,
    load_timing,
    milliseconds,
    moment,
    read_cron,
    read_every,
    read_once,
)
from agent_core.schedule.wall_clock import Slot, find_zone
from tests.agent_core.schedule import oracle
from tests.tables import check_each

NEW_YORK = find_zone("America/New_York")
HARD = (
    "America/New_York",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "America/Havana",
)
"""Zones with the common jumps, one of half an hour, and two whose clock jumps at midnight."""


def at(*fields: int) -> int:
    """A moment in UTC in milliseconds."""
    year, month, day, *rest = fields
    return milliseconds(datetime(year, month, day, *rest, tzinfo=UTC))


def names(timing: Timing, zone: ZoneInfo, after: int, count: int) -> list[str]:
    """The names of the next slots."""
    first = first_slot(timing, zone, after)
    return [slot.name for slot in islice(walk_slots(timing, zone, first), count)] if first else []


def between(timing: Timing, zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[Slot]:
    first = first_slot(timing, zone, milliseconds(start) - 1)
    if first:
        yield from takewhile(
            lambda slot: slot.at < milliseconds(end), walk_slots(timing, zone, first)
        )


def test_a_set_time_in_a_repeated_hour_comes_once() -> None:
    found = names(read_cron("30 1 * * *"), NEW_YORK, at(2026, 10, 31), 3)
    assert found == ["2026-10-31T01:30", "2026-11-01T01:30", "2026-11-02T01:30"]


def test_a_set_time_that_is_jumped_over_comes_where_the_clock_lands() -> None:
    slot = first_slot(read_cron("30 2 * * *"), NEW_YORK, at(2027, 3, 14))
    assert slot == Slot(name="2027-03-14T02:30", at=at(2027, 3, 14, 7, 0))


def test_two_set_times_in_one_gap_are_two_slots_of_one_moment() -> None:
    timing = read_cron("0,30 2 * * *")
    first = first_slot(timing, NEW_YORK, at(2027, 3, 14))
    assert first
    second = next_slot(timing, NEW_YORK, first)
    assert second
    assert (first.name, second.name) == ("2027-03-14T02:00", "2027-03-14T02:30")
    assert first.at == second.at


def test_a_job_by_the_clocks_hands_runs_in_both_hours_that_are_shown() -> None:
    found = names(read_cron("*/30 * * * *"), NEW_YORK, at(2026, 11, 1, 4, 45), 5)
    assert found == [
        "2026-11-01T05:00:00Z",
        "2026-11-01T05:30:00Z",
        "2026-11-01T06:00:00Z",
        "2026-11-01T06:30:00Z",
        "2026-11-01T07:00:00Z",
    ]


def test_a_walk_gives_each_next_slot_also_across_changes_of_the_clock() -> None:
    wrong = []
    for text in ("30 1 * * *", "0,30 2 * * *", "*/30 * * * *", "15 * * * *", "0 9 * * 1"):
        timing = read_cron(text)
        for since in (at(2026, 10, 31), at(2026, 11, 1, 5, 40), at(2027, 3, 14)):
            first = first_slot(timing, NEW_YORK, since)
            assert first
            single = [first]
            while len(single) < 120 and (after := next_slot(timing, NEW_YORK, single[-1])):
                single.append(after)
            if [*islice(walk_slots(timing, NEW_YORK, first), 120)] != single:
                wrong.append((text, since))
    assert wrong == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", HARD)
def test_slots_are_what_cron_does_around_every_jump_of_hard_zones(name: str) -> None:
    zone = find_zone(name)
    rows = [
        (text, zone, jump - timedelta(hours=5), jump + timedelta(hours=27))
        for text in oracle.EXPRESSIONS
        for jump in oracle.transitions(zone, range(2026, 2028))
    ]
    check_each(rows, lambda row: check(*row))


@pytest.mark.slow
def test_slots_are_what_cron_does_around_jumps_of_any_zone() -> None:
    chance = random.Random(5)
    for name in chance.sample(sorted(available_timezones()), 25):
        zone = find_zone(name)
        jumps = oracle.transitions(zone, range(2026, 2036))
        for jump in chance.sample(jumps, min(1, len(jumps))):
            for text in chance.sample(oracle.EXPRESSIONS, 12):
                check(text, zone, jump - timedelta(hours=5), jump + timedelta(hours=5))


def check(text: str, zone: ZoneInfo, start: datetime, end: datetime) -> None:
    """Hold the slots of an expression against the oracle: moments, names, and none twice."""
    timing = read_cron(text)
    expected = [
        (when, f"{when:%Y-%m-%dT%H:%M:%SZ}" if timing.is_wildcard else f"{local:%Y-%m-%dT%H:%M}")
        for when, local in oracle.runs(text, zone, start, end)
    ]
    found = list(between(timing, zone, start, end))
    assert [(moment(slot.at), slot.name) for slot in found] == expected, (text, zone, start)
    assert len({slot.name for slot in found}) == len(found)
    if found:
        assert last_slot(read_cron(text), zone, milliseconds(end) - 1) == found[-1]


def test_an_interval_goes_on_from_its_anchor_whatever_the_clock_shows() -> None:
    timing = read_every(7200, at(2026, 11, 1, 3, 30))
    found = names(timing, NEW_YORK, at(2026, 11, 1, 3, 30), 3)
    assert found == ["2026-11-01T05:30:00Z", "2026-11-01T07:30:00Z", "2026-11-01T09:30:00Z"]
    assert last_slot(timing, NEW_YORK, at(2026, 11, 1, 8)) == first_slot(
        timing, NEW_YORK, at(2026, 11, 1, 6)
    )


def test_one_moment_comes_once() -> None:
    timing = read_once("2026-11-23T08:00")
    slot = first_slot(timing, NEW_YORK, at(2026, 11, 1))
    assert slot == Slot(name="2026-11-23T08:00", at=at(2026, 11, 23, 13))
    assert next_slot(timing, NEW_YORK, slot) is None
    assert first_slot(timing, NEW_YORK, slot.at) is None


@pytest.mark.parametrize(
    "timing",
    [
        read_cron("@daily"),
        read_cron("0 8 lw * *"),
        read_every(90, 5),
        read_once("2026-01-02 03:04"),
    ],
)
def test_a_timing_is_read_as_it_was_written(timing: Timing) -> None:
    assert load_timing(dump_timing(timing)) == timing


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 8 * *", "five fields"),
        ("0 0 8 * * *", "five fields"),
        ("61 8 * * *", "bad minute"),
        ("0 8 30 2 *", "never occurs"),
        ("0 8 32 2 *", "bad day-of-month"),
        ("0 8 * * mo", "bad day-of-week"),
        ("*/61 * * * *", "steps end at 59; use an interval"),
        ("0 0-23/24 * * *", "steps end at 23; use an interval"),
        ("@reboot", "cron has no @reboot"),
        ("0 " + "1," * 200 + "1 * * *", "at most 200"),
    ],
)
def test_a_bad_expression_is_refused_with_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_cron(text)


@pytest.mark.parametrize("text", ["tomorrow", "2026-13-01T08:00", "2026-11-23T08:00:60", "8:00"])
def test_a_bad_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        read_once(text)


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a time zone"):
        find_zone("Middle/Earth")
