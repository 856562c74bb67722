"""Places, offsets and hours as people write them."""

from zoneinfo import available_timezones

import pytest

from agent_core.time_zones import (
    find_zone,
    name_city,
    name_zone,
    read_hours,
)
from tests.tables import check_each

PLACES = (
    ("Vienna", "Europe/Vienna"),
    ("wien", "Europe/Vienna"),
    ("Europe/Vienna", "Europe/Vienna"),
    ("new york", "America/New_York"),
    ("São Paulo", "America/Sao_Paulo"),
    ("Zurich", "Europe/Zurich"),
    ("Zürich", "Europe/Zurich"),
    ("Austria", "Europe/Vienna"),
    ("Germany", "Europe/Berlin"),
    ("Japan", "Asia/Tokyo"),
    ("PST", "America/Los_Angeles"),
    ("EST", "America/New_York"),
    ("UTC", "UTC"),
    ("UTC+2", "Etc/GMT-2"),
    ("gmt -5", "Etc/GMT+5"),
    ("UTC+5:30", "Asia/Kolkata"),
    ("+01:00", "Etc/GMT-1"),
)


def test_a_place_or_an_offset_names_a_zone() -> None:
    def check(row: tuple[str, str]) -> None:
        words, zone = row
        assert find_zone(words) == zone

    check_each(PLACES, check)


@pytest.mark.parametrize(
    "words",
    ["", "USA", "Mars", "localtime", "Factory", "22-7", "UTC+15", "UTC+5:15", "hello there"],
)
def test_what_has_no_single_clock_names_none(words: str) -> None:
    assert find_zone(words) is None


def test_every_zone_of_the_database_is_found_by_its_whole_name() -> None:
    known = [zone for zone in available_timezones() if "/" in zone]
    assert [zone for zone in known if find_zone(zone) != zone] == []


def test_a_fixed_zone_is_shown_as_people_count_it() -> None:
    shown = [name_zone(zone) for zone in ("Etc/GMT-2", "Etc/GMT+5", "Etc/UTC", "Europe/Vienna")]
    assert shown == ["UTC+2", "UTC-5", "UTC", "Europe/Vienna"]
    assert name_city("America/New_York") == "New York"


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        ("22:00-07:30", (1320, 450)),
        ("22-7", (1320, 420)),
        ("10pm-7am", (1320, 420)),
        ("10 pm to 7 am", (1320, 420)),
        ("22 Uhr bis 7 Uhr", (1320, 420)),
        ("12am–6.30am", (0, 390)),
        ("24-7", None),
        ("13pm-7am", None),
        ("at night", None),
    ],
)
def test_hours_are_read_as_people_write_them(words: str, hours: tuple[int, int] | None) -> None:
    assert read_hours(words) == hours
