"""Fields of a job that small models fill in without meaning them."""

from typing import Any

import pytest

from agent_core.schedule.job_fields import read_fields
from agent_core.schedule.unused_fields import leave_out, note_left_out

ONCE: dict[str, Any] = {"kind": "message", "text": "call Ben", "at": "2026-12-01T09:00"}
ROWS: list[tuple[dict[str, Any], set[str]]] = [
    (ONCE, set()),
    ({**ONCE, "place": "console"}, {"place"}),
    ({**ONCE, "gate": "none", "tools": ["recall"], "aware": False}, {"gate", "tools", "aware"}),
    (
        {**ONCE, "pause_after": 0, "count": 0, "every_minutes": 0},
        {"pause_after", "count", "every_minutes"},
    ),
    ({**ONCE, "cron": "", "times": [], "on": "", "rule": ""}, {"cron", "times", "on", "rule"}),
    (
        {**ONCE, "starts": "2026-12-01", "until": "2026-12-01", "count": 1},
        {"starts", "until", "count"},
    ),
    ({**ONCE, "rule": "FREQ=DAILY"}, set()),
    ({"kind": "prompt", "text": "look", "cron": "0 8 * * *", "gate": "feed x"}, set()),
    ({"kind": "message", "text": "a", "cron": "0 8 * * *", "until": "2026-12-01"}, set()),
    ({"kind": "message", "text": "a", "times": ["sunset"], "place": "48.2,16.4"}, set()),
]


@pytest.mark.parametrize(("given", "expected"), ROWS)
def test_what_means_nothing_is_left_out(given: dict[str, Any], expected: set[str]) -> None:
    fields = read_fields(given)
    kept, names = leave_out(fields, given["kind"])
    assert set(names) == expected
    assert all(getattr(kept, name) is None for name in names)
    assert kept.text == given["text"]
    assert all(f"`{name}`" in note_left_out(names) for name in names)
