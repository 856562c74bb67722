"""Sentences, dates, numbers and lists in the reader's language.

Translations are gettext catalogues: `locale/<language>/LC_MESSAGES/talaria.po`.

A module states a sentence once, as a constant in English, and calls it to render it:

    UNKNOWN_JOB = Text("There's no job {number} here. /jobs lists them.")
    UNKNOWN_JOB(number=3)

`use_language` selects the language of the reader for the current task.
"""

import string
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import polib

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch"}
"""Languages with a complete catalogue, by tag; English is the language of the code."""

_ENGLISH = "en"
_SWAPPED = str.maketrans(",.", ".,")
_STOPPED = "."
"""The conversion of a placeholder before a full stop."""
_language: ContextVar[str] = ContextVar("language", default=_ENGLISH)


def find_language() -> str:
    """Return the language in which sentences are rendered now."""
    return _language.get()


def choose_language(*tags: str | None) -> str:
    """Return the first of these BCP 47 tags that has a catalogue, else English."""
    for tag in tags:
        name = (tag or "").replace("_", "-").split("-")[0].lower()
        if name in LANGUAGES:
            return name
    return _ENGLISH


@contextmanager
def use_language(*tags: str | None) -> Iterator[None]:
    """Render sentences in the first of these languages that has a catalogue."""
    token = _language.set(choose_language(*tags))
    try:
        yield
    finally:
        _language.reset(token)


def set_language(*tags: str | None) -> None:
    """Choose another language until the enclosing `use_language` ends."""
    _language.set(choose_language(*tags))


class Text:
    """A sentence in English, with named placeholders; call it to render it."""

    __slots__ = ("english",)

    def __init__(self, english: str) -> None:
        self.english = english

    def __call__(self, **values: object) -> str:
        """Render the sentence in the current language."""
        language = _language.get()
        pattern = self.english
        if language != _ENGLISH:
            pattern = _catalogue(language).get((pattern, 0), pattern)
        return _FORMATTERS[language].vformat(pattern, (), values) if values else _unescape(pattern)

    def __repr__(self) -> str:
        """Show the English sentence."""
        return f"Text({self.english!r})"


class Plural:
    """A sentence that depends on the number `n`; call it with that number to render it."""

    __slots__ = ("one", "other")

    def __init__(self, one: str, other: str) -> None:
        self.one = one
        self.other = other

    def __call__(self, n: int, **values: object) -> str:
        """Render the sentence in the current language."""
        language = _language.get()
        form = 0 if n == 1 else 1  # English and German; the catalogue's header says the same
        pattern = self.other if form else self.one
        if language != _ENGLISH:
            pattern = _catalogue(language).get((self.one, form), pattern)
        return _FORMATTERS[language].vformat(pattern, (), {"n": n, **values})


