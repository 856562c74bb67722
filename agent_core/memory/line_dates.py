"""The dates in lines of memory: when words were said, and the last day on which a fact holds.

They stand in the text itself, so that people read and change them like the rest. Pure.
"""

import re
from datetime import date

_UNTIL = re.compile(r"\(until (\d{4}-\d\d-\d\d)\)\s*$")
_SAID = re.compile(r"^\d{4}-\d\d-\d\d: ")


def add_end(line: str, day: str) -> str:
    """Return a line with its last day, such as `2027-01-31`; the line itself without a day."""
    return f"{line} (until {day})" if day else line


def date_words(words: str, day: date) -> str:
    """Return a person's own words as a line."""
    return f"{day.isoformat()}: “{words}”"


def drop_dates(line: str) -> str:
    """Return what a line says, without the dates that were added to it."""
    return _SAID.sub("", _UNTIL.sub("", line)).strip()


def has_end(line: str) -> bool:
    """Return whether a line names its last day."""
    return _UNTIL.search(line) is not None


def has_ended(line: str, today: date) -> bool:
    """Return whether the last day of a line has passed."""
    found = _UNTIL.search(line)
    try:
        return found is not None and date.fromisoformat(found[1]) < today
    except ValueError:  # a day that no month has, written by hand
        return False
