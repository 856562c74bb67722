"""The ranking of skills by a request: BM25F over names, descriptions and texts, and topics.

A topic is a line of `topics.txt`: words in English and German that people use for one thing. The
request "my rose has yellow leaves" finds a skill on plants. Pure, after the table is read.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from agent_core.state.tokenizer import UNINDEXED, cut

_NAME, _DESCRIPTION, _BODY = 2.0, 1.0, 0.1
"""Weights of the fields."""
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
"""The parameters k1 and b of BM25."""
_RELATED = 0.5
"""The weight of a word of the same topic."""
_PART = 4
"""Letters of the shortest part that is found in a longer word, such as in a German compound."""
_LONGEST_BODY = 20_000
"""Characters of a text that are indexed."""

_ASKING = frozenset(
    word
    for line in (
        "again always anything can could everything find get give go hello help hi keep know let",
        "like lot make many much need never new nice now ok okay only please put really right see",
        "show something start still stop sure take thanks thing think time try use want way work",
        "aber als am an auch auf aus bei bis bitte da damit dann das dass dem den der des die dir",
        "doch du ein eine einem einen einer er es etwas fur gib habe haben hast hat hier ich ihr",
        "im in ist ja jetzt kann kannst kein keine konnen konntest mach machen mal mehr mein meine",
        "meinem meinen meiner mich mir mit mochte muss mussen nach nicht noch nur oder schon sehr",
        "sich sie sind so soll uber um und uns unser unsere unter viel vom von vor wann war warum",
        "was welche welchen welcher wenn wer wie will wir wird wo zeig zu zum zur",
    )
    for word in cut(line)
)
"""Words with which people ask for anything."""


class SkillIndex:
    """An index of skills; built once, and asked often."""

    def __init__(self, texts: Sequence[tuple[str, str, str]]) -> None:
        """`texts` are names with their descriptions and their bodies."""
        self._numbers = {name: number for number, (name, _, _) in enumerate(texts)}
        self._count = len(texts)
        fields = [
            (_NAME, [Counter(cut(name.replace("-", " "))) for name, _, _ in texts]),
            (_DESCRIPTION, [Counter(cut(described)) for _, described, _ in texts]),
            (_BODY, [Counter(cut(body[:_LONGEST_BODY])) for _, _, body in texts]),
        ]
        self._holders: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for weight, counts in fields:
            lengths = [sum(words.values()) for words in counts]
            average = max(sum(lengths) / max(len(lengths), 1), 1.0)
            for number, words in enumerate(counts):
                norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * lengths[number] / average
                for word, count in words.items():
                    held = self._holders[word]
                    held[number] = held.get(number, 0.0) + weight * count / norm

    def rank(self, query: str, least: float = 0.0) -> list[int]:
        """Return the numbers of the skills that fit a query, best first; a name itself is first.

        Those whose score is not above `least` are left out.
        """
        scores: defaultdict[int, float] = defaultdict(float)
        for word in {*cut(query)} - UNINDEXED - _ASKING:
            best: dict[int, float] = {}
            for related, weight in _list_related(word):
                for number, score in self._score(related):
                    best[number] = max(best.get(number, 0.0), weight * score)
            for number, score in best.items():
                scores[number] += score
        if (named := self._numbers.get(query.strip())) is not None:
            scores[named] = math.inf
        found = [(-score, number) for number, score in scores.items() if score > least]
        return [number for _, number in sorted(found)]

    def _score(self, word: str) -> Iterator[tuple[int, float]]:
        holders = self._holders.get(word, {})
        rarity = math.log(1 + (self._count - len(holders) + 0.5) / (len(holders) + 0.5))
        for number, count in holders.items():
            yield number, rarity * count * (_SATURATION + 1) / (count + _SATURATION)


def _list_related(word: str) -> Iterator[tuple[str, float]]:
    """Yield a word, and those of its topics, with their weights."""
    yield word, 1.0
    topics = _read_topics()
    known = topics.get(word)
    if known is None:
        parts = [part for part in topics if len(part) >= _PART and _is_part(part, word)]
        known = frozenset[str]().union(*(topics[part] for part in parts))
    for related in known:
        if related != word:
            yield related, _RELATED


def _is_part(part: str, word: str) -> bool:
    return len(word) >= len(part) + _PART - 1 and (word.startswith(part) or word.endswith(part))


@cache
def _read_topics() -> Mapping[str, frozenset[str]]:
    """Read the table, as the words that each word is related to."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    table = files("agent_core.skills.tools").joinpath("topics.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        words = set(cut(line))
        for word in words:
            found[word] |= words
    return {word: frozenset(related) for word, related in found.items()}
