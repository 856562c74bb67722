"""A moment is shown on a person's own clock."""

import pytest

from agent_core.tools.clock import local_time

NOON = 1_770_033_600_000


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "2026-02-02 12:00 +0000"),
        ("Europe/Berlin", "2026-02-02 13:00 +0100"),
        ("Asia/Kathmandu", "2026-02-02 17:45 +0545"),
    ],
)
def test_a_known_zone_moves_the_clock(zone: str, shown: str) -> None:
    assert local_time(NOON, zone).strftime("%Y-%m-%d %H:%M %z") == shown


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "Europe", "x" * 5000])
def test_an_unknown_zone_gives_utc_and_a_warning(
    zone: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert local_time(NOON, zone).strftime("%H:%M %z") == "12:00 +0000"
    assert "unknown" in caplog.text
