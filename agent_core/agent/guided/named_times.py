"""Find the times that a message names, to compare them with those that a model read; pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NUMBERS = (
    ("one", "ein", "eins", "una"),
    ("two", "zwei", "dos"),
    ("three", "drei", "tres"),
    ("four", "vier", "cuatro"),
    ("five", "fünf", "cinco"),
    ("six", "sechs", "seis"),
    ("seven", "sieben", "siete"),
    ("eight", "acht", "ocho"),
    ("nine", "neun", "nueve"),
    ("ten", "zehn", "diez"),
    ("eleven", "elf", "once"),
    ("twelve", "zwölf", "doce"),
)
_VALUES = {word: place for place, words in enumerate(_NUMBERS, start=1) for word in words}
_TENS = {"fifteen": 15, "quince": 15, "twenty": 20, "zwanzig": 20, "veinte": 20}
_TENS |= {"thirty": 30, "dreißig": 30, "treinta": 30, "forty": 40, "vierzig": 40, "cuarenta": 40}
_VALUES |= _TENS | {"fünfzehn": 15, "forty-five": 45}
_HOUR = rf"(?:\d{{1,2}}|{'|'.join(word for words in _NUMBERS for word in words)})"
_VALUES |= dict.fromkeys(("a", "an", "eine", "einer", "einem", "un"), 1)
_ANY = rf"\d{{1,3}}|{'|'.join(sorted(_VALUES, key=len, reverse=True))}"
_PART = r"(?: ?(?P<half>[ap]\.?m\.?))?"

_CLOCKS = tuple(
    (re.compile(rf"(?<!\w){pattern}{_PART}(?!\w)", re.IGNORECASE), minutes)
    for pattern, minutes in (
        (rf"(?:half past|half) (?P<h>{_HOUR})", 30),
        (rf"(?:a )?quarter past (?P<h>{_HOUR})", 15),
        (rf"(?:a )?quarter (?:to|before) (?P<h>{_HOUR})", -15),
        (rf"(?P<m>{_ANY}) (?:minutes )?past (?P<h>{_HOUR})", 0),
        (rf"halb (?P<h>{_HOUR})", -30),
        (rf"viertel nach (?P<h>{_HOUR})", 15),
        (rf"viertel vor (?P<h>{_HOUR})", -15),
        (rf"dreiviertel (?P<h>{_HOUR})", -15),
        (rf"(?P<h>{_HOUR}) y media", 30),
        (rf"(?P<h>{_HOUR}) y cuarto", 15),
        (rf"(?P<h>{_HOUR}) menos cuarto", -15),
        (r"(?P<h>\d{1,2})(?:[:.h]|\s?uhr\s?)(?P<m>[0-5]\d)", 0),
        (rf"(?P<h>{_HOUR})\s?(?:o['’]?clock|uhr)", 0),
        (r"(?P<h>\d{1,2})(?= ?[ap]\.?m\b)", 0),
        (rf"(?:at|um|gegen|by|las|la|to|auf|bis|till|until) (?P<h>{_HOUR})", 0),
        (r"(?P<noon>noon|midday|mittags?|mediodía)", 0),
        (r"(?P<midnight>midnight|mitternacht|medianoche)", 0),
    )
)
"""Ways to name a time of day, with the minutes to add; a more exact one stands before others."""
_EARLY = re.compile(
    r"\b(?:in the morning|(?:this|every|each) morning|morgens|früh|jeden morgen"
    r"|(?:de la|por la|cada) mañana)\b"
)
_LATE = re.compile(
    r"\b(?:afternoon|evening|tonight|at night|nachmittags?|abends?|heute abend|nachts"
    r"|de la tarde|por la tarde|de la noche|por la noche|esta noche|esta tarde)\b"
)

_SPANS = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), minutes)
    for pattern, minutes in (
        (r"(?:half an|a half) hour|(?:einer |eine )?halben? stunde|media hora", 30),
        (r"(?:a )?quarter of an hour|viertelstunde|(?:un )?cuarto de hora", 15),
        (rf"(?P<n>{_ANY})[ -]?(?:minutes?|mins?|minuten?|minutos?)", 1),
        (rf"(?P<n>{_ANY})[ -]?(?:hours?|hrs?|stunden?|horas?)", 60),
        (rf"(?P<n>{_ANY})[ -]?(?:days?|tage?n?|días?)", 1440),
        (rf"(?P<n>{_ANY})[ -]?(?:weeks?|wochen?|semanas?)", 10_080),
    )
)

_DAYS = {
    "the day after tomorrow": r"day after tomorrow|übermorgen|pasado mañana|après-demain",
    "tomorrow": r"tomorrow|morgen|mañana|demain|domani|amanhã",
    "today": r"today|tonight|this (?:morning|afternoon|evening)|heute|hoy|esta (?:tarde|noche)"
    r"|aujourd'hui|ce soir|oggi|stasera|hoje",
    "monday": r"mondays?|montags?|lunes|lundi|lunedì|segunda",
    "tuesday": r"tuesdays?|dienstags?|martes|mardi|martedì|terça",
    "wednesday": r"wednesdays?|mittwochs?|miércoles|mercredi|mercoledì|quarta",
    "thursday": r"thursdays?|donnerstags?|jueves|jeudi|giovedì|quinta",
    "friday": r"fridays?|freitags?|viernes|vendredi|venerdì|sexta",
    "saturday": r"saturdays?|samstags?|sonnabends?|sábados?|samedi|sabato",
    "sunday": r"sundays?|sonntags?|domingos?|dimanche|domenica",
}
"""The words for each day, by its name in a decision; longer ones first."""
_MONTHS = (
    ("january", "januar", "enero"),
    ("february", "februar", "febrero"),
    ("march", "märz", "marzo"),
    ("april", "abril"),
    ("may", "mai", "mayo"),
    ("june", "juni", "junio"),
    ("july", "juli", "julio"),
    ("august", "agosto"),
    ("september", "septiembre"),
    ("october", "oktober", "octubre"),
    ("november", "noviembre"),
    ("december", "dezember", "diciembre"),
)
"""Each month, as a decision names it and in other languages."""
_MONTH = "|".join(name for names in _MONTHS for name in names)
_DAY_OF_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of |de )?({_MONTH})\b"
    rf"|\b({_MONTH}) (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b"
)
_CLOCK = re.compile(r"\b(\d\d):(\d\d)\b")
_SPAN = re.compile(r"^(?:in|every) (\d+) (minute|hour|day|week)")
_WEEKDAYS = tuple(_DAYS)[3:]
_EVERY_DAY = re.compile(rf"every ((?:{'|'.join(_WEEKDAYS)})(?: and \w+)?)")
_DATE = re.compile(r"\d{1,2} \w+")
_MOST_DAYS = 2
"""Days of a week that a decision can name."""
_EARLIEST = 6
"""The hour from which on a bare "at 6" means the morning; before, it means the afternoon."""
_LENGTHS = {"minute": 1, "hour": 60, "day": 1440, "week": 10_080}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A time of day that words name."""

    hour: int
    minute: int
    is_half_known: bool
    """True if the words tell morning from evening."""
    may_be_night: bool
    """True for "5:15": others mean the night only if they say so."""

    @property
    def likely_hour(self) -> int:
        """The hour of 24 that is meant most often."""
        is_early = not self.is_half_known and not self.may_be_night and self.hour < _EARLIEST
        return self.hour + 12 * is_early

    def fits(self, hour: int, minute: int) -> bool:
        """Return whether a time of 24 hours is what the words may mean."""
        if minute != self.minute:
            return False
        is_late = not self.is_half_known and hour >= 12 and (hour - self.hour) % 12 == 0
        return hour == self.likely_hour or is_late


