"""The order of what was found, made of nothing but the messages themselves. Pure.

A message is scored as if a little of what stands around it were in it, too: in talk the answer
to a question seldom repeats its words. The weights were set on five of the ten talks of LoCoMo,
and the other five tell how well: docs/measurements.md, `bench/retrieval`. They lie where small
changes change little.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from agent_core.ids import MessageId, SessionId
from agent_core.recall.query import Query
from agent_core.state.search.passages import FoundMessage
from agent_core.state.search.search import Term
from agent_core.state.tokenizer import UNINDEXED, cut, stem

Clock = Callable[[int], datetime]
"""The local time of a moment in milliseconds."""

NEAR, FAR_OFF = 0.24, 0.22
"""How much of a word beside a message counts in it, one and two messages away."""
ANSWER = 1.0
"""The same for the words of a question right before a message."""
QUESTION = 0.8
"""What is left of the score of a message that itself only asks."""
_SHARES = {-2: FAR_OFF, -1: NEAR, 1: NEAR, 2: FAR_OFF}
SATURATION = 1.0
"""How soon a word that is said again adds nothing more."""
LENGTH, USUAL, FLOOR = 0.2, 30, 12
"""How much length tells against a message; the words of a usual one; shorter ones count as so
long, for brevity alone is no merit."""
PAIR = 0.3
"""For words that stand side by side as they were asked, of what the two are worth."""
TALK = 0.25
"""For a conversation that is about it, of what its best three messages are worth."""
SPEAKER, NAME = 0.9, 0.1
"""For being said by somebody whom the query names, of what the name is worth; and what the name
itself is worth in a text then."""
TIME, DAY, TELLS_WHEN = 1.2, 1.0, 0.5
"""For having been said in the month or year that is asked for, and on that very day; for telling
a time when that is asked; of what a usual word is worth."""

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
    """A message as it was read: which terms are in it, and what it earns besides."""

    message: FoundMessage
    held: Mapping[int, int]
    """How often the terms are in it that are, by their places in the query."""
    extra: float
    norm: float
    """How often a word must be said for half of its worth, by the length of the message."""
    is_question: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A message with its score; `holds` tells whether a word of the query is in itself.

    `before` is what was said right before it, where that was read.
    """

    message: FoundMessage
    score: float
    holds: bool
    before: FoundMessage | None = None


class Ranking:
    """Scores messages for one query. `weights` tells how rare each of its terms is."""

    def __init__(self, query: Query, weights: Mapping[Term, float], clock: Clock) -> None:
        self._query = query
        self._terms = tuple(weights)
        self._worths = list(weights.values())
        self._by_word = {term.word: weight for term, weight in weights.items()}
        self._usual = sum(self._worths) / max(len(weights), 1)
        self._clock = clock
        self._named: dict[str, float] = {}

    def rank(self, windows: Iterable[Sequence[FoundMessage]]) -> list[Ranked]:
        """Best first, then newest. A window is what stands together, oldest first."""
        messages: dict[MessageId, FoundMessage] = {}
        before: dict[MessageId, FoundMessage] = {}
        beside: dict[MessageId, dict[MessageId, int]] = {}
        for window in windows:
            for place, message in enumerate(window):
                messages[message.id] = message
                near = beside.setdefault(message.id, {})
                if place:
                    before[message.id] = window[place - 1]
                for step in (-2, -1, 1, 2):
                    if 0 <= place + step < len(window):
                        near[window[place + step].id] = step
        self._note_names({message.asker for message in messages.values()})
        read = {key: self._read(message) for key, message in messages.items()}
        talks = _weigh_talks(
            (one.message.session_id, self._score(one, one.held)) for one in read.values()
        )
        ranked = [
            Ranked(
                message=one.message,
                score=self._score(
                    one, _add_up(one, [(read[at], step) for at, step in beside[key].items()])
                )
                + TALK * talks[one.message.session_id],
                holds=bool(one.held),
                before=before.get(key),
            )
            for key, one in read.items()
            if one.message.is_within
        ]
        ranked.sort(key=lambda one: (-one.score, -one.message.id))
        return ranked

    def _note_names(self, askers: Iterable[str]) -> None:
        """Keep in mind who of those who speak is named in the query, and lessen what the name
        tells in a text: people are spoken to by name more often than of.
        """
        names = {name: set(cut(name)) & self._by_word.keys() for name in askers}
        self._named = {
            name: max(self._by_word[word] for word in words)
            for name, words in names.items()
            if words
        }
        of_names = set[str]().union(*names.values())
        self._worths = [
            self._by_word[term.word] * (NAME if term.word in of_names else 1)
            for term in self._terms
        ]

    def _read(self, message: FoundMessage) -> _Read:
        words = cut(message.text)
        held: dict[int, int] = {}
        for place, term in enumerate(self._terms):
            if term.is_start:
                count = sum(word.startswith(term.word) for word in words)
            else:
                count = words.count(term.word)
            if count:
                held[place] = count
        order = [word for word in words if word not in UNINDEXED]
        extra = self._usual * self._suit_time(message, words)
        if len(held) > 1:
            for left, right in self._query.pairs.intersection(pairwise(order)):
                extra += PAIR * (self._by_word.get(left, 0) + self._by_word.get(right, 0)) / 2
        if message.role == "user":
            extra += SPEAKER * self._named.get(message.asker, 0)
        length = max(len(order), FLOOR) / USUAL
        norm = SATURATION * (1 - LENGTH + LENGTH * length)
        is_question = message.text.rstrip().endswith(("?", "？"))
        return _Read(message, held, extra, norm, is_question)

    def _score(self, one: _Read, counts: Mapping[int, float]) -> float:
        """What a message is worth when its terms, by their places, are there so often."""
        score = one.extra
        for place, count in counts.items():
            score += self._worths[place] * count * (1 + SATURATION) / (count + one.norm)
        return score * QUESTION if one.is_question else score

    def _suit_time(self, message: FoundMessage, words: Sequence[str]) -> float:
        query, suits = self._query, 0.0
        if query.months or query.years:
            said = self._clock(message.said_at)
            suits += TIME * ((said.month in query.months) + (said.year in query.years))
            suits += DAY * ((said.month, said.day) in query.days)
        if query.asks_when and not _TELLS_TIME.isdisjoint(words):
            suits += TELLS_WHEN
        return suits


def _add_up(one: _Read, beside: Iterable[tuple[_Read, int]]) -> Mapping[int, float]:
    """How often each term is in a message, with what stands so many steps beside it."""
    counts: dict[int, float] = dict(one.held)
    for other, step in beside:
        share = ANSWER if step == -1 and other.is_question else _SHARES[step]
        for place in other.held:
            counts[place] = counts.get(place, 0) + share
    return counts


def _weigh_talks(scores: Iterable[tuple[SessionId, float]]) -> dict[SessionId, float]:
    """What the three best messages of each conversation are worth on average."""
    by_talk: dict[SessionId, list[float]] = {}
    for talk, score in scores:
        by_talk.setdefault(talk, []).append(score)
    return {talk: sum(sorted(found)[-3:]) / 3 for talk, found in by_talk.items()}
