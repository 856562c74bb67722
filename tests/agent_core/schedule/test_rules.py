"""Calendar rules beside the minute-stepping oracle, where clocks are put forward or back."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo, available_timezones

import pytest

from agent_core.schedule.occurrences import first_slot, last_slot, next_slot, walk_slots
from agent_core.schedule.rule_slots import SlotLimits, limit_rule
from agent_core.schedule.rules import (
    ALWAYS,
    Calendar,
    RecurrenceRule,
    dump_rule,
    load_rule,
    read_days,
    read_times,
)
from agent_core.schedule.triggers import milliseconds, moment
from agent_core.schedule.wall_clock import Slot, find_zone
from tests.agent_core.schedule import oracle

ANCHOR = datetime(2026, 1, 1)
NIGHT = (0, 30, 60, 90, 120, 150, 180, 210, 540)
"""The minutes of a day at which clocks jump, and nine in the morning."""
TIMES = ("00:00-03:30/30", "09:00")
Names = Callable[[datetime], bool]


def _fortnight(local: datetime) -> bool:
    return (local.date() - date(2025, 12, 29)).days // 7 % 2 == 0


def _is_last_sunday(local: datetime) -> bool:
    return local.weekday() == 6 and (local + timedelta(days=7)).month != local.month


def _is_first_working(local: datetime) -> bool:
    before = [local.replace(day=day) for day in range(1, local.day)]
    return local.weekday() < 5 and all(one.weekday() > 4 for one in before)


RULES: tuple[tuple[str, Names], ...] = (
    ("FREQ=DAILY", lambda local: True),
    ("FREQ=DAILY;INTERVAL=3", lambda local: (local.date() - ANCHOR.date()).days % 3 == 0),
    ("FREQ=WEEKLY;BYDAY=SU", lambda local: local.weekday() == 6),
    (
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU,MO",
        lambda local: _fortnight(local) and local.weekday() in (5, 6, 0),
    ),
    ("FREQ=MONTHLY;BYDAY=-1SU", _is_last_sunday),
    (
        "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1,1",
        lambda local: (
            local.month % 2 == 1 and (local.day == 1 or (local + timedelta(days=1)).day == 1)
        ),
    ),
    ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1", _is_first_working),
    (
        "FREQ=YEARLY;BYMONTH=3,11;BYDAY=2SU,1SU",
        lambda local: local.month in (3, 11) and local.weekday() == 6 and local.day <= 14,
    ),
)


def make(days: str) -> RecurrenceRule:
    return RecurrenceRule(days=read_days(days), times=read_times(TIMES), start=ANCHOR)


def check(days: str, names: Names, zone: ZoneInfo, start: datetime, end: datetime) -> int:
    """Hold the slots within a span against the oracle: moments, names, and none twice."""
    return check_rule(make(days), names, zone, (start, end))


def check_rule(
    rule: RecurrenceRule, names: Names, zone: ZoneInfo, around: tuple[datetime, datetime]
) -> int:
    start, end = around

    def is_due(local: datetime) -> bool:
        return local.hour * 60 + local.minute in NIGHT and local >= ANCHOR and names(local)

    expected = [
        (when, f"{local:%Y-%m-%dT%H:%M}")
        for when, local in oracle.run_set_times(is_due, zone, start, end)
    ]
    first = first_slot(rule, zone, milliseconds(start) - 1)
    assert first
    last = milliseconds(end)
    found = list(takewhile(lambda slot: slot.at < last, walk_slots(rule, zone, first)))
    assert [(moment(slot.at), slot.name) for slot in found] == expected, (rule, zone, start)
    assert len({slot.name for slot in found}) == len(found)
    if found:
        assert last_slot(rule, zone, last - 1) == found[-1]
    return len(found)


@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe", "Africa/Cairo"])
def test_slots_of_rules_are_the_oracles_around_jumps_of_hard_zones(zone: str) -> None:
    for jump in oracle.transitions(find_zone(zone), range(2026, 2028)):
        for days, names in RULES:
            around = (jump - timedelta(hours=14), jump + timedelta(hours=16))
            check(days, names, find_zone(zone), *around)


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe", "Africa/Cairo"])
def test_days_of_an_own_calendar_are_out_around_jumps_of_hard_zones(zone: str) -> None:
    place = find_zone(zone)
    for jump in oracle.transitions(place, range(2026, 2028)):
        off = jump.astimezone(place).date() + timedelta(days=1)
        own = Calendar(at="off.ics", spans=((off, off + timedelta(days=1)),))
        around = (jump - timedelta(hours=30), jump + timedelta(hours=80))
        due = check_rule(
            replace(make("FREQ=DAILY"), calendar=own),
            lambda local, off=off: (local.date() - off).days not in (0, 1),  # type: ignore[misc]
            place,
            around,
        )
        assert 0 < due < check("FREQ=DAILY", lambda local: True, place, *around)


@pytest.mark.slow
def test_slots_of_rules_are_the_oracles_around_jumps_of_any_zone() -> None:
    chance = random.Random(9)
    for name in chance.sample(sorted(available_timezones()), 15):
        zone = find_zone(name)
        jumps = oracle.transitions(zone, range(2026, 2036))
        for jump in chance.sample(jumps, min(1, len(jumps))):
            for days, names in chance.sample(RULES, 4):
                check(days, names, zone, jump - timedelta(hours=5), jump + timedelta(hours=5))


@pytest.mark.long
def test_slots_of_rules_are_the_oracles_around_the_jumps_of_all_zones() -> None:
    count = jumps = 0
    for name in sorted(available_timezones()):
        zone = find_zone(name)
        for jump in oracle.transitions(zone, range(2026, 2028)):
            jumps += 1
            for days, names in RULES:
                around = (jump - timedelta(hours=5), jump + timedelta(hours=5))
                count += check(days, names, zone, *around)
    print(f"{len(available_timezones())} zones, {jumps} jumps, {count} slots, mismatches 0")


def test_a_rule_is_read_as_it_was_stored() -> None:
    rule = RecurrenceRule(
        days=read_days("FREQ=MONTHLY;INTERVAL=2;BYMONTH=1,7;BYDAY=1MO,-1FR"),
        times=read_times(["08:00", "09:00-17:00/90", "sunset-30"]),
        start=datetime(2026, 12, 1),
        until=datetime(2027, 12, 1, 8, 30),
        without=((date(2026, 12, 24), date(2027, 1, 6)),),
        region="DE-BY",
        calendar=Calendar(
            at="https://calendar.example/a%20b?days=off&x=1",
            spans=((date(2026, 12, 31), date(2026, 12, 31)),),
        ),
        place=(48.14, -11.58),
    )
    assert load_rule(dump_rule(rule)) == rule
    assert "RRULE:FREQ=MONTHLY;INTERVAL=2;BYMONTH=1,7;BYDAY=1MO,-1FR;UNTIL=20271201T083000" in (
        dump_rule(rule)
    )


def test_a_sun_slot_keeps_its_name_when_the_calendar_moves_its_minute() -> None:
    berlin = find_zone("Europe/Berlin")
    rule = RecurrenceRule(
        days=read_days("FREQ=DAILY"), times=read_times(["sunset"]), start=ALWAYS, place=(52.5, 13.4)
    )
    first = first_slot(rule, berlin, milliseconds(datetime(2026, 11, 23, tzinfo=berlin)))
    assert first
    assert first.name == "2026-11-23 sunset"
    moved = Slot(name=first.name, at=first.at - 120_000)
    second = next_slot(rule, berlin, moved)
    assert second
    assert second.name == "2026-11-24 sunset"


def test_no_sun_rises_in_the_polar_night() -> None:
    oslo = find_zone("Europe/Oslo")
    rule = RecurrenceRule(
        days=read_days("FREQ=DAILY"), times=read_times(["sunrise"]), start=ALWAYS, place=(69.6, 19)
    )
    first = first_slot(rule, oslo, milliseconds(datetime(2026, 12, 1, tzinfo=oslo)))
    assert first
    assert date(2027, 1, 13) <= date.fromisoformat(first.name[:10]) <= date(2027, 1, 18)


@pytest.mark.parametrize(
    ("days", "place"), [("FREQ=DAILY;BYMONTH=5,6,7", (78.0, 16.0)), ("FREQ=DAILY", (90.0, 0.0))]
)
def test_a_sun_that_never_sets_is_refused_without_a_search_of_centuries(
    days: str, place: tuple[float, float]
) -> None:
    zone = find_zone("Arctic/Longyearbyen")
    rule = RecurrenceRule(
        days=read_days(days), times=read_times(["sunset"]), start=ALWAYS, place=place
    )
    begin = time.process_time()
    with pytest.raises(ValueError, match="the sun doesn't rise or set there"):
        limit_rule(rule, zone, SlotLimits(), milliseconds(datetime(2026, 11, 27, tzinfo=zone)))
    assert time.process_time() - begin < 5  # seconds of a stopped gateway
