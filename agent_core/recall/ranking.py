"""The ranking of search hits, by their own words and those of their neighbours. Pure.

A message is scored as if it contained a share of its neighbours' words, because an answer seldom
repeats the words of its question. The weights were tuned on five of the ten LoCoMo conversations
and tested on the other five: docs/measurements.md, `bench/retrieval`. Small changes of a weight
change the result little.
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
"""Converts milliseconds to local time."""

NEAR, FAR = 0.24, 0.22
"""The share of a neighbour's word, at a distance of one and of two messages."""
ANSWER = 1.0
"""The same share for the words of a question directly before a message."""
QUESTION = 0.8
"""The factor for a message that is itself a question."""
_SHARES = {-2: FAR, -1: NEAR, 1: NEAR, 2: FAR}
SATURATION = 1.0
"""The saturation of repeated words, as in BM25 (k1)."""
LENGTH, USUAL, FLOOR = 0.2, 30, 12
"""The length penalty (b in BM25), the usual length, and the length that shorter messages count as,
because brevity alone is no merit.
"""
PAIR = 0.3
"""The bonus for adjacent query words, as a share of their weights."""
CONVERSATION = 0.25
"""The bonus for the conversation, as a share of the mean of its best three messages."""
SPEAKER, NAME = 0.9, 0.1
"""The bonus for a message by a person whom the query names, as a share of the name's weight; and
the factor for that name in a text.
"""
TIME, DAY, STATES_WHEN = 1.2, 1.0, 0.5
"""The bonuses for a message from the month or year asked for, from that very day, and for one that
tells a time when the query asks for one; in units of a usual word.
"""

_STATES_TIME: Final = frozenset(
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
    """A tokenised message: its query terms and its bonus."""

    message: FoundMessage
    term_counts: Mapping[int, int]
    """The count of each query term by its index."""
    extra: float
    half_count: float
    """The count at which a word reaches half of its weight, by message length."""
    is_question: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A message with its score. `holds` is true if it contains a query word itself.

    `before` is the message before it, if it was loaded.
    """

    message: FoundMessage
    score: float
    holds: bool
    before: FoundMessage | None = None


class Ranking:
    """Scores messages for one query. `weights` are the inverse document frequencies of its
    terms.
    """

    def __init__(self, query: Query, weights: Mapping[Term, float], clock: Clock) -> None:
        self._query = query
        self._terms = tuple(weights)
        self._worths = list(weights.values())
        self._by_word = {term.word: weight for term, weight in weights.items()}
        self._usual = sum(self._worths) / max(len(weights), 1)
        self._clock = clock
        self._named: dict[str, float] = {}

    def rank(self, windows: Iterable[Sequence[FoundMessage]]) -> list[Ranked]:
        """Rank messages by score, then newest first. Each window is a run of messages, oldest
        first.
        """
        messages: dict[MessageId, FoundMessage] = {}
        before: dict[MessageId, FoundMessage] = {}
        neighbours: dict[MessageId, dict[MessageId, int]] = {}
        for window in windows:
            for place, message in enumerate(window):
                messages[message.id] = message
                offsets = neighbours.setdefault(message.id, {})
                if place:
                    before[message.id] = window[place - 1]
                for step in (-2, -1, 1, 2):
                    if 0 <= place + step < len(window):
                        offsets[window[place + step].id] = step
        self._note_names({message.asker for message in messages.values()})
        read = {key: self._read(message) for key, message in messages.items()}
        conversations = _score_conversations(
            (one.message.session_id, self._score(one, one.term_counts)) for one in read.values()
        )
        ranked = [
            Ranked(
                message=one.message,
                score=self._score(
                    one,
                    _with_neighbours(
                        one, [(read[at], step) for at, step in neighbours[key].items()]
                    ),
                )
                + CONVERSATION * conversations[one.message.session_id],
                holds=bool(one.term_counts),
                before=before.get(key),
            )
            for key, one in read.items()
            if one.message.is_within
        ]
        ranked.sort(key=lambda one: (-one.score, -one.message.id))
        return ranked

    def _note_names(self, askers: Iterable[str]) -> None:
        """Note which speakers the query names, and reduce the weight of their names in texts.

        People are addressed by name more often than they are spoken about.
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
        term_counts: dict[int, int] = {}
        for place, term in enumerate(self._terms):
            if term.is_start:
                count = sum(word.startswith(term.word) for word in words)
            else:
                count = words.count(term.word)
            if count:
                term_counts[place] = count
        order = [word for word in words if word not in UNINDEXED]
        extra = self._usual * self._time_bonus(message, words)
        if len(term_counts) > 1:
            for left, right in self._query.pairs.intersection(pairwise(order)):
                extra += PAIR * (self._by_word.get(left, 0) + self._by_word.get(right, 0)) / 2
        if message.role == "user":
            extra += SPEAKER * self._named.get(message.asker, 0)
        length = max(len(order), FLOOR) / USUAL
        half_count = SATURATION * (1 - LENGTH + LENGTH * length)
        is_question = message.text.rstrip().endswith(("?", "？"))
        return _Read(message, term_counts, extra, half_count, is_question)

    def _score(self, one: _Read, counts: Mapping[int, float]) -> float:
        """Score a message for the given term counts."""
        score = one.extra
        for place, count in counts.items():
            score += self._worths[place] * count * (1 + SATURATION) / (count + one.half_count)
        return score * QUESTION if one.is_question else score

    def _time_bonus(self, message: FoundMessage, words: Sequence[str]) -> float:
        query, bonus = self._query, 0.0
        if query.months or query.years:
            said = self._clock(message.said_at)
            bonus += TIME * ((said.month in query.months) + (said.year in query.years))
            bonus += DAY * ((said.month, said.day) in query.days)
        if query.asks_when and not _STATES_TIME.isdisjoint(words):
            bonus += STATES_WHEN
        return bonus


def _with_neighbours(one: _Read, neighbours: Iterable[tuple[_Read, int]]) -> Mapping[int, float]:
    """Add the shares of the neighbours' terms to the counts of a message."""
    counts: dict[int, float] = dict(one.term_counts)
    for other, step in neighbours:
        share = ANSWER if step == -1 and other.is_question else _SHARES[step]
        for place in other.term_counts:
            counts[place] = counts.get(place, 0) + share
    return counts


def _score_conversations(scores: Iterable[tuple[SessionId, float]]) -> dict[SessionId, float]:
    """Compute a third of the sum of the three best scores per conversation."""
    by_conversation: dict[SessionId, list[float]] = {}
    for conversation, score in scores:
        by_conversation.setdefault(conversation, []).append(score)
    return {
        conversation: sum(sorted(found)[-3:]) / 3 for conversation, found in by_conversation.items()
    }
