"""Rank short texts by a query: BM25 over names and descriptions."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from agent_core.state.tokenizer import cut

_NAME_WEIGHT = 3
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""The parameters k1 and b of BM25."""


class WordIndex:
    """An index of named texts; built once, and used for many queries."""

    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        """`texts` maps names to descriptions."""
        counts = [_count_words(name, text) for name, text in texts]
        self._numbers = {name: number for number, (name, _) in enumerate(texts)}
        self._lengths = [sum(words.values()) for words in counts]
        self._average = sum(self._lengths) / max(len(texts), 1)
        self._holders: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, words in enumerate(counts):
            for word, count in words.items():
                self._holders[word].append((number, count))

    def rank(self, query: str) -> list[int]:
        """Return the numbers of the matching texts, best first; an exact name comes first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in set(cut(query.replace("_", " "))):
            holders = self._holders.get(word, ())
            most = len(self._lengths)
            rarity = math.log(1 + (most - len(holders) + 0.5) / (len(holders) + 0.5))
            for number, count in holders:
                share = self._lengths[number] / self._average
                norm = count + _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * share)
                scores[number] += rarity * count * (_SATURATION + 1) / norm
        if (named := self._numbers.get(query.strip())) is not None:
            scores[named] = math.inf
        return [number for number, _ in sorted(scores.items(), key=lambda one: (-one[1], one[0]))]


def _count_words(name: str, text: str) -> Counter[str]:
    words = Counter(cut(text))
    for word in cut(name.replace("_", " ").replace("-", " ")):
        words[word] += _NAME_WEIGHT
    return words
