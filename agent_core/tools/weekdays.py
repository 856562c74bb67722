"""Weekdays as people write them, into numbers and back; 1 is Monday, 7 is Sunday. Pure."""

import re
from collections.abc import Sequence

from agent_core.errors import ToolArgumentError

NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WHOLE = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LEAST = 3
"""Letters that name a day."""
_WEEKEND = (6, 7)
_NOTHING = ("", "off", "none")
_BETWEEN = re.compile(r"[\s,;]+(?:and[\s,;]+)?")


def read_days(value: str) -> tuple[int, ...]:
    """The weekdays that a text like `sat,sun` or `weekend` names; none for `off` or nothing.

    Raises `ToolArgumentError` with a sentence.
    """
    text = value.strip().casefold()
    if text in _NOTHING:
        return ()
    if text in ("weekend", "weekends"):
        return _WEEKEND
    days = tuple(sorted({_read_day(word, value) for word in _BETWEEN.split(text.strip(" ,;"))}))
    if len(days) == len(NAMES):
        raise ToolArgumentError("with seven days off nothing would ever come; leave one out")
    return days


def describe_days(days: Sequence[int]) -> str:
    """Weekdays as people write them, or nothing."""
    return ", ".join(NAMES[day - 1] for day in sorted(days))


def _read_day(word: str, value: str) -> int:
    singular = word.removesuffix("s") if word not in ("tues", "thurs") else word
    for number, whole in enumerate(_WHOLE, start=1):
        if len(singular) >= _LEAST and whole.startswith(singular):
            return number
    raise ToolArgumentError(f'"{value}" are no days; write them like sat,sun, or weekend, or off')
