"""The order of what was found, made of nothing but the messages themselves. Pure.

A message is scored as if a little of what stands around it were in it, too: in talk the answer
to a question seldom repeats its words. The weights were set by hand on a small set of questions,
see `bench/retrieval`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agent_core.ids import MessageId, SessionId
from agent_core.recall.query import Query
from agent_core.state.passages import Saying
from agent_core.state.search import Term
from agent_core.state.stems import stem
from agent_core.state.words import UNINDEXED, cut

Clock = Callable[[int], datetime]
"""The local time of a moment in milliseconds."""

NEAR, FAR_OFF = 0.35, 0.15
"""How much of a word beside a message counts in it, one and two messages away."""
ANSWER = 0.55
"""The same for the words of a question right before a message."""
SATURATION = 1.0
"""How soon a word that is said again adds nothing more."""
LENGTH, USUAL, FLOOR = 0.3, 30, 12
"""How much length tells against a message; the words of a usual one; shorter ones count as so
long, for brevity alone is no merit."""
PAIR = 0.3
"""For words that stand side by side as they were asked, of what the two are worth."""
TALK = 0.15
"""For a conversation that is about it, of what its best three messages are worth."""
SPEAKER, NAME = 0.5, 0.5
"""For being said by somebody whom the query names, of what the name is worth; and what the name
itself is worth in a text then."""
TIME, TELLS_WHEN = 0.6, 0.4
"""For having been said in the month or year that is asked for; for telling a time when that is
asked; of what a usual word is worth."""

_TELLS_TIME: Final = frozenset(
    stem(word)
    for line in (
        "yesterday today tonight tomorrow ago last next week weekend month year morning evening",
        "monday tuesday wednesday thursday friday saturday sunday january february march april",
        "june july august september october november december recently since date",
    )
    for word in line.split()
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A message with its words, and those next to it."""

    saying: Saying
    counts: Counter[str]
    order: tuple[str, ...]
    is_question: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A message with its score; `holds` tells whether a word of the query is in itself."""

    saying: Saying
    score: float
    holds: bool


class Ranking:
    """Scores messages for one query. `weights` tells how rare each of its terms is."""

    def __init__(self, query: Query, weights: Mapping[Term, float], clock: Clock) -> None:
        self._query = query
        self._weights = weights
        self._clock = clock
        self._usual = sum(weights.values()) / max(len(weights), 1)
        self._worth = {term.word: weight for term, weight in weights.items()}

    def rank(self, windows: Iterable[Sequence[Saying]]) -> list[Ranked]:
        """Best first, then newest. A window is what stands together, oldest first."""
        read: dict[MessageId, _Read] = {}
        beside: dict[MessageId, dict[MessageId, int]] = {}
        for window in windows:
            for place, saying in enumerate(window):
                if saying.id not in read:
                    read[saying.id] = _read(saying)
                near = beside.setdefault(saying.id, {})
                for step in (-2, -1, 1, 2):
                    if 0 <= place + step < len(window):
                        near[window[place + step].id] = step
        asked = {one.saying.asker for one in read.values()} & self._named(read.values())
        own = {key: self._score(one, {}, read, asked) for key, one in read.items()}
        talks = _weigh_talks(read.values(), own)
        ranked = [
            Ranked(
                saying=one.saying,
                score=self._score(one, beside[key], read, asked)
                + TALK * talks[one.saying.session_id],
                holds=any(_count(one, term) for term in self._weights),
            )
            for key, one in read.items()
            if one.saying.is_within
        ]
        ranked.sort(key=lambda one: (-one.score, -one.saying.id))
        return ranked

    def _named(self, read: Iterable[_Read]) -> set[str]:
        """The people among those who speak whose names are in the query."""
        names = {one.saying.asker for one in read}
        return {name for name in names if any(word in self._worth for word in cut(name))}

    def _score(
        self,
        one: _Read,
        beside: Mapping[MessageId, int],
        read: Mapping[MessageId, _Read],
        named: set[str],
    ) -> float:
        around = [(read[key], _share(read[key], step)) for key, step in beside.items()]
        length = max(len(one.order), FLOOR)
        norm = SATURATION * (1 - LENGTH + LENGTH * length / USUAL)
        of_names = {word for name in named for word in cut(name)}
        score = 0.0
        for term, weight in self._weights.items():
            count = _count(one, term) + sum(
                share * min(_count(other, term), 1) for other, share in around
            )
            worth = weight * NAME if term.word in of_names else weight
            score += worth * count * (1 + SATURATION) / (count + norm)
        for left, right in self._query.pairs.intersection(
            zip(one.order, one.order[1:], strict=False)
        ):
            score += PAIR * (self._worth.get(left, 0) + self._worth.get(right, 0)) / 2
        if one.saying.role == "user" and one.saying.asker in named:
            score += SPEAKER * max(self._worth.get(word, 0) for word in cut(one.saying.asker))
        return score + self._usual * self._suit_time(one)

    def _suit_time(self, one: _Read) -> float:
        query, suits = self._query, 0.0
        if query.months or query.years:
            said = self._clock(one.saying.said_at)
            suits += TIME * ((said.month in query.months) + (said.year in query.years))
        if query.asks_when and any(word in _TELLS_TIME for word in one.counts):
            suits += TELLS_WHEN
        return suits


def _read(saying: Saying) -> _Read:
    words = cut(saying.text)
    order = tuple(word for word in words if word not in UNINDEXED)
    return _Read(saying, Counter(words), order, saying.text.rstrip().endswith(("?", "？")))


def _count(one: _Read, term: Term) -> int:
    if term.is_start:
        return sum(count for word, count in one.counts.items() if word.startswith(term.word))
    return one.counts[term.word]


def _share(other: _Read, step: int) -> float:
    if step == -1 and other.is_question:
        return ANSWER
    return NEAR if abs(step) == 1 else FAR_OFF


def _weigh_talks(
    read: Iterable[_Read], scores: Mapping[MessageId, float]
) -> dict[SessionId, float]:
    """What the three best messages of each conversation are worth on average."""
    by_talk: dict[SessionId, list[float]] = {}
    for one in read:
        by_talk.setdefault(one.saying.session_id, []).append(scores[one.saying.id])
    return {talk: sum(sorted(found)[-3:]) / 3 for talk, found in by_talk.items()}
