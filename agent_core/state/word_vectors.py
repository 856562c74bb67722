"""Word vectors: texts on one subject point in a similar direction, also across languages. Pure.

The table holds 50,000 words and parts of words in Latin letters, mostly English.
`tools/make_word_vectors.py` makes it from two language models, which `NOTICE` names. Each entry has
a byte for the rarity of the word and 96 numbers of four bits. No model runs here: the vector of a
text is the sum of its words' vectors, and frequent words weigh little.
"""

import math
import mmap
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import islice
from operator import mul
from typing import NamedTuple

DIMENSIONS = 96
RARITIES = 16
"""Steps of the rarity byte per unit of the natural logarithm of a word's probability."""
STEP = 0.038
"""The value of one step of a number: 15 steps span 2.8 standard deviations to both sides."""
MIDDLE = 7.5
_ENTRY = 1 + DIMENSIONS // 2
_COMMON = 1e-4
"""The probability of a word that gets half of the full weight."""
_LONGEST_WORD = 40
_LONGEST_PART = 20
_SHORTEST_BEGINNING = 4
_UNKNOWN = -30.0
"""The logarithm of the probability that is assumed for a letter that no known part covers."""
_MOST_WORDS = 300
_REMEMBERED = 8_192
_WORD = re.compile(r"[^\W\d_]+")
_LOW = bytes(byte & 15 for byte in range(256))
_HIGH = bytes(byte >> 4 for byte in range(256))
_SIGNS = int.from_bytes(b"\x88" * (DIMENSIONS // 2))
"""Selects the upper bit of each number: whether it is above the middle."""
_MOST_APART = 38
"""Words whose signs differ in more places are not compared, because they are hardly ever alike."""
LEAST_ALIKE = 0.3
"""The cosine below which two words are not alike."""


class _Table(NamedTuple):
    words: Sequence[bytes]
    """All words, sorted by their bytes."""
    entries: mmap.mmap
    """The memory-mapped entries: only pages of words that were looked up are loaded."""

    def find(self, word: str) -> int:
        """Return the number of a word, or -1."""
        key = word.encode()
        number = bisect_left(self.words, key)
        return number if number < len(self.words) and self.words[number] == key else -1

    def rate(self, number: int) -> float:
        """Return the logarithm of a word's probability."""
        return -self.entries[number * _ENTRY] / RARITIES

    def pack(self, number: int) -> bytes:
        """Return the numbers of a word, two in a byte."""
        place = number * _ENTRY + 1
        return self.entries[place : place + DIMENSIONS // 2]


def list_words(text: str) -> list[str]:
    """Return the words of a text in lower case, in the form of the table."""
    return _WORD.findall(text.lower())


def measure_frequency(word: str) -> float:
    """Return the general probability of a word; 0 for a word that is not in the table."""
    table = _read_table()
    number = table.find(word)
    return math.exp(table.rate(number)) if number >= 0 else 0.0


class Likeness:
    """Compares words with a given list of words. All words are in lower case.

    A word that the table lacks counts as its longest known beginning. Finding the likeliest parts,
    as `embed` does, takes ten times as long and finds no more messages.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """Look the words up. A word without a known beginning is like no other word."""
        numbers = [_find_beginning(word) for word in words]
        self._wanted = [
            (place, _read_signs(number), _read_direction(number))
            for place, number in enumerate(numbers)
            if number >= 0
        ]
        self._known: dict[int, Mapping[int, float]] = {-1: {}}

    def compare(self, word: str) -> Mapping[int, float]:
        """Return the cosines above `LEAST_ALIKE`, by the position of each similar word."""
        number = _find_beginning(word)
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._compare(number)
        return found

    def _compare(self, number: int) -> Mapping[int, float]:
        signs = _read_signs(number)
        cosines = (
            (place, sum(map(mul, _read_direction(number), wanted)))
            for place, others, wanted in self._wanted
            if (signs ^ others).bit_count() <= _MOST_APART
        )
        return {place: cosine for place, cosine in cosines if cosine > LEAST_ALIKE}


@lru_cache(maxsize=_REMEMBERED)
def _find_beginning(word: str) -> int:
    """Return the number of a word, or of its longest known beginning (over half of it), or -1."""
    table = _read_table()
    for end in range(len(word), max(len(word) // 2, _SHORTEST_BEGINNING - 1), -1):
        if (number := table.find(word[:end])) >= 0:
            return number
    return table.find(word)


def _read_signs(number: int) -> int:
    """Return one bit for each number of an entry, set if it is above the middle."""
    return int.from_bytes(_read_table().pack(number)) & _SIGNS


@lru_cache(maxsize=_REMEMBERED)
def _read_direction(number: int) -> "array[float]":
    """Return the vector of an entry, scaled to the length 1."""
    packed = _read_table().pack(number)
    row = [value - MIDDLE for value in packed.translate(_LOW) + packed.translate(_HIGH)]
    length = math.sqrt(sum(value * value for value in row))
    return array("f", [value / length for value in row])


def embed(text: str) -> "array[float]":
    """Return the vector of a text: the weighted sum of the vectors of its first 300 words."""
    table = _read_table()
    total = [0.0] * DIMENSIONS
    weights = 0.0
    for found in islice(_WORD.finditer(text.lower()), _MOST_WORDS):
        for number in _split(found[0]):
            weight = _COMMON / (_COMMON + math.exp(table.rate(number)))
            packed = table.pack(number)
            row = packed.translate(_LOW) + packed.translate(_HIGH)
            total = [sum_ + weight * value for sum_, value in zip(total, row, strict=True)]
            weights += weight
    return array("f", [STEP * (value - MIDDLE * weights) for value in total])


@lru_cache(maxsize=_REMEMBERED)
def point(text: str) -> "array[float]":
    """Return the direction of a text: its vector at the length 1, or 0 without a known word."""
    vector = embed(text)
    length = math.sqrt(sum(value * value for value in vector))
    return array("f", [value / length for value in vector]) if length else vector


@lru_cache(maxsize=_REMEMBERED)
def _split(word: str) -> tuple[int, ...]:
    """Return the numbers of a word, or else of the likeliest parts that it consists of."""
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
    """Yield the start and the number of each known part of a word that ends at `end`."""
    for start in range(max(end - _LONGEST_PART, 0), end):
        if (number := table.find(word[start:end])) >= 0:
            yield start, number


@cache
def _read_table() -> _Table:
    folder = files("agent_core.state")
    words = folder.joinpath("words.txt").read_bytes().split()
    with as_file(folder.joinpath("word_vectors.bin")) as path, path.open("rb") as file:
        return _Table(words, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
