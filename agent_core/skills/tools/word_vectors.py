"""Vectors of words: texts on one subject point in one direction, also in two languages. Pure.

The table holds 50,000 words and parts of words in Latin letters, mostly English.
`tools/make_word_vectors.py` makes it of two language models, and `NOTICE` names them. Each entry
has a byte for how rare the word is and 96 numbers of four bits. No model runs here: the vector of
a text is the sum of its words, and frequent words weigh little.
"""

import math
import mmap
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import islice
from typing import NamedTuple

DIMENSIONS = 96
RARITIES = 16
"""Steps of the byte for rarity per unit of the natural logarithm of a word's probability."""
STEP = 0.038
"""The value of one step of a number: 15 steps span 2.8 standard deviations to both sides."""
MIDDLE = 7.5
_ENTRY = 1 + DIMENSIONS // 2
_COMMON = 1e-4
"""The probability of a word that weighs half."""
_LONGEST_WORD = 40
_LONGEST_PART = 20
_UNKNOWN = -30.0
"""What a letter costs that no part covers, as the logarithm of a probability."""
_MOST_WORDS = 300
_REMEMBERED = 8_192
_WORD = re.compile(r"[^\W\d_]+")
_LOW = bytes(byte & 15 for byte in range(256))
_HIGH = bytes(byte >> 4 for byte in range(256))


class _Table(NamedTuple):
    words: Sequence[bytes]
    """Sorted by their bytes."""
    entries: mmap.mmap
    """Mapped, so that only the pages of words that were looked up are in memory."""

    def find(self, word: str) -> int:
        """Return the number of a word, or -1."""
        key = word.encode()
        number = bisect_left(self.words, key)
        return number if number < len(self.words) and self.words[number] == key else -1

    def rate(self, number: int) -> float:
        """Return the logarithm of a word's probability."""
        return -self.entries[number * _ENTRY] / RARITIES


def embed(text: str) -> "array[float]":
    """Return the vector of a text: the sum of its words, of the first 300."""
    table = _read_table()
    total = [0.0] * DIMENSIONS
    weights = 0.0
    for found in islice(_WORD.finditer(text.lower()), _MOST_WORDS):
        for number in _split(found[0]):
            weight = _COMMON / (_COMMON + math.exp(table.rate(number)))
            place = number * _ENTRY + 1
            packed = table.entries[place : place + DIMENSIONS // 2]
            row = packed.translate(_LOW) + packed.translate(_HIGH)
            total = [sum_ + weight * value for sum_, value in zip(total, row, strict=True)]
            weights += weight
    return array("f", [STEP * (value - MIDDLE * weights) for value in total])


@lru_cache(maxsize=_REMEMBERED)
def point(text: str) -> "array[float]":
    """Return the direction of a text: its vector at the length 1, or 0 if no word is known."""
    vector = embed(text)
    length = math.sqrt(sum(value * value for value in vector))
    return array("f", [value / length for value in vector]) if length else vector


@lru_cache(maxsize=_REMEMBERED)
def _split(word: str) -> tuple[int, ...]:
    """Return the numbers of a word, or of the likeliest parts that make it up."""
    table = _read_table()
    if (number := table.find(word)) >= 0:
        return (number,)
    if len(word) > _LONGEST_WORD:
        return ()
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for end in range(1, len(word) + 1):
        score, parts = best[end - 1]
        found = (score + _UNKNOWN, parts)
        for start, number in _list_parts(table, word, end):
            score, parts = best[start]
            if score + table.rate(number) > found[0]:
                found = (score + table.rate(number), (*parts, number))
        best.append(found)
    return best[-1][1]


def _list_parts(table: _Table, word: str, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the known parts of a word begin that end at a place, and their numbers."""
    for start in range(max(end - _LONGEST_PART, 0), end):
        if (number := table.find(word[start:end])) >= 0:
            yield start, number


@cache
def _read_table() -> _Table:
    folder = files("agent_core.skills.tools")
    words = folder.joinpath("words.txt").read_bytes().split()
    with as_file(folder.joinpath("word_vectors.bin")) as path, path.open("rb") as file:
        return _Table(words, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
