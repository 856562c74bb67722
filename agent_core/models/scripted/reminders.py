"""Parse when the stand-in should remind a person, in English and German; pure."""

import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime

from agent_core.localization import Text
from agent_core.models.scripted.commands import Remind
from agent_core.spoken_times import EVERY, LAST, SpokenTime, read_timing, read_when

_RECURRING = tuple(when.removesuffix("?") for when in (LAST, EVERY))
"""With a time of day, these words need no "remind me". Without one, they are no request: "Every day
I run".
"""
_WAKE = r"wake me(?: up)?|wecke? mich"
ME = (
    r"(?:remind (?:me|us|everyone|everybody)"
    r"|(?:set|make|add|create)(?: me)? an? (?:reminder|alarm)(?: for me)?(?: for)?"
    r"|erinnere? (?:mich|uns|alle)"
    r"|(?:stelle?|setze?|mache?)(?: mir)? (?:eine erinnerung|einen wecker)(?: für| auf)?"
    rf"|{_WAKE})"
)
_TIMER = (
    r"(?:(?:set|start)(?: me)? )?(?:a |the )?timer(?: for)? (?P<span>.+)"
    r"|(?:stelle?|starte?)(?: mir)? (?:einen|den) timer(?: auf| für)? (?P<dauer>.+)"
)
_AT_END = (
    r"(?:kannst|könntest|würdest) du mich (?:bitte )?(?P<rest>.+?) (?:erinnern|wecken)"
    r"(?P<more>,? .+)?"
)
"""A wish whose verb comes after the rest."""
_BEFORE_TEXT = re.compile(r"(?:,? ?(?:to|that|about|daran,?|dass|zu|:)|[,:]) ?", re.IGNORECASE)
"""The words between a time and what to say then."""
_ABOUT_IT = re.compile(r"an (?:(?:die|den|das|der|dem) )?(?=[A-ZÄÖÜ]|mein|unser|dein)")
"""The German "an den" before what to think of: "an den Müll" is said as "Müll"."""
_TIMED = re.compile(
    r"(?:(?:at|um|@|and|und|on|am|from|ab|until|till|bis)\b ?|@ ?)"
    r"(?:\d|noon|midnight|mittag|mitternacht|\w+(?:day|tag)s?\b|mittwoch)"
    r"|(?:today|tonight|tomorrow|heute|morgen|übermorgen|this|next)\b"
    r"|(?:except|but not|not on|außer|ausser|nicht am|nicht an)\b"
    r"|on [\w ]+ to\b|(?:morning|afternoon|evening|night|früh|vormittag|nachmittag|abend)\b",
    re.IGNORECASE,
)
"""The beginning of a text that belongs to the time, so that the time was not understood."""
_ANY_TIME = re.compile(
    rf"{_TIMED.pattern}|\b(?:every|each|daily|weekly|soon|later|jede[nrs]?|bald|später|täglich)\b",
    re.IGNORECASE,
)
"""Words that say something of a time, anywhere in a text."""
_LONGEST_TIME = 12
"""Words of a time."""
_ENDED, _WAKE_UP = Text("Time's up"), Text("Wake up")
"""What a timer and an alarm say that were set without words."""


def read_reminder(
    line: str, match: Callable[[str, str], re.Match[str] | None], now: datetime | None
) -> Remind | None:
    """Parse a line; `match` matches a pattern with the line, and `now` is the person's clock.

    Without a clock, it can't understand a day such as "tomorrow".
    """
    if found := match(_AT_END, line):
        line = f"erinnere mich {found['rest']}{found['more'] or ''}"
    if found := match(_TIMER, line):
        return _read_first(f"in {found['span'] or found['dauer']}", now)
    if (found := match(rf"(?:{_WAKE}) (?P<when>.+)", line)) and (
        timing := _read_time(found["when"], now)
    ):
        return _remind(_WAKE_UP(), timing)
    if found := match(rf"{ME} (?P<rest>.+)", line):
        return _read_first(found["rest"], now) or _read_last(found["rest"], now)
    if found := match(rf"(?P<when>.+?)[,:]? {ME}[,:]? (?P<rest>.+)", line):
        timing = _read_time(found["when"], now)
        return _remind(found["rest"], timing) if timing else None
    for when in _RECURRING:
        found = match(rf"{when}[,:]? (?P<text>.+)", line)
        timing = read_timing(found, now) if found else None
        if found and timing:
            return _remind(found["text"], timing)
    return None


def read_untimed(line: str, match: Callable[[str, str], re.Match[str] | None]) -> str | None:
    """Return what a line wants to be reminded of, if it says nothing of a time."""
    found = match(
        rf"{ME} (?:to|about|that|daran,?(?: dass)?|an(?: d(?:ie|en|as|er|em))?) (?P<text>[^\d]+)",
        line,
    )
    if found is None or _ANY_TIME.search(found["text"]):
        return None
    return found["text"].strip()


def _read_first(words: str, now: datetime | None) -> Remind | None:
    """Read "tomorrow at 9 to feed the dog": the most words that are a time, then the text."""
    split = words.split()
    for count in range(min(len(split), _LONGEST_TIME), 0, -1):
        if timing := _read_time(" ".join(split[:count]), now):
            return _remind(" ".join(split[count:]), timing)
    return None


def _read_last(words: str, now: datetime | None) -> Remind | None:
    """Read "to feed the dog tomorrow at 9": the text, then the most words that are a time."""
    split = words.split()
    for start in range(max(1, len(split) - _LONGEST_TIME), len(split)):
        if timing := _read_time(" ".join(split[start:]), now):
            return _remind(" ".join(split[:start]).rstrip(","), timing)
    return None


def _read_time(words: str, now: datetime | None) -> SpokenTime | None:
    """Read words that are a time; a bare number is none."""
    said = words.rstrip(",:")
    return None if said.isdecimal() else read_when(said, now)


def _remind(words: str, timing: SpokenTime) -> Remind | None:
    text = _BEFORE_TEXT.sub("", words, count=1) if _BEFORE_TEXT.match(words) else words
    if _TIMED.match(text):
        return None
    text = _ABOUT_IT.sub("", text, count=1) if _ABOUT_IT.match(text) else text
    return Remind(text=text.strip() or _ENDED(), **asdict(timing))
