"""Parse when the stand-in should remind a person, in English and German; pure."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime

from agent_core.localization import Text
from agent_core.models.scripted.commands import Remind
from agent_core.spoken_rules import read_spoken
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
_BEFORE_TEXT = re.compile(
    r"(?:,? ?(?:(?:to|that|about|for|daran|dass|zu)\b,?|:)|[,:]) ?", re.IGNORECASE
)
"""The words between a time and what to say then."""
_ABOUT_IT = re.compile(
    r"(?:an|für) (?:(?:die|den|das|der|dem) )?(?=[A-ZÄÖÜ]|mein|unser|dein)|(?:ans|fürs) "
)
"""The German "an den" before what to think of: "an den Müll" is said as "Müll"."""
_TIMED = re.compile(
    r"(?:(?:at|um|@|and|und|on|am|from|ab|until|till|bis)\b ?|@ ?)"
    r"(?:\d|noon|midnight|mittag|mitternacht|\w+(?:day|tag)s?\b|mittwoch)"
    r"|(?:today|tonight|tomorrow|heute|morgen|übermorgen|this|next)\b"
    r"|(?:except|but|not on|apart from|other than|außer|ausser|bis auf|nicht am|nicht an)\b"
    r"|(?:between|zwischen|from|von|before|vor|and|und)\b (?:(?:at|um|on|am|the|dem|den) )?"
    r"(?:\d|noon|mittag|\w+(?:day|tag)s?\b|mittwoch|easter|ostern|christmas|weihnachten)"
    r"|(?:on|before|after|during|vor|nach|während) [\w ]+ (?:to|zu)\b"
    r"|(?:morning|afternoon|evening|night|früh|vormittag|nachmittag|abend)\b",
    re.IGNORECASE,
)
"""The beginning of a text that belongs to the time, so that the time was not understood."""
_ANY_TIME = re.compile(
    rf"{_TIMED.pattern}|\b(?:every|each|daily|weekly|soon|later|jede[nrs]?|bald|später|täglich)\b",
    re.IGNORECASE,
)
"""Words that say something of a time, anywhere in a text."""
_TEXT_BEGINS = re.compile(
    r",? ?\b(?:to(?! \d)|that|about|for|daran|dass|zu|ans|an|für|fürs)\b|[:]", re.IGNORECASE
)
"""Words with which the text of a reminder begins."""
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
        spoken = read_timing(found, now) if found else None
        if found and spoken:
            return _remind(found["text"], _with_time(spoken))
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


def find_unread(
    line: str, match: Callable[[str, str], re.Match[str] | None], now: datetime | None
) -> tuple[str, str]:
    """Find why the time of a wish can't be read: the words of it that can be read, and the others.

    Each is "" if there are none.
    """
    found = match(rf"(?:.+ )?{ME} (?P<rest>.+)", line)
    split = found["rest"].split() if found else []
    for count in range(min(len(split), _LONGEST_TIME), 0, -1):
        words = " ".join(split[:count])
        if _read_time(words, now):
            rest = _TEXT_BEGINS.split(" ".join(split[count:]), maxsplit=1)[0]
            return words.rstrip(","), rest.strip(" ,")
    return "", _TEXT_BEGINS.split(" ".join(split), maxsplit=1)[0].strip(" ,")


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


def _read_time(words: str, now: datetime | None) -> Remind | None:
    """Read words that are a time, without a text; a bare number is none."""
    said = words.rstrip(",:")
    if said.isdecimal():
        return None
    if spoken := read_when(said, now):
        return _with_time(spoken)
    return Remind(words=said) if now and read_spoken(said, now) else None


def _with_time(timing: SpokenTime) -> Remind:
    return Remind(**asdict(timing))


def _remind(words: str, timing: Remind) -> Remind | None:
    text = _BEFORE_TEXT.sub("", words, count=1) if _BEFORE_TEXT.match(words) else words
    if _TIMED.match(text):
        return None
    text = _ABOUT_IT.sub("", text, count=1) if _ABOUT_IT.match(text) else text
    return replace(timing, text=text.strip() or _ENDED())
