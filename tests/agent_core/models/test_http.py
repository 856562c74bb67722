"""How long a server asks to be left alone."""

import pytest

from agent_core.models.http import parse_retry_after

NOW = 1_795_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("Wed, 18 Nov 2026 11:07:10 GMT", 30),
        ("Wed, 18 Nov 2026 11:00:00 GMT", 0),
        ("", None),
        (None, None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 99 Nov 2026 99:99:99 GMT", None),
    ],
)
def test_seconds_and_dates_are_read_and_nonsense_is_not(
    value: str | None, seconds: float | None
) -> None:
    assert parse_retry_after(value, NOW) == seconds
