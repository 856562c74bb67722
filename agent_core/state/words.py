"""Cuts text of any script into the words by which the index knows it."""

import re
import unicodedata
from itertools import groupby
from typing import Final

from agent_core.state.stems import stem

MAX_WORD = 32
"""Characters of a word; what is longer (keys, base64) is known by its beginning."""

ENGLISH: Final = frozenset(
    word
    for line in (
        "a about after all also am an and any are as at be been before but by can could d did",
        "do does for from had has have he her here hers him his how i if in into is it its",
        "just ll m me mine my no not of on or our re s said say says she should so some t than",
        "that the their them then there these they this those to told us ve was we were what",
        "when where which who whom whose why with would you your",
    )
    for word in line.split()
)
"""Words that are in every English sentence, as they are written."""

UNINDEXED: Final = frozenset(stem(word) for word in ENGLISH)
"""Half of what is said; no search goes by them, and so the index is spared them."""

_WORD = re.compile(r"[a-z0-9]+")
_CLITIC = re.compile(r"(?<=[a-z])'(?:s|t|ll|re|ve|d|m)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_HAS_HUMP = re.compile(r"[a-z][A-Z]")
_CAMEL = re.compile(r"\b[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_UNSPACED = (
    (0x0E00, 0x0FFF, 3),  # Thai, Lao, Tibetan
    (0x1000, 0x109F, 3),  # Burmese
    (0x1100, 0x11FF, 2),  # Hangul
    (0x1780, 0x17FF, 3),  # Khmer
    (0x3040, 0x312F, 2),  # Kana, Bopomofo
    (0x31A0, 0x31FF, 2),
    (0x3400, 0x4DBF, 2),  # Han
    (0x4E00, 0x9FFF, 2),
    (0xAC00, 0xD7FF, 2),  # Hangul
    (0xF900, 0xFAFF, 2),
    (0x1B000, 0x1B16F, 2),
    (0x20000, 0x3FFFF, 2),
)
"""Scripts without spaces between words, or with endings glued on, and how many characters
of each are told apart best: first, last, length."""

_GAP, _LETTER, _SIGN = 0, 1, 9
_kinds: dict[str, int] = {}


def cut(text: str) -> list[str]:
    """The words of a text in their order, each in the form in which it is indexed.

    Case, diacritics of Latin, Greek and Cyrillic, and English endings don't matter. A name
    of code (`getUserName`) is there whole, and in its parts at the end. Scripts without
    spaces are cut into overlapping pieces; the last ones of a run are shorter, so that every
    character begins a piece. Signs beyond ASCII (emoji) are words, ASCII's are not.
    """
    humps = cut_humps(text)
    if text.isascii():
        plain = _join_clitics(text.lower())
        return [stem(word[:MAX_WORD]) for word in _WORD.findall(plain)] + humps
    words: list[str] = []
    for run in list_runs(fold(text)):
        length = _kind(run[0])
        if length in (2, 3):
            words += [run[start : start + length] for start in range(len(run))]
        else:
            words.append(stem(run[:MAX_WORD]))
    return words + humps


def cut_humps(text: str) -> list[str]:
    """The parts of names of code in a text, which changes of case tell apart."""
    if not _HAS_HUMP.search(text):
        return []
    return [
        stem(hump.lower()[:MAX_WORD])
        for name in _CAMEL.findall(text)
        for hump in _HUMP.findall(name)
    ]


def fold(text: str) -> str:
    """The text in lower case, without the diacritics of alphabets."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    letters = unicodedata.normalize("NFD", text)
    plain = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", plain)


def list_runs(folded: str) -> list[str]:
    """What a folded text is made of: words, single signs, and runs of scripts without spaces."""
    found: list[str] = []
    for kind, group in groupby(_join_clitics(folded), _kind):
        if kind == _SIGN:
            found += group
        elif kind != _GAP:
            found.append("".join(group))
    return found


def list_pieces(run: str) -> tuple[list[str], bool]:
    """What to look for, for one run: words of the index or, with True, what they begin with,
    as the run is shorter than the pieces into which its script is cut.
    """
    length = _kind(run[0])
    if length not in (2, 3):
        return [stem(run[:MAX_WORD])], False
    if len(run) < length:
        return [run], True
    return [run[start : start + length] for start in range(len(run) - length + 1)], False


def _join_clitics(text: str) -> str:
    """Without `'s` and the like, and without the commas of thousands."""
    if "'" in text:
        text = _CLITIC.sub("", text)
    return _THOUSANDS.sub("", text) if "," in text else text


def _kind(character: str) -> int:
    """What a character is to the index: a gap, a letter, a sign, or the length of the pieces
    of its script.
    """
    kind = _kinds.get(character)
    if kind is None:
        kind = _kinds[character] = _classify(character)
    return kind


def _classify(character: str) -> int:
    point, category = ord(character), unicodedata.category(character)
    if category[0] == "S":
        return _SIGN if point > 127 and category != "Sk" else _GAP
    if category[0] not in "LNM":
        return _GAP
    spans = (length for first, last, length in _UNSPACED if first <= point <= last)
    return next(spans, _LETTER)
