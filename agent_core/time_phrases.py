"""Rewrite words for a time in their plain form, in English and German; pure.

People and models say "9:00 tomorrow", "tonight at nine" or "Dec 24th"; `spoken_times` reads
"tomorrow at 9:00", "today at 21:00" and "24 december".
"""

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache

MONTHS = (
    ("january", "januar", "jan"),
    ("february", "februar", "feb"),
    ("march", "märz", "mar"),
    ("april", "apr"),
    ("may", "mai"),
    ("june", "juni", "jun"),
    ("july", "juli", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oktober", "oct", "okt"),
    ("november", "nov"),
    ("december", "dezember", "dec", "dez"),
)
_MEANINGS = """
mon=monday tue=tuesday tues=tuesday wed=wednesday thu=thursday thur=thursday thurs=thursday
fri=friday sat=saturday sun=sunday two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10
eleven=11 twelve=12 fifteen=15 twenty=20 thirty=30 forty=40 forty-five=45 ninety=90 zwei=2 drei=3
vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12 fünfzehn=15 zwanzig=20
dreißig=30 vierzig=40
"""
_WORDS = dict(meaning.split("=") for meaning in _MEANINGS.split())
_MONTH_DAYS = {
    "ersten": "1",
    "zweiten": "2",
    "dritten": "3",
    "fünften": "5",
    "zehnten": "10",
    "fünfzehnten": "15",
    "zwanzigsten": "20",
}
"""Days of a month in words, as German has them for rents and bills."""
_PARTS = {
    "morning": 8,
    "früh": 8,
    "vormittag": 10,
    "afternoon": 15,
    "nachmittag": 15,
    "evening": 20,
    "abend": 20,
    "night": 21,
    "morgens": 8,
    "vormittags": 10,
    "nachmittags": 15,
    "abends": 20,
    "nachts": 21,
}
"""The usual hours of the parts of a day."""
_HOLIDAYS = """
24-12: christmas eve / heiligabend / heiliger abend / heiligen abend
25-12: christmas day / 1. weihnachtstag / ersten weihnachtstag / erster weihnachtstag
26-12: boxing day / 2. weihnachtstag / zweiten weihnachtstag / zweiter weihnachtstag
31-12: new year's eve / new years eve / silvesterabend / silvester
1-1: new year's day / new years day / neujahrstag / neujahr
6-1: epiphany / dreikönigstag / heilige drei könige / heiligen drei könige
14-2: valentine's day / valentines day / valentinstag
31-10: halloween / reformationstag
6-12: nikolaustag / nikolaus
"""
"""The days and months of holidays that have the same date each year."""
_HOLIDAY_DATES = {
    name: date
    for date, _, names in (line.partition(": ") for line in _HOLIDAYS.strip().splitlines())
    for name in names.split(" / ")
}
_TYPED = """
tomorrow today tonight tuesday wednesday thursday saturday february september october november
december morning evening afternoon minutes weekday donnerstag mittwoch dienstag freitag samstag
sonntag februar oktober dezember minuten übermorgen nachmittag
"""
_LONG_WORDS = tuple(_TYPED.split())
"""Words for times that are long enough to be known in spite of a slip of the keyboard."""
_KNOWN_WORDS = frozenset((*_LONG_WORDS, *(f"{word}s" for word in _LONG_WORDS), "minute"))
_SLIPS = {
    "tmrw": "tomorrow",
    "tmr": "tomorrow",
    "tommorow": "tomorrow",
    "tonite": "tonight",
    "teusday": "tuesday",
    "wensday": "wednesday",
    "wendsday": "wednesday",
}
_CLOSE = 0.87
"""The likeness of `difflib` from which a word is a slip: "tomorow" and "thrusday" are."""
_WORD = re.compile(r"(?<![\w'])[a-zäöüß]{3,12}(?![\w'])")
_NOON = 12
_LATE = 5
"""The first hour of an evening: "tonight at 1" is not 13:00."""
_MONTH = "|".join(name for names in MONTHS for name in names)
_LONG_DAY = (
    "sunday|monday|tuesday|wednesday|thursday|friday|saturday"
    "|sonntag|montag|dienstag|mittwoch|donnerstag|freitag|samstag"
)
_DAYS = rf"(?:{_LONG_DAY}|weekend)s"
_SLASHED = (
    r"(?<![-:/.*\w])(?:(?:on|am) )?(?P<one>\d{1,2})/(?P<other>\d{1,2})"
    r"(?:/(?P<year>\d{4}|\d\d))?(?![\d/])"
)
_CLOCK = (
    r"(?:\d{1,2}[:.][0-5]\d(?: ?[ap]\.?m\b\.?)?(?: uhr| o'clock)?|\d{1,2} ?[ap]\.?m\b\.?"
    r"|\d{1,2} (?:uhr|o'clock)|noon|midnight|mittag|mitternacht)"
)
"""A time of day that needs no "at" before it."""
_AT = r"(?:at|um|@)"
_PART = "|".join(_PARTS)


def _word(found: re.Match[str]) -> str:
    return _WORDS[found[0]]


@lru_cache(maxsize=4096)
def _correct(word: str) -> str:
    """Return the word for a time that a misspelled word means; any other word stays."""
    if word in _SLIPS or len(word) < 6 or word in _KNOWN_WORDS:
        return _SLIPS.get(word, word)
    close = get_close_matches(word, _LONG_WORDS, 1, _CLOSE)
    return close[0] if close and close[0][0] == word[0] else word


def _holiday(found: re.Match[str]) -> str:
    day, _, month = _HOLIDAY_DATES[found["holiday"]].partition("-")
    return f"{day} {MONTHS[int(month) - 1][0]}"


def _past(found: re.Match[str]) -> str:
    """Reckon "half past 6" and "quarter to 7"."""
    minutes = 30 if found["part"] == "half" else 15
    hour = int(found["hour"])
    return f"{hour}:{minutes}" if found["side"] == "past" else f"{(hour - 1) % 24}:{60 - minutes}"


def _german_past(found: re.Match[str]) -> str:
    """Reckon "halb acht", "viertel nach drei" and "viertel vor drei"."""
    hour, part, side = int(found["hour"]), found["part"], found["side"]
    if part == "viertel" and side == "nach":
        return f"{hour}:15"
    minutes = {"halb": 30, "dreiviertel": 45, "viertel": 45 if side == "vor" else 15}[part]
    return f"{(hour - 1) % 24}:{minutes}"


def _half_more(found: re.Match[str]) -> str:
    return f"{_WORDS.get(found[1], '1')}.5 "


def _german_hour(found: re.Match[str]) -> str:
    return f"um {int(found[2])}:{found[3] or '00'}"


def _span(found: re.Match[str]) -> str:
    """Reckon "in 2 hours and 15 minutes" and "in 1.5 hours"."""
    hours = float(found["hours"].replace(",", ".").replace("an", "1"))
    return f"in {round(hours * 60) + int(found['more'] or 0)} minutes"


def _date(found: re.Match[str]) -> str:
    """Write a date as "24 december", or with its year as "2026-12-24"."""
    month = found["month"]
    number = next(at for at, names in enumerate(MONTHS, start=1) if month in names)
    if year := found.groupdict().get("year"):
        return f"{year}-{number:02}-{int(found['day']):02}"
    return f"{int(found['day'])} {MONTHS[number - 1][0]}"


def _numbered_date(found: re.Match[str]) -> str:
    day, month = int(found["day"]), int(found["month"])
    return _spell_date(day, month, found["year"]) if 1 <= month <= len(MONTHS) else found[0]


def _spell_date(day: int, month: int, year: str | None) -> str:
    if year:
        return f"{int(year) % 100 + 2000}-{month:02}-{day:02}"
    return f"{day} {MONTHS[month - 1][0]}"


def _slashed_date(found: re.Match[str]) -> str:
    """Write "25/12/2026" and "12/25" as dates; what may be two dates stays, see `list_dates`."""
    one, other, year = int(found["one"]), int(found["other"]), found["year"]
    if other > len(MONTHS) >= one:
        one, other = other, one
    is_clear = one == other or one > len(MONTHS)
    return _spell_date(one, other, year) if is_clear and 1 <= other <= len(MONTHS) else found[0]


def _weeks_later(found: re.Match[str]) -> str:
    """Write "two weeks from friday", "friday week" and "übernächsten freitag" in one form."""
    given = found.groupdict()
    weeks = given.get("weeks") or "1"
    return f"{given['day']} in {weeks if weeks.isdecimal() else 1} weeks"


def _nth_day(found: re.Match[str]) -> str:
    """Read "every first Monday" as the first of each month, as people mean it."""
    nth = {"1st": "first", "1.": "first", "ersten": "first", "letzten": "last"}
    numbers = {"3rd": "third", "4th": "fourth"}
    return f"on the {(nth | numbers).get(found['nth'], found['nth'])} {found['day']} of every month"


def _month_day(found: re.Match[str]) -> str:
    """Write "am ersten des Monats" and "am 15. jedes Monats" in the plain form."""
    day = found["day"]
    if day == "letzten":
        return "on the last day of every month"
    return f"on the {_MONTH_DAYS.get(day, day)} of every month"


def _part(found: re.Match[str]) -> str:
    """Reckon "tomorrow evening at 7", "7 in the evening" and "tonight at 9"."""
    given = found.groupdict()
    part = "night" if given.get("tonight") else given["part"]
    is_today = found[0].startswith(("this", "tonight", "heute"))
    day = given.get("day") or ("today" if is_today else "")
    clock = _shift(given["clock"], part) if given.get("clock") else f"{_PARTS[part]:02}:00"
    return f"{day} at {clock}".strip()


def _shift(clock: str, part: str) -> str:
    """Move a time of day such as "7" into the second half of the day, if its part says so."""
    found = re.fullmatch(r"(\d{1,2})(?:[:.](\d\d))?( uhr| o'clock)?", clock)
    least = _LATE if part == "night" else 1
    if found is None:
        return clock
    hour = int(found[1])
    if _PARTS[part] >= _NOON and least <= hour < _NOON:
        hour += _NOON
    return f"{hour:02}:{found[2] or '00'}"


_Put = str | Callable[[re.Match[str]], str]
_REWRITES: tuple[tuple[re.Pattern[str], _Put], ...] = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (rf"\b(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b", _word),
        (r"\b(?:(?:a|one) )?fortnight\b", "2 weeks"),
        (r"\b(\d{1,2}) and a half (hours?)\b", r"\1.5 \2"),
        (r"\b(ein|zwei|drei|vier|fünf|sechs)einhalb (?=stunden)", _half_more),
        (
            (
                r"\b(?:on |at |an |am |zu )?"
                rf"(?P<holiday>{'|'.join(sorted(_HOLIDAY_DATES, key=len, reverse=True))})\b"
            ),
            _holiday,
        ),
        (_SLASHED, _slashed_date),
        (
            (
                r"\b(?P<weeks>a|\d{1,2}) weeks? (?:from|(?<=^a week )on)"
                r" (?P<day>today|tomorrow|[a-z]+day)\b"
            ),
            _weeks_later,
        ),
        (rf"\b(?:on )?(?P<day>{_LONG_DAY}) week\b", _weeks_later),
        (r"\bübernächste[nrs]? (?P<day>\w+tag|mittwoch)\b", _weeks_later),
        (r"\bnext week,? (?:on )?(?=[a-z]+day\b)", "in 1 weeks on "),
        (r"\b(?P<day>[a-z]+day) next week\b", r"in 1 weeks on \g<day>"),
        (r"\bnächste woche,? (?:am )?(?=\w+tag\b|mittwoch)", "in 1 weeks on "),
        (r"\b(?:am )?(?P<day>\w+tag|mittwoch) nächste woche\b", r"in 1 weeks on \g<day>"),
        (r"\bübernächste woche,? (?:am )?(?=\w+tag\b|mittwoch)", "in 2 weeks on "),
        (r"^(?:this|on the|at the|am|dieses) (?:weekend|wochenende)\b", "saturday"),
        (r"(\d\d:\d\d):\d\d\b", r"\1"),
        (r"\bheut\b", "heute"),
        (r"\b(\w+tag|mittwoch) ?(?:morgen|früh)\b", r"\1 früh"),
        (r"\b(\w+tag|mittwoch)(abend|mittag|nachmittag|vormittag)s?\b", r"\1 \2"),
        (r"\bin (?:'?ner|na) ", "in einer "),
        (r"\bin (?:einer )?viertelstunde$", "in 15 minuten"),
        (r"\bin (?:einer )?dreiviertelstunde$", "in 45 minuten"),
        (r"\bin anderthalb stunden$", "in 90 minuten"),
        (
            (
                r"\b(?:(?P<part>halb|viertel|dreiviertel)(?: (?P<side>nach|vor))?)"
                r" (?P<hour>\d{1,2})(?: uhr)?(?![\d:.])"
            ),
            _german_past,
        ),
        (r"\b(um|gegen) (\d{1,2})(?:[:.](\d\d))? uhr\b", _german_hour),
        (
            r"(?<=\d)(?: uhr)? (früh|morgens|vormittags|nachmittags|abends|nachts)$",
            r" in the \1",
        ),
        (r"\b(?P<part>half|quarter) (?P<side>past|to) (?P<hour>\d{1,2})\b", _past),
        (r"\b(?:in )?(.+) from now$", r"in \1"),
        (r"\bin (?:half an hour|einer halben stunde)$", "in 30 minutes"),
        (r"\bin (?:a |an? )?quarter of an hour$", "in 15 minutes"),
        (r"\bin an hour and a half$", "in 90 minutes"),
        (
            (
                r"\bin (?P<hours>an|\d{1,3}(?:[.,]\d)?) ?(?:h|hours?|stunden?)"
                r"(?: and| und|,)? ?(?P<more>\d{1,3}) ?(?:m|mins?|minutes?|minuten)$"
            ),
            _span,
        ),
        (r"\bin (?P<hours>\d{1,3}[.,]\d) ?(?:h|hours?|stunden)(?P<more>)$", _span),
        (r"^(?:every|each|jede) (?:half hour|halbe stunde)$", "every 30 minutes"),
        (r"^(?:hourly|stündlich)$", "every 1 hours"),
        (r"^(?:every|each|jede) (hour|minute|stunde)$", r"every 1 \1"),
        (r"^(?:yearly|annually|each year|jedes jahr|jährlich)\b", "every year"),
        (r"^(?:weekly|(?:every|each) week) (?:on )?", "every "),
        (r"^(?:jede woche|wöchentlich) (?:am )?", "jeden "),
        (
            r"^(?:monthly|(?:every|each) month),? on (?:the |day )?(\S+)",
            r"on the \1 of every month",
        ),
        # "Every second Friday" stays every two weeks.
        (
            (
                r"^(?:every|each) (?P<nth>1st|first|3rd|third|4th|fourth|last)"
                rf" (?P<day>{_LONG_DAY})\b(?! (?:of|in) )"
            ),
            _nth_day,
        ),
        (rf"^jeden (?P<nth>1\.|ersten|letzten) (?P<day>{_LONG_DAY})\b(?! (?:im|des) )", _nth_day),
        (r"\bthe first(?: day)? of (the|every|each) month", r"the 1 of \1 month"),
        (r"\bam monats(ersten|letzten)\b", r"am \1 des monats"),
        (
            (
                rf"\b(?:am|jeden) (?P<day>\d{{1,2}}(?=\b)|{'|'.join(_MONTH_DAYS)}|letzten)\.?"
                r" (?:des|im|eines|(?:in )?jede[mns]) monats?\b"
            ),
            _month_day,
        ),
        (
            (
                rf"\b(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
                r"(?:,? (?P<year>\d{4}))?(?![\d:])"
            ),
            _date,
        ),
        (
            (
                rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?(?P<month>{_MONTH})\b\.?"
                r"(?:,? (?P<year>\d{4}))?(?![\d:])"
            ),
            _date,
        ),
        (r"\b(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})?", _numbered_date),
        (r"\b(?<=am )(?P<day>\d{1,2})\.(?P<month>\d{1,2})(?P<year>)(?![\d.:])", _numbered_date),
        (r"\b(?:on|am) (\d{4}-)", r"\1"),
        (r"\b(\d{4}-\d\d-\d\d)t(\d)", r"\1 at \2"),
        (rf"^(?:every|jeden) (?=\d{{1,2}} (?:{_MONTH})\b)", "every year on "),
        (rf"^(?:on |am )?(?={_DAYS}\b)", "every "),
        (rf"^every (?:coming )?(?P<one>{_LONG_DAY})s\b", r"every \g<one>"),
        (r"\bcoming (?=[a-z]+day)", ""),
        (
            (
                rf"^(?:{_AT} )?(?P<clock>{_CLOCK}|(?<=at )\d{{1,2}}|(?<=um )\d{{1,2}})"
                r" (?:on |am )?(?P<rest>(?![ap]\.?m\b)(?!in the )[a-z].*|\d.*)$"
            ),
            r"\g<rest> at \g<clock>",
        ),
        (rf"^(?P<day>.+?) {_AT} (?P<clock>.+) (?:in the|at) (?P<part>{_PART})$", _part),
        (rf"^(?:at |um )?(?P<clock>[\d:.]+) (?:in the|at) (?P<part>{_PART})$", _part),
        (
            rf"^(?P<tonight>tonight|heute abend|this (?:evening|night)) {_AT}? ?(?P<clock>\d.*)$",
            _part,
        ),
        (r"^this (?P<part>" + _PART + r")(?:,? at (?P<clock>.+))?$", _part),
        (
            (
                rf"^(?P<day>(?!every (?:{_PART}))(?!jeden (?:{_PART})).+?) (?:in the )?"
                rf"(?P<part>{_PART})(?:,? {_AT} (?P<clock>.+))?$"
            ),
            _part,
        ),
        (rf"^(?P<day>(?:every|jeden) (?P<part>{_PART})) {_AT} (?P<clock>.+)$", _part),
        (rf"(?<! at)(?<! um)(?<! @)(?<!^at)(?<!^um),? (?={_CLOCK}$)", " at "),
        (rf"^(?={_CLOCK}$)", "at "),
    )
)


def list_meanings(words: str) -> tuple[str, ...]:
    """Return words with each of the two dates that "3/4/2027" may be; none if they are clear.

    The first one takes the first number as the day.
    """
    found = re.search(_SLASHED, words)
    if found is None or _slashed_date(found) != found[0]:
        return ()
    one, other = int(found["one"]), int(found["other"])
    if not (1 <= one <= len(MONTHS) and 1 <= other <= len(MONTHS)):
        return ()
    before, after = words[: found.start()], words[found.end() :]
    dates = (_spell_date(*pair, found["year"]) for pair in ((one, other), (other, one)))
    return tuple(f"{before}{date}{after}" for date in dates)


def rewrite(words: str) -> str:
    """Return words for a time in their plain form; unknown words stay."""
    text = " ".join(words.lower().replace("’", "'").split()).strip(" .!?,")
    text = _WORD.sub(lambda found: _correct(found[0]), text)
    for pattern, put in _REWRITES:
        text = pattern.sub(put, text)
    return " ".join(text.split())
