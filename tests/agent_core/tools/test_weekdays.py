"""Weekdays in the words that people use."""

import pytest

from agent_core.errors import ToolArgumentError
from agent_core.tools.clock import describe_days, read_days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        *(("sat,sun", (6, 7)), ("Sunday, Saturday", (6, 7)), ("weekends", (6, 7))),
        *(("fri and sat", (5, 6)), ("Mondays", (1,)), ("tues; thurs", (2, 4))),
        *(("Samstag und Sonntag", (6, 7)), ("mo, di", (1, 2)), ("am Wochenende", (6, 7))),
        *(("sat sat", (6,)), ("off", ()), ("", ()), ("None", ())),
    ],
)
def test_days_are_read(text: str, days: tuple[int, ...]) -> None:
    assert read_days(text) == days


@pytest.mark.parametrize("text", ["s", "su", "6,7", "sat-sun", ",", "and"])
def test_what_is_no_day_is_said(text: str) -> None:
    with pytest.raises(ToolArgumentError, match="isn't a list of days"):
        read_days(text)


def test_seven_days_off_are_refused() -> None:
    with pytest.raises(ToolArgumentError, match="you would never get anything"):
        read_days("mon,tue,wed,thu,fri,sat,sun")


def test_days_are_told_in_the_order_of_the_week() -> None:
    assert describe_days((7, 1)) == "Mon, Sun"
    assert describe_days(()) == ""
