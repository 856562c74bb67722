"""What sentences about time become: the tools' calls, held against an oracle by hand."""

import json
import math
from datetime import UTC, date, datetime, timedelta
from itertools import islice, takewhile

import fastjsonschema
import pytest

from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId
from agent_core.schedule.descriptions import describe_next, describe_timing
from agent_core.schedule.job_fields import JobFields, read_fields
from agent_core.schedule.occurrences import first_slot, walk_slots
from agent_core.schedule.requests import read_request
from agent_core.schedule.said_times import fill_in
from agent_core.schedule.specs import SCHEDULE_JOB, read_others
from agent_core.schedule.triggers import Timing, dump_timing, load_timing, milliseconds, moment
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.jobs import Options, Target
from agent_core.tools.selection.renamed_calls import renew
from agent_core.transcript import ToolCallPart
from tests.agent_core.schedule import sentences
from tests.agent_core.schedule.sentences import Refused, Stepped, Sunny, Understood
from tests.tables import check_each

VIENNA = find_zone("Europe/Vienna")
NOW = milliseconds(sentences.NOW.replace(tzinfo=VIENNA))
MOST_DAYS = 270
"""Until the next Friday the 13th, and some days more."""
_MINUTE = timedelta(minutes=1)
_HORIZON = -0.833
"""Degrees of the sun's centre when its upper rim is seen at the horizon (NOAA)."""
_validate = fastjsonschema.compile(json.loads(SCHEDULE_JOB.schema))
ALL = (*sentences.ENGLISH, *sentences.GERMAN)


def read_call(**call: object) -> JobFields:
    """The fields of an old call, as the present tool reads its words for a time."""
    arguments = json.dumps({"action": "create", "kind": "prompt", "text": "x", **call})
    old = ToolCallPart(call_id=CallId("c1"), name="schedule", arguments=arguments)
    new = json.loads(renew(old).arguments)
    _validate(new)
    given = read_fields(read_others(new))
    return fill_in(given, new["when"], zone=VIENNA.key, now=NOW, old=None)


def understand(call: sentences.Call) -> Timing:
    """The timing of a call that the tool's schema allows, read back from how it is stored."""
    request = read_request(
        read_call(**call),
        here=Target(kind="home"),
        zone=VIENNA.key,
        known=Options(),
        now=NOW,
        calendars=sentences.CALENDARS,
    )
    assert request.timing is not None
    assert load_timing(dump_timing(request.timing)) == request.timing
    return request.timing


def list_moments(timing: Timing, end: datetime) -> list[datetime]:
    """The local times of all slots before a local time."""
    first = first_slot(timing, VIENNA, NOW)
    assert first is not None
    last = milliseconds(end.replace(tzinfo=VIENNA))
    slots = takewhile(lambda slot: slot.at < last, walk_slots(timing, VIENNA, first))
    return [moment(slot.at).astimezone(VIENNA).replace(tzinfo=None) for slot in slots]


def test_a_number_that_a_model_writes_as_a_fraction_is_stored_whole() -> None:
    whole = {"every_minutes": 90, "count": 3}
    written = {"every_minutes": 90.0, "count": 3.0}
    assert dump_timing(understand(written)) == dump_timing(understand(whole))
    given = read_fields({"in_minutes": 5.0, "pause_after": 2.0, "day_usd": 1.0})
    assert repr((given.in_minutes, given.pause_after, given.day_usd)) == "(5, 2, 1.0)"


def test_there_are_sixty_sentences_in_english_and_twenty_in_german() -> None:
    assert len(sentences.ENGLISH) >= 60
    assert len(sentences.GERMAN) >= 20
    assert len({one.text for one in ALL}) == len(ALL)


SENTENCES = [one for one in ALL if isinstance(one, Understood)]


def test_a_sentence_becomes_the_moments_that_it_means() -> None:
    def check(one: Understood) -> None:
        end = min(sentences.NOW + timedelta(days=MOST_DAYS), one.last + _MINUTE)
        expected, day = [], sentences.NOW.date()
        while day <= end.date():
            for minute in sorted(one.minutes) if one.days(day) else ():
                at = datetime(day.year, day.month, day.day) + minute * _MINUTE
                if max(one.first, sentences.NOW + _MINUTE) <= at < end:
                    expected.append(at)
            day += timedelta(days=1)
        assert expected
        horizon = sentences.NOW + timedelta(days=MOST_DAYS)
        is_ended = not {"until", "count"}.isdisjoint(one.call)
        found = list_moments(understand(one.call), horizon if is_ended else end)
        assert found == expected

    check_each(SENTENCES, check)