def list_clocks(said: str) -> list[Clock]:
    """List the times of day in a message; each word counts for one of them."""
    text = said.lower()
    return [
        _read_clock(found.groupdict(), minutes, text) for found, minutes in _find(_CLOCKS, text)
    ]


def list_spans(said: str) -> list[int]:
    """List the spans in a message, such as "half an hour", in minutes."""
    return [
        minutes * _value(found.groupdict().get("n") or "1")
        for found, minutes in _find(_SPANS, said.lower())
    ]


def names_time(when: str, said: str) -> bool:
    """Return whether a message names the time that a model has read in it, in words or digits."""
    span = _SPAN.match(when)
    if span:
        return int(span[1]) * _LENGTHS[span[2]] in list_spans(said)
    clock = _CLOCK.search(when)
    likely = [(one.likely_hour, one.minute) for one in list_clocks(said)]
    if clock and (int(clock[1]), int(clock[2])) not in likely:
        return False
    return _names_day((when[: clock.start()] if clock else when).strip().removesuffix("at"), said)


def correct_time(when: str, said: str) -> str:
    """Return a time with the clock and the day that the words name, if they name exactly one.

    Small models misread "quarter to seven" and "this evening"; the rules of clocks are known.
    """
    clocks, read = list_clocks(said), _CLOCK.search(when)
    if not read:
        return when
    if len(clocks) == 1 and not clocks[0].fits(int(read[1]), int(read[2])):
        when = when.replace(read[0], f"{clocks[0].likely_hour:02}:{clocks[0].minute:02}")
    days, day = list(_list_days(said)), when[: read.start()].removesuffix(" at ")
    if (day in _DAYS or _DATE.fullmatch(day)) and len(days) == 1 and not _names_day(day, said):
        return when.replace(day, days[0], 1)
    weekdays = [one for one in days if one in _WEEKDAYS]
    named = _EVERY_DAY.fullmatch(day)
    if named and 0 < len(weekdays) <= _MOST_DAYS and {*weekdays} != {*named[1].split(" and ")}:
        return when.replace(named[1], " and ".join(weekdays), 1)
    return when


