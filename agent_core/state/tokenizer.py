"""Split text into words, stem English ones, and build the entries of the full-text index. Pure.

The stemmer is Porter's, with a table of irregular verbs. A long message has one entry for each of
its passages, so that a search ranks and shows the matching passage instead of the whole text.
"""

import json
import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import Final

_REMEMBERED = 65_536
"""Words whose stems are cached; people mostly use a few thousand."""

_IRREGULAR = {
    form: word
    for line in (
        "be was were been is are am, become became, begin began begun, break broke broken",
        "bring brought, build built, buy bought, catch caught, choose chose chosen, come came",
        "do did done does, draw drew drawn, drink drank drunk, drive drove driven",
        "eat ate eaten, fall fell fallen, feel felt, fight fought, find found, fly flew flown",
        "forget forgot forgotten, get got gotten, give gave given, go went gone goes",
        "grow grew grown, have had has, hear heard, hold held, keep kept, know knew known",
        "lead led, leave left, lose lost, make made, mean meant, meet met, pay paid",
        "ride rode ridden, run ran, say said, see saw seen, sell sold, send sent, shoot shot",
        "sing sang sung, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood",
        "swim swam swum, take took taken, teach taught, tell told, think thought",
        "throw threw thrown, understand understood, wear wore worn, win won",
        "write wrote written, child children, man men, woman women, person people, wife wives",
        "foot feet, tooth teeth, mouse mice",
    )
    for word, *forms in map(str.split, line.split(","))
    for form in forms
}