@pytest.mark.parametrize(
    "one", [one for one in ALL if isinstance(one, Stepped)], ids=lambda one: one.text
)
def test_steps_are_counted_in_minutes_that_pass(one: Stepped) -> None:
    begin = one.first.replace(tzinfo=VIENNA).astimezone(UTC)
    expected = []
    at = begin
    while at < begin + timedelta(days=40) and len(expected) != one.count:
        if (at - begin) // _MINUTE % one.minutes == 0:
            expected.append(at.astimezone(VIENNA).replace(tzinfo=None))
        at += _MINUTE
    end = (begin + timedelta(days=40)).astimezone(VIENNA).replace(tzinfo=None)
    assert list_moments(understand(one.call), end) == expected


@pytest.mark.parametrize(
    "one", [one for one in ALL if isinstance(one, Sunny)], ids=lambda one: one.text
)
def test_the_sun_is_where_the_sentence_says(one: Sunny) -> None:
    found = list_moments(understand(one.call), sentences.NOW + timedelta(days=70))
    expected = [
        day
        for day in (sentences.NOW.date() + timedelta(days=n) for n in range(1, 71))
        if one.days(day)
    ]
    assert [at.date() for at in found] == expected[: len(found)]
    assert len(found) >= len(expected) - 1
    for at in found:
        event = at.replace(tzinfo=VIENNA) - timedelta(minutes=one.offset)
        crossing = find_crossing(event.date(), one.place, is_rising=one.is_rising)
        assert abs(event - crossing) <= 2 * _MINUTE, (at, crossing)


INEXPRESSIBLE = [one for one in ALL if isinstance(one, Refused)]


def test_what_cannot_be_expressed_is_refused_with_the_nearest_schedule() -> None:
    def check(one: Refused) -> None:
        with pytest.raises(ToolArgumentError) as refusal:
            understand(one.call)
        assert one.reason in str(refusal.value)
        assert "nearest" in str(refusal.value)
        assert first_slot(understand(one.nearest), VIENNA, NOW) is not None

    check_each(INEXPRESSIBLE, check)


ECHOES = [one for one in ALL if not isinstance(one, Refused)]


def test_each_is_echoed_with_its_meaning_and_its_next_moments() -> None:
    def check(one: Understood) -> None:
        timing = understand(one.call)
        first = first_slot(timing, VIENNA, NOW)
        assert first is not None
        meaning = describe_timing(timing, VIENNA)
        shown = describe_next(timing, VIENNA, first, VIENNA)
        assert not meaning[0].islower()
        moments = list(islice(walk_slots(timing, VIENNA, first), 3))
        assert shown.count(";") == len(moments) - 1

    check_each(ECHOES, check)


def find_crossing(day: date, place: tuple[float, float], *, is_rising: bool) -> datetime:
    """Walk a local day minute by minute until the sun crosses the horizon."""
    at = datetime(day.year, day.month, day.day, tzinfo=VIENNA).astimezone(UTC)
    before = find_altitude(at, place)
    for _ in range(1440):
        at += _MINUTE
        altitude = find_altitude(at, place)
        if (before < _HORIZON <= altitude) if is_rising else (altitude < _HORIZON <= before):
            return at
        before = altitude
    raise AssertionError(f"the sun does not cross the horizon on {day}")


def find_altitude(at: datetime, place: tuple[float, float]) -> float:
    """Degrees of the sun above the horizon (Astronomical Almanac's low precision formulas)."""
    days = (at - datetime(2000, 1, 1, 12, tzinfo=UTC)) / timedelta(days=1)
    anomaly = math.radians(357.528 + 0.9856003 * days)
    mean = 280.460 + 0.9856474 * days
    longitude = math.radians(mean + 1.915 * math.sin(anomaly) + 0.020 * math.sin(2 * anomaly))
    tilt = math.radians(23.439 - 0.0000004 * days)
    ascension = math.atan2(math.cos(tilt) * math.sin(longitude), math.cos(longitude))
    declination = math.asin(math.sin(tilt) * math.sin(longitude))
    sidereal = math.radians(280.46062 + 360.98564737 * days + place[1])
    latitude = math.radians(place[0])
    return math.degrees(
        math.asin(
            math.sin(latitude) * math.sin(declination)
            + math.cos(latitude) * math.cos(declination) * math.cos(sidereal - ascension)
        )
    )
