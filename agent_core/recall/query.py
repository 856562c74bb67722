"""What to look for: a question in anyone's words becomes words or fragments to search."""

import re
import unicodedata
from dataclasses import dataclass

from agent_core.tools.quoting import is_hidden

MAX_TERMS = 32
"""Words or fragments of one search; more would not sharpen it."""

_MAX_FRAGMENT = 64

_STOP_WORDS = frozenset(
    word
    for line in (
        # English
        "a about after all also am an and any are as at be been before but by can could d did",
        "do does for from had has have he her here hers him his how i if in into is it its",
        "just ll m me mine my no not of on or our re s said say says she should so some t than",
        "that the their them then there these they this those to told us ve was we were what",
        "when where which who whom whose why with would you your",
        # German
        "aber als auch auf aus bei bin bist das dass dein deine dem den der des dich dir du",
        "ein eine einem einen einer er es für habe haben hast hat ich ihr im ist mein meine",
        "mich mir mit nicht noch oder sein sich sie sind und uns vom von wann warum wer wie",
        "wir wo zu zum zur über",
        # French
        "au aux avec ce ces cette dans de elle en est et il ils je la le les leur ma mais mes",
        "moi mon ne nous où par pas pour qu quand que quel quelle qui sa se ses sont ta te tes",
        "toi ton tu un une vous",
        # Spanish, Portuguese, Italian
        "al ao che chi con cuál cuando cuándo da del della di dos el ella em está este esto eu",
        "ha las lo los meu mi minha mio mis na não nos o onde para perché pero por porque qual",
        "quando qué quem quién según si su sua sus um uma una uno y yo",
        # Russian
        "а был была в во вы где для его ее её и из или как когда кто мне мой моя мы на не но о",
        "он она они по с со так то ты у что это я",
    )
    for word in line.split()
)

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
    (0xFF66, 0xFF9F, 2),
    (0x1B000, 0x1B16F, 2),
    (0x20000, 0x3FFFF, 2),
)
"""Scripts without spaces between words, or with endings glued on, and how many characters
of each are told apart best: first, last, length."""

_PLURAL = re.compile(r"[a-z]{4,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What to search, one of the two. `asked` are the words it was made of, to be shown."""

    asked: tuple[str, ...]
    words: tuple[str, ...] = ()
    fragments: tuple[str, ...] = ()


def read_query(text: str) -> Query:
    """A query for any text at all; with neither words nor fragments only for empty text.

    Words that are in every sentence are left out, unless there are no others. A text with
    a script that the index can't cut into words is cut into overlapping fragments instead.
    Text without a letter or a digit (an emoji) is looked for as it stands.
    """
    text = "".join(" " if is_hidden(character) else character for character in text)
    words = _unique(_cut_words(text))
    if not words:
        signs = _unique(text.split())
        fragments = _unique([sign[:_MAX_FRAGMENT] for sign in signs])
        return Query(asked=signs, fragments=fragments)
    if any(_length(character) for word in words for character in word):
        fragments = _unique([piece for word in words for piece in _cut_fragments(word)])
        return Query(asked=words, fragments=fragments)
    content = tuple(word for word in words if word not in _STOP_WORDS) or words
    variants = _unique([form for word in content for form in (word, *_vary(word))])
    return Query(asked=content, words=variants)


def _cut_words(text: str) -> list[str]:
    spaced = "".join(character if _is_wordy(character) else " " for character in text)
    words = spaced.lower().split()
    return [word for word in words if any(character.isalnum() for character in word)]


def _is_wordy(character: str) -> bool:
    """True for what makes a word in the index, and for the marks that sit on it."""
    return unicodedata.category(character)[0] in "LNM"


def _cut_fragments(word: str) -> list[str]:
    length = max(_length(character) for character in word)
    if not length or len(word) <= length:
        return [word[:_MAX_FRAGMENT]]
    return [word[start : start + length] for start in range(len(word) - length + 1)]


def _length(character: str) -> int:
    """Characters of a fragment in this character's script; 0 if its words stand apart."""
    point = ord(character)
    return next((length for first, last, length in _UNSPACED if first <= point <= last), 0)


def _vary(word: str) -> tuple[str, ...]:
    """The plural or singular of a word in the most frequent of patterns."""
    if not _PLURAL.fullmatch(word):
        return ()
    return (word[:-1],) if word.endswith("s") else (word + "s",)


def _unique(terms: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms))[:MAX_TERMS]
