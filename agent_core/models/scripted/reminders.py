"""Parse when the stand-in should remind a person, in English and German; pure."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from agent_core.localization import Text, find_language, use_language
from agent_core.models.scripted.commands import Remind
from agent_core.spoken_rules import read_spoken
from agent_core.spoken_times import DAY_NAMES, EVERY, LAST, SpokenTime, read_timing, read_when
from agent_core.spoken_zones import take_zone
from agent_core.time_phrases import MONTHS, list_meanings
from agent_core.written_language import find_written

_RECURRING = tuple(when.removesuffix("?") for when in (LAST, EVERY))
"""With a time of day, these words need no "remind me". Without one, they are no request: "Every day
I run".
"""
_WAKE = r"wake me(?: up)?|wecke? mich"
_ALARM = (
    rf"(?:{_WAKE}|(?:set|make|add|create)(?: me)? an? alarm"
    r"|(?:stelle?|setze?|mache?)(?: mir)? einen wecker)"
)
ME = (
    r"(?:(?:do not|don['’]?t) forget to remind (?:me|us)|remind (?:me|us|everyone|everybody)"
    r"|(?:please )?(?:do not|don['’]?t) let (?:me|us) forget"
    r"|i (?:want|need|would like) to be reminded|i['’]d like to be reminded"
    r"|lass mich(?: bitte)? nicht vergessen,?"
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
    r"(?:(?:kannst|könntest|würdest) du mich (?P<rest>.+?) (?:erinnern|wecken)"
    r"|ich (?:möchte|will|würde gern\w*) (?P<wanted>.+?) erinnert werden"
    r"|vergiss nicht,? mich (?P<kept>.+?) zu (?:erinnern|wecken))(?P<more>,? .+)?"
)
"""A wish whose verb comes after the rest."""
_BARE_VERB = r"(?P<rest>(?!.*\b(?:dich|sich|mich|ich|du|wir)\b).+) erinnern"
"""An order without a person: "in 3 Stunden Wäsche aufhängen erinnern"."""
_HEADED = r"(?:reminder|erinnerung)(?: for| für)?[,:]? (?P<rest>.+)"
_TIME_THEN_TEXT = (
    r"(?P<when>(?:in|at|um|on|am|today|tomorrow|heute|morgen)\b.*?\d.*?): (?P<rest>.+)"
)
"""A time of day or a span, and what to say then: "in 20 minutes: tea"."""
_PLEASE = re.compile(
    r"(?<!\bsay)(?<!\bsag)(?<!\bsaying)(?<!\bsagen)(?<!\bsage)(?<!^)"
    r",? (?:please|pls|bitte)\b(?! und| and),?"
)
"""A "please" within a wish; as a noun, "Bitte" has a capital letter."""
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
    r",? ?\b(?:to(?! \d)|that|about|for|daran|dass|zu|ans|an|für|fürs)\b|:(?!\d)", re.IGNORECASE
)
"""Words with which the text of a reminder begins."""
_TOLD = re.compile(r"(?:,? ?(?:to|that|about|daran|dass|zu)\b|ans?\b|fürs?\b)", re.IGNORECASE)
"""A word that says that all the rest is the text, which may name other times."""
_DAY = "|".join(DAY_NAMES)
_MONTH = "|".join(name for names in MONTHS for name in names)
_SIZE = (
    r"(?:min|mins|minutes?|minuten?|h|hours?|stunden?|days?|tage?n?|weeks?|wochen?|months?"
    r"|monate?n?|years?|jahre?n?)"
)
_COUNT = r"(?:\d+|an?|one|two|three|four|five|six|ten|eine?[mnr]?|zwei|drei|vier|fünf|sechs|zehn)"
_HOLDS_TIME = re.compile(
    r"(?:\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}\.\d{1,2}\.(?:\d{4}\b)?"
    rf"|\b(?:{_DAY})s?\b(?!['’])|\b(?:week|woche|month|monat)\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:{_MONTH})\b"
    rf"|\b(?:{_MONTH}) \d|\b(?:in|im|next|nächsten|of) (?:{_MONTH})\b"
    rf"|\b{_COUNT} {_SIZE}\b|\b(?:at|um|@) ?\d"
    r"|\b(?:tomorrow|today|tonight|heute|übermorgen)\b(?!['’])"
    r"|\b(?:christmas|weihnachten|easter|ostern)\b)",
    re.IGNORECASE,
)
"""Words of a time that a reminder must not take for a part of its text unread."""
_PLACE_TIME = re.compile(r"(?:[A-ZÄÖÜ][\w.]+ ){1,2}(?:time|Zeit)\b")
"""The clock of a place: "Atlantis time"."""
_PREPOSITION = (
    r"(?:on|at|in|am|an|im|um|every|each|jede[nrs]?|next|nächste\w*|from|after|before|nach|vor"
    r"|until|till|bis|within|by|ab|this)\b"
)
_BEFORE_A_TIME = re.compile(
    rf"\b{_PREPOSITION}(?: (?!(?:to|about|for|für)\b|{_PREPOSITION})\S+){{0,3}}? ?$", re.IGNORECASE
)
_LAST_WORDS = 2
"""The most words behind a time that ends a text: "on Friday the 13th"."""
_REPEATS_UNTIL = re.compile(
    r"(?:until|till|bis|for|für)\b.+|.+ lang|\d+ (?:times|mal)", re.IGNORECASE
)
"""The words behind a text that may be the end of what repeats."""
_DAILY = re.compile(
    r"\b(?:(?:every|each) (?:day|morning|evening|night)|daily|täglich"
    r"|jeden (?:tag|morgen|abend))\b",
    re.IGNORECASE,
)
_OF_TEXT = re.compile(r"(?:for|für)\b", re.IGNORECASE)
"""A span that belongs to the text, unless times repeat daily: "every Friday … a car for 3 days"."""
_CLAUSE = re.compile(r"\b(?:that|whether|if|dass|ob)\b", re.IGNORECASE)
"""A text with a clause has its own "until": "check that the shop is open until Friday"."""
_OPEN_END = re.compile(r"\b(?:until|till|bis|before|vor|from|von|ab|and|und)$", re.IGNORECASE)
_ANY_DAY = datetime(2000, 1, 1)
_LONGEST_TIME = 12
"""Words of a time."""
_ENDED, _WAKE_UP = Text("Time's up"), Text("Wake up")
"""What a timer and an alarm say that were set without words."""


def read_reminder(
    line: str, match: Callable[[str, str], re.Match[str] | None], now: datetime | None
) -> Remind | None:
    """Parse a line; `match` matches a pattern with the line, and `now` is the person's clock.

    Without a clock, it can't understand a day such as "tomorrow". An alarm comes before noon, if
    its words leave that open. What it says without words is in the language of the line.
    """
    line = leave_out_please(line)
    with use_language(find_written(line), find_language()):
        planned = _read_wish(line, match, now)
        if planned and planned.at and now and match(rf"{_ALARM} .+", line):
            first = _read_wish(line, match, now.replace(hour=0, minute=0))
            last = _read_wish(line, match, now.replace(hour=23, minute=59))
            return _find_morning(planned, first, last, now)
    return planned


def _find_morning(
    alarm: Remind, first: Remind | None, last: Remind | None, now: datetime
) -> Remind:
    """Return an alarm in the morning; as it is, if its words name the half of the day.

    `first` and `last` are its readings at the beginning and at the end of the day.
    """
    if first is None or last is None or first.at[11:] == alarm.at[11:]:
        return alarm
    morning = datetime.fromisoformat(first.at)
    if morning <= now.replace(tzinfo=None):
        morning += timedelta(days=1)
    at = f"{morning:%Y-%m-%dT%H:%M}"
    return replace(alarm, at=at) if at[:10] <= last.at[:10] else alarm


def leave_out_please(line: str) -> str:
    """Return a line without the politeness within it."""
    return _PLEASE.sub("", line)


def _read_wish(
    line: str, match: Callable[[str, str], re.Match[str] | None], now: datetime | None
) -> Remind | None:
    if found := match(_AT_END, line):
        rest = found["rest"] or found["wanted"] or found["kept"]
        line = f"erinnere mich {rest}{found['more'] or ''}"
    elif found := match(_BARE_VERB, line) or match(_HEADED, line):
        return _read_any(found["rest"], now)
    if found := match(_TIMER, line):
        return _read_first(f"in {found['span'] or found['dauer']}", now)
    if (found := match(rf"(?:{_WAKE}) (?P<when>.+)", line)) and (
        timing := _read_time(found["when"], now)
    ):
        return _remind(_WAKE_UP(), timing)
    if found := match(rf"{ME} (?P<rest>.+)", line):
        return _read_any(found["rest"], now)
    if (found := match(_TIME_THEN_TEXT, line)) and (timing := _read_time(found["when"], now)):
        return _remind(found["rest"], timing)
    if found := match(rf"(?P<when>.+?)[,:]? {ME}[,:]? (?P<rest>.+)", line):
        timing = _read_time(found["when"], now)
        return _remind_until(found["rest"], found["when"], timing, now) if timing else None
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
    found = match(rf"(?:.+ )?{ME} (?P<rest>.+)", leave_out_please(line))
    split = found["rest"].split() if found else []
    for count in range(min(len(split), _LONGEST_TIME), 0, -1):
        words = " ".join(split[:count])
        if _read_time(words, now):
            text = " ".join(split[count:])
            rest = _TEXT_BEGINS.split(text, maxsplit=1)[0].strip(" ,")
            return words.rstrip(","), rest or _find_end(text)
    for start in range(max(1, len(split) - _LONGEST_TIME), len(split)):
        words = " ".join(split[start:])
        if _read_time(words, now):
            return words, _find_end(" ".join(split[:start]).rstrip(","))
    whole = " ".join(split)
    return "", _TEXT_BEGINS.split(whole, maxsplit=1)[0].strip(" ,") or _find_end(whole)


def _read_any(words: str, now: datetime | None) -> Remind | None:
    return _read_first(words, now) or _read_last(words, now)


def _read_first(words: str, now: datetime | None) -> Remind | None:
    """Read "tomorrow at 9 to feed the dog": the most words that are a time, then the text."""
    split = words.split()
    for count in range(min(len(split), _LONGEST_TIME), 0, -1):
        when, text = " ".join(split[:count]), " ".join(split[count:])
        if timing := _read_time(when, now):
            if names_other_day(when, _find_end(text), now):
                return None
            return _remind_until(text, when, timing, now)
    return None


def _remind_until(words: str, when: str, timing: Remind, now: datetime | None) -> Remind | None:
    """Read a text with the end of a repetition behind it: "take the pills until Friday"."""
    split = words.split()
    for start in range(1, len(split)):
        text, end = " ".join(split[:start]), " ".join(split[start:])
        is_span = _OF_TEXT.match(end) is not None and _DAILY.search(when) is None
        is_own = is_span or end[0].isdecimal() or _CLAUSE.search(text) is not None
        is_end = _REPEATS_UNTIL.fullmatch(end) and (text.endswith(",") or not is_own)
        if is_end and (limited := _read_time(f"{when.rstrip(',')} {end}", now)):
            return _remind(text.rstrip(","), limited)
    return _remind(words, timing)


def names_other_day(when: str, end: str, now: datetime | None) -> bool:
    """Return whether the words at the end of a text may be the day of a time of day before it.

    In "at 9 to call Ben on Friday", Friday may be the day of the call, or of the reminder.
    """
    joint = _read_time(f"{end} {when}", now) if end and not _names_day(when) else None
    return joint is not None and joint != _read_time(when, now)


def _names_day(when: str) -> bool:
    """Return whether words for a time are more than a time of day."""
    return read_when(f"2000-01-01 {when}", _ANY_DAY) is None


def _read_last(words: str, now: datetime | None) -> Remind | None:
    """Read "to feed the dog tomorrow at 9": the text, then the most words that are a time."""
    split = words.split()
    for start in range(max(1, len(split) - _LONGEST_TIME), len(split)):
        when = " ".join(split[start:])
        if timing := _read_time(when, now):
            text = " ".join(split[:start]).rstrip(",")
            end = _find_end(text)
            if end and not (_names_day(when) and _read_time(end, now)):
                return None
            return _remind(text, timing)
    return None


def _find_end(text: str) -> str:
    """Return the words at the end of a text that are of a time; "" if there are none."""
    found = [*_HOLDS_TIME.finditer(text), *_PLACE_TIME.finditer(text)]
    last = max(found, key=lambda one: one.end(), default=None)
    if last is None or len(text[last.end() :].split()) > _LAST_WORDS:
        return ""
    led = _BEFORE_A_TIME.search(text[: last.start()])
    is_date = last[0][0].isdigit() and last[0][-1].isdigit()
    is_date = is_date or last.re is _PLACE_TIME
    if led is None and not is_date and not _BEFORE_A_TIME.match(last[0].split()[0]):
        return ""
    return text[led.start() if led else last.start() :].strip()


def _read_time(words: str, now: datetime | None) -> Remind | None:
    """Read words that are a time, without a text; a bare number is none."""
    said = words.rstrip(",:")
    if said.isdecimal() or _OPEN_END.search(said):
        return None
    here, zone = take_zone(said)
    if now and (zone or list_meanings(here)):  # the tool asks which date, and knows the zone
        is_read = all(_read_time(one, now) for one in list_meanings(here) or (here,))
        return Remind(words=said) if is_read else None
    if spoken := read_when(said, now):
        return _with_time(spoken)
    return Remind(words=said) if now and read_spoken(said, now) else None


def _with_time(timing: SpokenTime) -> Remind:
    return Remind(**asdict(timing))


def _remind(words: str, timing: Remind) -> Remind | None:
    text = _BEFORE_TEXT.sub("", words, count=1) if _BEFORE_TEXT.match(words) else words
    if not _TOLD.match(words):
        stretch = _TEXT_BEGINS.split(text, maxsplit=1)[0]
        if _TIMED.match(text) or _HOLDS_TIME.search(stretch) or _PLACE_TIME.match(stretch):
            return None
    text = _ABOUT_IT.sub("", text, count=1) if _ABOUT_IT.match(text) else text
    return replace(timing, text=text.strip() or _ENDED())
