"""Quiet hours by a person's own clock."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent_core.ids import PersonId
from agent_core.schedule.quiet_times import is_quiet, quiet_until
from agent_core.state.people.people import Person

ANN = Person(id=PersonId(1), slug="ann", name="Ann", role="member", time_zone=None)
NIGHT = replace(ANN, quiet_from=22 * 60, quiet_until=7 * 60)
NAP = replace(ANN, quiet_from=13 * 60, quiet_until=14 * 60)


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def test_quiet_hours_are_off_by_default() -> None:
    assert not is_quiet(ANN, "UTC", at("2026-07-01T03:00"))


@pytest.mark.parametrize(
    ("moment", "quiet"),
    [
        *((moment, True) for moment in ("22:00", "23:59", "00:00", "06:59")),
        *((moment, False) for moment in ("21:59", "07:00", "12:00")),
    ],
)
def test_hours_may_go_over_midnight(moment: str, quiet: bool) -> None:
    assert is_quiet(NIGHT, "UTC", at(f"2026-07-01T{moment}")) is quiet


@pytest.mark.parametrize(
    ("moment", "quiet"), [("12:59", False), ("13:00", True), ("13:59", True), ("14:00", False)]
)
def test_hours_may_lie_within_a_day(moment: str, quiet: bool) -> None:
    assert is_quiet(NAP, "UTC", at(f"2026-07-01T{moment}")) is quiet


@pytest.mark.parametrize(
    ("moment", "quiet"),
    [
        ("2026-03-28T20:59", False),  # Vienna is an hour ahead
        ("2026-03-28T21:00", True),
        ("2026-03-29T04:59", True),  # two hours since one o'clock UTC of that night
        ("2026-03-29T05:00", False),
        ("2026-10-24T20:00", True),
        ("2026-10-25T05:59", True),  # and one again
        ("2026-10-25T06:00", False),
    ],
)
def test_the_clock_that_counts_is_theirs_also_in_the_nights_it_changes(
    moment: str, quiet: bool
) -> None:
    assert is_quiet(NIGHT, "Europe/Vienna", at(moment)) is quiet


def test_an_end_that_the_clock_skips_is_the_end_of_the_gap() -> None:
    early = replace(NIGHT, quiet_until=2 * 60 + 30)
    until = quiet_until(early, (), "Europe/Vienna", at("2026-03-29T00:30"))
    assert until == at("2026-03-29T01:00")


def test_an_unknown_zone_is_taken_for_utc() -> None:
    assert is_quiet(NIGHT, "Mars/Base", at("2026-07-01T23:00"))
