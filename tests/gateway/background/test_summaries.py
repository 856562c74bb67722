"""The moments of summaries: nine o'clock where the person is, weekly on Mondays."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from agent_core.state.people.people import Summary
from gateway.background.reviews import find_summary


@pytest.mark.parametrize(
    ("summary", "now", "expected"),
    [
        ("daily", "2026-11-24T08:59", "2026-11-24T09:00+01:00"),
        ("daily", "2026-11-24T09:00", "2026-11-25T09:00+01:00"),
        ("daily", "2026-03-28T12:00", "2026-03-29T09:00+02:00"),  # the clocks go forward
        ("weekly", "2026-11-24T08:00", "2026-11-30T09:00+01:00"),
        ("weekly", "2026-11-30T08:00", "2026-11-30T09:00+01:00"),
        ("weekly", "2026-11-30T09:00", "2026-12-07T09:00+01:00"),
    ],
)
def test_a_summary_comes_in_the_next_morning(summary: Summary, now: str, expected: str) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=ZoneInfo("Europe/Vienna"))
    assert find_summary(moment, summary).isoformat(timespec="minutes") == expected