class _Formatter(string.Formatter):
    """Formats placeholders; numbers get the separators of the language."""

    def __init__(self, *, swaps: bool) -> None:
        self._swaps = swaps

    def format_field(self, value: Any, format_spec: str) -> str:
        shown: str = super().format_field(value, format_spec)
        if not (isinstance(value, int | float) and self._swaps):
            return shown
        # A share is "88 %" in German, with a space that does not break.
        return shown.translate(_SWAPPED).replace("%", "\N{NO-BREAK SPACE}%")

    def parse(self, format_string: Any) -> Any:
        """Mark each placeholder that the pattern itself ends with a full stop."""
        return _parse(format_string)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Leave out the full stop of a quoted sentence where another one follows."""
        if conversion != _STOPPED:
            return super().convert_field(value, conversion)
        doubles = isinstance(value, str) and value.endswith(".") and not value.endswith("..")
        return value[:-1] if doubles else value


_FORMATTERS = {tag: _Formatter(swaps=tag == "de") for tag in LANGUAGES}


@cache
def _parse(pattern: str) -> list[tuple[str, str | None, str | None, str | None]]:
    found: list[tuple[str, str | None, str | None, str | None]] = []
    after = ""
    for text, field, spec, conversion in reversed(list(string.Formatter().parse(pattern))):
        is_stopped = field is not None and after.startswith((".", ")."))
        found.append((text, field, spec, _STOPPED if is_stopped else conversion))
        after = text
    return found[::-1]


def _unescape(pattern: str) -> str:
    return pattern.replace("{{", "{").replace("}}", "}")


def name_language(tag: str) -> str:
    """Return the name of a language in that language; its tag if no catalogue is for it."""
    return LANGUAGES.get(tag.partition("-")[0].casefold(), tag)


def format_number(value: float, spec: str = ",") -> str:
    """Format a number with the separators of the current language."""
    return _FORMATTERS[_language.get()].format_field(value, spec)


@cache
def _catalogue(language: str) -> Mapping[tuple[str, int], str]:
    """Read a catalogue on first use: (English, plural form) → sentence."""
    path = Path(__file__).with_name("locale") / language / "LC_MESSAGES" / "talaria.po"
    found: dict[tuple[str, int], str] = {}
    for entry in polib.pofile(str(path)):
        if entry.obsolete or entry.fuzzy:
            continue
        for form, sentence in (entry.msgstr_plural or {0: entry.msgstr}).items():
            if sentence:
                found[entry.msgid, int(form)] = sentence
    return found


_WEEKDAYS = (
    Text("Mon"),
    Text("Tue"),
    Text("Wed"),
    Text("Thu"),
    Text("Fri"),
    Text("Sat"),
    Text("Sun"),
)
_MONTHS = (
    Text("January"),
    Text("February"),
    Text("March"),
    Text("April"),
    Text("May"),
    Text("June"),
    Text("July"),
    Text("August"),
    Text("September"),
    Text("October"),
    Text("November"),
    Text("December"),
)
_SHORT_MONTHS = (
    Text("Jan"),
    Text("Feb"),
    Text("Mar"),
    Text("Apr"),
    Text("May"),
    Text("Jun"),
    Text("Jul"),
    Text("Aug"),
    Text("Sep"),
    Text("Oct"),
    Text("Nov"),
    Text("Dec"),
)
_NEAR_DAYS = {-1: Text("yesterday"), 0: Text("today"), 1: Text("tomorrow")}
_DAY = Text("{weekday} {day} {month}")
_DAY_OF_YEAR = Text("{day} {month} {year:04}")
_CLOCK = Text("{hour}:{minute:02}")
_ON_DAY_AT = Text("{day}, {clock}")
_HALF_YEAR = 180
"""Days within which a date needs no year."""
_DATE = Text("{year:04}-{month:02}-{day:02}")
_MOMENT = Text("{weekday} {date} {hour:02}:{minute:02}")
_TWO = Text("{first} and {last}")
_SEVERAL = Text("{first}, and {last}")
_SEPARATOR = Text(", ")
_MEGABYTES = Text("{size} MB")
_FEW_MEGABYTES = 10_000_000


def join_list(items: Sequence[str]) -> str:
    """Join items as in a sentence: `a`, `a and b`, `a, b, and c`."""
    if len(items) <= 1:
        return "".join(items)
    join = _TWO if len(items) == 2 else _SEVERAL
    return join(first=_SEPARATOR().join(items[:-1]), last=items[-1])


def format_weekday(weekday: int) -> str:
    """Return the short name of a weekday; Monday is 0."""
    return _WEEKDAYS[weekday]()


def name_month(month: int) -> str:
    """Return the name of a month; January is 1."""
    return _MONTHS[month - 1]()


def format_date(day: date) -> str:
    """Return a date: `2026-11-23`."""
    return _write_date(_language.get(), day.year, day.month, day.day)


@lru_cache(maxsize=1024)
def _write_date(language: str, year: int, month: int, day: int) -> str:
    """Return a date in `language`, the current one; cached, because a page shows many dates."""
    return _DATE(year=year, month=month, day=day)


def say_day(day: date, today: date) -> str:
    """Return a date as people say it: `tomorrow`, `Mon 30 Nov`, `30 Nov 2024`."""
    distance = (day - today).days
    if near := _NEAR_DAYS.get(distance):
        return near()
    month = _SHORT_MONTHS[day.month - 1]()
    if abs(distance) > _HALF_YEAR:
        return _DAY_OF_YEAR(day=day.day, month=month, year=day.year)
    return _DAY(weekday=format_weekday(day.weekday()), day=day.day, month=month)


def say_clock(moment: datetime) -> str:
    """Return a time of day as people say it: `9:00`."""
    return _CLOCK(hour=moment.hour, minute=moment.minute)


def say_moment(moment: datetime, now: datetime) -> str:
    """Return a local moment as people say it: `tomorrow, 9:00`, `Mon 30 Nov, 8:00`."""
    return say_at(say_day(moment.date(), now.date()), [say_clock(moment)])


def say_at(day: str, clocks: Sequence[str]) -> str:
    """Return a day with times of day: `tomorrow, 9:00 and 10:00`."""
    return _ON_DAY_AT(day=day, clock=join_list(clocks))


def format_moment(moment: datetime) -> str:
    """Return a local moment in full, with its weekday: `Mon 2026-11-23 08:00`."""
    return _MOMENT(
        weekday=format_weekday(moment.weekday()),
        date=format_date(moment),
        hour=moment.hour,
        minute=moment.minute,
    )


def format_size(size: int) -> str:
    """Return a number of bytes in megabytes: `2.5 MB`."""
    if size < _FEW_MEGABYTES:
        return _MEGABYTES(size=format_number(size / 1_000_000, ".2g"))
    return _MEGABYTES(size=format_number(size // 1_000_000, ""))
