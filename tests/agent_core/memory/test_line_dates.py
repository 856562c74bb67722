"""Dates in lines of memory, which end some of them."""

from datetime import date

import pytest

from agent_core.memory.line_dates import add_end, date_words, has_ended


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("Lives in Ghent (until 2027-02-28)", False),
        ("Lives in Ghent (until 2027-02-27)", True),
        ("Lives in Ghent (until 2027-02-27) ", True),
        ("Lives in Ghent (until 2027-02-30)", False),
        ("Lives in Ghent (until February)", False),
        ("Was in Ghent (until 2020-01-01), now in Bath", False),
        ("Lives in Ghent", False),
    ],
)
def test_a_line_ends_after_its_last_day(line: str, ended: bool) -> None:
    assert has_ended(line, date(2027, 2, 28)) is ended


def test_dates_are_written_into_the_line() -> None:
    assert add_end("Lives in Ghent", "2027-02-28") == "Lives in Ghent (until 2027-02-28)"
    assert add_end("Lives in Ghent", "") == "Lives in Ghent"
    assert date_words("I don't eat meat", date(2026, 11, 29)) == "2026-11-29: “I don't eat meat”"