_STEP_2 = (
    *(("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful")),
    *(("ousness", "ous"), ("tional", "tion"), ("biliti", "ble"), ("entli", "ent")),
    *(("ousli", "ous"), ("ation", "ate"), ("alism", "al"), ("aliti", "al"), ("iviti", "ive")),
    *(("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("alli", "al"), ("ator", "ate")),
    *(("logi", "log"), ("bli", "ble"), ("eli", "e")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ness", ""), ("ful", "")),
)
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "sion", "tion", "ant", "ent", "ism"),
    *("ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou"),
)


_LAST_LETTERS = frozenset(ending[-2:] for ending, _ in (*_STEP_2, *_STEP_3))
"""Most words end in none of these letters, and skip the rules."""


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """Return the stem of a lower-case word of ASCII letters; any other word stays as it is.

    M. F. Porter, An algorithm for suffix stripping (1980), with his two later changes.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _drop_ending(_drop_plural(word))
    if word.endswith("y") and "v" in _mask(word[:-1]):
        word = word[:-1] + "i"
    word = _drop_suffix(_swap(_swap(word, _STEP_2), _STEP_3))
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _mask(word: str) -> str:
    """Encode each letter as `c` or `v`; a y after a consonant is a vowel."""
    mask = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and mask.endswith("c"))
        mask += "v" if is_vowel else "c"
    return mask


def _measure(word: str) -> int:
    return _mask(word).count("vc")


def _is_short(word: str) -> bool:
    return _mask(word).endswith("cvc") and word[-1] not in "wxy"


def _drop_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _drop_ending(word: str) -> str:
    """Remove -ed and -ing, and restore the word."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((ending for ending in ("ed", "ing") if word.endswith(ending)), "")
    kept = word[: len(word) - len(ending)]
    if not ending or "v" not in _mask(kept):
        return word
    if kept.endswith(("at", "bl", "iz")):
        return kept + "e"
    if kept[-1:] == kept[-2:-1] and _mask(kept)[-1] == "c" and kept[-1] not in "lsz":
        return kept[:-1]
    return kept + "e" if _measure(kept) == 1 and _is_short(kept) else kept


def _swap(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    if word[-2:] not in _LAST_LETTERS:
        return word
    for ending, other in rules:
        if word.endswith(ending):
            kept = word[: -len(ending)]
            return kept + other if _measure(kept) > 0 else word
    return word


def _drop_suffix(word: str) -> str:
    if not word.endswith(_STEP_4):
        return word
    for ending in _STEP_4:
        if word.endswith(ending):
            kept = word[: -3 if ending in ("sion", "tion") else -len(ending)]
            return kept if _measure(kept) > 1 else word
    return word


MAX_WORD = 32
"""The most characters of a word; longer ones (keys, base64) are indexed by their beginning."""

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
"""Words that occur in nearly every English sentence, as they are written."""

UNINDEXED: Final = frozenset(stem(word) for word in ENGLISH)
"""Words that make up half of all text. No search uses them, so they are not indexed."""

_WORD = re.compile(rf"([a-z0-9]{{1,{MAX_WORD}}})[a-z0-9]*")
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
"""Scripts without spaces between words, or with agglutinated endings: first and last code point,
and the piece length that separates their words best.
"""

_GAP, _LETTER, _SIGN = 0, 1, 9
_kinds: dict[str, int] = {}


def cut(text: str) -> list[str]:
    """Return the words of a text in their order, each in its indexed form.

    Case, diacritics of Latin, Greek and Cyrillic, and English endings don't matter. A code name
    (`getUserName`) is included whole, with its parts at the end. Scripts without spaces are cut
    into
    overlapping pieces; the last ones of a run are shorter, so that every character starts a piece.
    Symbols beyond ASCII (emoji) are words, ASCII's are not.
    """
    humps = cut_humps(text)
    if text.isascii():
        plain = _join_clitics(text.lower())
        return [*map(stem, _WORD.findall(plain)), *humps]
    words: list[str] = []
    for run in list_runs(normalize(text)):
        length = _kind(run[0])
        if length in (2, 3):
            words += [run[start : start + length] for start in range(len(run))]
        else:
            words.append(stem(run[:MAX_WORD]))
    return words + humps


def cut_humps(text: str) -> list[str]:
    """Return the parts of camel-case names in a text."""
    if not _HAS_HUMP.search(text):
        return []
    return [
        stem(hump.lower()[:MAX_WORD])
        for name in _CAMEL.findall(text)
        for hump in _HUMP.findall(name)
    ]


def normalize(text: str) -> str:
    """Return the text in lower case, without the diacritics of alphabets."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    letters = unicodedata.normalize("NFD", text)
    plain = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", plain)


def list_runs(folded: str) -> list[str]:
    """Split a folded text into words, single symbols, and runs of scripts without spaces."""
    found: list[str] = []
    for kind, group in groupby(_join_clitics(folded), _kind):
        if kind == _SIGN:
            found += group
        elif kind != _GAP:
            found.append("".join(group))
    return found


def list_pieces(run: str) -> tuple[list[str], bool]:
    """Return the search terms for one run: (indexed words, False) or (their beginnings, True).

    A run that is shorter than the pieces of its script matches beginnings.
    """
    length = _kind(run[0])
    if length not in (2, 3):
        return [stem(run[:MAX_WORD])], False
    if len(run) < length:
        return [run], True
    return [run[start : start + length] for start in range(len(run) - length + 1)], False


def _join_clitics(text: str) -> str:
    """Remove `'s` and the like, and the commas in thousands."""
    if "'" in text:
        text = _CLITIC.sub("", text)
    return _THOUSANDS.sub("", text) if "," in text else text


def _kind(character: str) -> int:
    """Classify a character: a gap, a letter, a symbol, or the piece length of its script."""
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


PLACES = 16
"""The largest number of passages of a message. Its entries are the rows from `PLACES` times its id
on. A higher number would make every row number longer, and so the index.
"""
PASSAGE = 600
"""Characters of a passage."""
_BREAKS = ("\n\n", "\n", ". ", "。", " ")
_DAY_MS = 24 * 3_600_000
_OWNER = re.compile(r"p([0-9]+) c([0-9]+)")
_NO_TAG = re.compile(r"[^a-z0-9]+")


def cut_passages(text: str, length: int) -> list[str]:
    """Split a text into passages of at most `length` characters.

    A passage ends at a natural break, if there is one in its second half.
    """
    passages, start, half = [], 0, length // 2
    while len(text) - start > length:
        found = (text.rfind(one, start + half, start + length) + len(one) for one in _BREAKS)
        end = next((one for one in found if one > start + half), start + length)
        passages.append(text[start:end].strip())
        start = end
    return [one for one in (*passages, text[start:].strip()) if one]


def cut_message(text: str) -> list[str]:
    """Split a message into at most `PLACES` passages; those of a very long one are longer."""
    return cut_passages(text, max(PASSAGE, 2 * len(text) // PLACES + 1))


def list_entries(scope: str, role: str, platform: str, created_at: int, text: str) -> list[str]:
    """List the index entries of a message, one per passage; a message of a tool has none.

    `scope` holds the tokens of its row, `p<person id> c<conversation id>`; `created_at` is in
    milliseconds since the epoch.
    """
    entries = [
        index_text(scope, role, platform, created_at, passage) for passage in cut_message(text)
    ]
    return [entry for entry in entries if entry is not None]


def dump_entries(scope: str, role: str, platform: str, created_at: int, text: str) -> str:
    """Return `list_entries` as JSON, for migrations."""
    return json.dumps(list_entries(scope, role, platform, created_at, text))


def index_text(scope: str, role: str, platform: str, created_at: int, text: str) -> str | None:
    """Return the index entry of one passage; None for an empty passage, or a passage of a tool.

    The parameters are those of `list_entries`. Migration 0003 calls it, too.
    """
    if role not in ("user", "assistant") or not text.strip():
        return None
    begun = _begin(scope, role, platform)
    if begun is None:
        return None
    high, tags = begun
    month = _name_month(created_at // _DAY_MS)
    return high.join(["", *sorted(set(cut(text)) - UNINDEXED)]).lstrip() + tags + month


@lru_cache(maxsize=4096)
def _begin(scope: str, role: str, platform: str) -> tuple[str, str] | None:
    """Return the prefix of every word, and all tags up to the month.

    Returns None if `scope` has another form.
    """
    owner = _OWNER.fullmatch(scope)
    if owner is None:
        return None
    tags = (f"c{owner[2]}", f"r{role[0]}", f"o{plain_name(platform)}", "m")
    return f" p{owner[1]}_", "".join(f" p{owner[1]}__{tag}" for tag in tags)


@lru_cache(maxsize=1024)
def _name_month(day: int) -> str:
    """Return the month of a day since the epoch, in the form of a tag."""
    return datetime.fromtimestamp(day * _DAY_MS / 1000, UTC).strftime("%Y%m")


def plain_name(platform: str) -> str:
    """Return the name of a platform in the form of a tag."""
    return _NO_TAG.sub("", platform.lower())