def is_clear(said: str) -> bool:
    """Return whether a message names one time of day, and morning or evening with it."""
    clocks = list_clocks(said)
    return len(clocks) == 1 and (clocks[0].is_half_known or clocks[0].may_be_night)


def names_any_time(said: str) -> bool:
    """Return whether anything in a message may be a time."""
    return bool(
        re.search(r"\d", said) or list_clocks(said) or list_spans(said) or any(_list_days(said))
    )


def _names_day(day: str, said: str) -> bool:
    named = list(_list_days(said))
    if day.strip() in ("", "today"):
        return named in ([], ["today"])
    if day.strip() in _DAYS or any(one not in _DAYS for one in named):
        return day.strip() in named
    numbers = {int(found) for found in re.findall(r"\d+", said)}
    return all(int(found) in numbers for found in re.findall(r"\d+", day))


def _find(
    patterns: Sequence[tuple[re.Pattern[str], int]], text: str
) -> Iterator[tuple[re.Match[str], int]]:
    """Yield all matches with their minutes; no word is in two of them."""
    for pattern, minutes in patterns:
        for found in list(pattern.finditer(text)):
            yield found, minutes
            text = f"{text[: found.start()]}{'·' * len(found[0])}{text[found.end() :]}"


def _list_days(said: str) -> Iterator[str]:
    text = said.lower()
    for found in _DAY_OF_MONTH.finditer(text):
        month = next(names[0] for names in _MONTHS if (found[2] or found[3]) in names)
        yield f"{int(found[1] or found[4])} {month}"
    for day, words in _DAYS.items():
        text, count = re.subn(rf"\b(?:{words})\b", "", text)
        if count:
            yield day


def _read_clock(given: dict[str, str | None], minutes: int, said: str) -> Clock:
    if given.get("noon") or given.get("midnight"):
        hour = 12 if given.get("noon") else 0
        return Clock(hour=hour, minute=0, is_half_known=True, may_be_night=True)
    named = given["h"] or "0"
    total = _value(named) * 60 + _value(given.get("m") or "0") + minutes
    half = (given.get("half") or "")[:1]
    is_late = half == "p" or (not half and _LATE.search(said) is not None)
    is_early = half == "a" or (not half and not is_late and _EARLY.search(said) is not None)
    hour = total // 60 % 24
    if (is_late and hour < 12) or (is_early and hour == 12):
        hour = (hour + 12) % 24
    is_half_known = is_late or is_early or hour > 12 or hour == 0
    return Clock(
        hour=hour,
        minute=total % 60,
        is_half_known=is_half_known,
        may_be_night=bool(given.get("m")) and named.isdecimal(),
    )


def _value(word: str) -> int:
    return int(word) if word.isdecimal() else _VALUES[word.lower()]
