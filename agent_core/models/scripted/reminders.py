"""Parse when the stand-in should remind a person, in English and German; pure."""

import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime

from agent_core.models.scripted.commands import Remind
from agent_core.spoken_times import EVERY, LAST, WHENS, read_timing

_RECURRING = tuple(when.removesuffix("?") for when in (LAST, EVERY))
"""With a time of day, these words need no "remind me". Without one, they are no request: "Every day
I run".
"""
ME = r"(?:remind me|erinnere? mich)"
_TO = r"(?:,? ?(?:to|that|about|daran,?|dass|:)|[,:])? (?P<text>.+)"
_REST = re.compile(
    r"(?:(?:at|um|@|and|und|on|am|from|ab|until|till|bis)\b ?|@ ?)"
    r"(?:\d|noon|midnight|mittag|mitternacht|\w+(?:day|tag)s?\b|mittwoch)",
    re.IGNORECASE,
)
"""The beginning of a text that belongs to the time, so that the time was not understood."""
_PATTERNS = (
    *(rf"{ME} {when}{_TO}" for when in WHENS),
    *(rf"{when}[,:]? {ME}{_TO}" for when in WHENS),
    *(rf"{when}{_TO}" for when in _RECURRING),
    *(rf"{ME}(?: (?:to|that|about|daran,?))? (?P<text>.+?),? {when}" for when in WHENS),
)


def read_reminder(
    line: str, match: Callable[[str, str], re.Match[str] | None], now: datetime | None
) -> Remind | None:
    """Parse a line; `match` matches a pattern with the line, and `now` is the person's clock.

    Without a clock, it can't understand a day such as "tomorrow".
    """
    for pattern in _PATTERNS:
        found = match(pattern, line)
        timing = read_timing(found, now) if found else None
        if found and timing and not _REST.match(found["text"]):
            return Remind(text=found["text"].strip(), **asdict(timing))
    return None
