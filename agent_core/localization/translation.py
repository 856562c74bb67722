"""Translate sentences with gettext catalogues (`locale/<language>/LC_MESSAGES/talaria.po`).

A module states a sentence once, as a constant in English, and calls it to render it:

    UNKNOWN_JOB = Text("There's no job {number} here. /jobs lists them.")
    UNKNOWN_JOB(number=3)

`use_language` selects the language of the reader for the current task.
"""

import string
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch"}
"""Languages with a complete catalogue, by tag; English is the language of the code."""

_ENGLISH = "en"
_SWAPPED = str.maketrans(",.", ".,")
_language: ContextVar[str] = ContextVar("language", default=_ENGLISH)


def find_language() -> str:
    """Return the language that sentences are rendered in now."""
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
        is_number = isinstance(value, int | float) and self._swaps
        return shown.translate(_SWAPPED) if is_number else shown


_FORMATTERS = {tag: _Formatter(swaps=tag == "de") for tag in LANGUAGES}


def _unescape(pattern: str) -> str:
    return pattern.replace("{{", "{").replace("}}", "}")


def format_number(value: float, spec: str = ",") -> str:
    """Format a number with the separators of the current language."""
    return _FORMATTERS[_language.get()].format_field(value, spec)


@cache
def _catalogue(language: str) -> Mapping[tuple[str, int], str]:
    """Read a catalogue on first use: (English, plural form) → sentence."""
    import polib  # noqa: PLC0415 - most gateways never need it

    path = Path(__file__).with_name("locale") / language / "LC_MESSAGES" / "talaria.po"
    found: dict[tuple[str, int], str] = {}
    for entry in polib.pofile(str(path)):
        if entry.obsolete or entry.fuzzy:
            continue
        for form, sentence in (entry.msgstr_plural or {0: entry.msgstr}).items():
            if sentence:
                found[entry.msgid, int(form)] = sentence
    return found
