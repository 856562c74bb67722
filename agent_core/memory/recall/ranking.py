"""The ranking of search hits, by their own words and those of their neighbours. Pure.

A message is scored by its best passage. A share of the neighbours' words counts as the passage's
own, because an answer seldom repeats the words of its question. The weights were tuned on the odd
conversations of LoCoMo, BEAM and invented sets, and tested on the even ones: see
docs/measurements.md and `bench/retrieval`. A small change of a weight changes the result little.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from agent_core.ids import MessageId, SessionId
from agent_core.memory.recall.query import Query
from agent_core.state.search.message_index import Term
from agent_core.state.search.passages import FoundMessage, Passage
from agent_core.state.tokenizer import ENGLISH, UNINDEXED, cut, stem
from agent_core.state.word_vectors import LEAST_ALIKE, Likeness, list_words

Clock = Callable[[int], datetime]
"""Converts milliseconds to local time."""

NEAR, FAR = 0.24, 0.22
"""The share that a neighbour's word counts, at a distance of one and of two passages."""
ANSWER = 1.0
"""The same share for the words of a question in the message directly before."""
DILUTION = 0.2
"""The length penalty on these shares, because a word of a long neighbour says less."""
QUESTION, SHORT = 0.8, 4
"""The factor for a message that is itself a question, and the number of words up to which it
applies fully. A longer message mostly tells something before it asks, and loses less.
"""
_SHARES = {-2: FAR, -1: NEAR, 1: NEAR, 2: FAR}
SATURATION = 1.0
"""The saturation of repeated words, like k1 in BM25."""
LENGTH, USUAL, FLOOR = 0.9, 20, 20
"""The length penalty (b in BM25), the usual length in words, and the least length that a message
counts as, because being short is no merit.
"""
PAIR = 0.3
"""The bonus for two adjacent words of the query, as a share of their weights."""
CONVERSATION = 0.25
"""The bonus for a good conversation, as a share of the mean score of its best three messages."""
SPEAKER, NAME = 0.9, 0.1
"""The bonus for a message by a person whom the query names, as a share of the name's weight; and
the factor for that name in the text of messages.
"""
ABOUT = 2.0
"""The bonus for a message by the author that the query asks about, in weights of a usual word. Most
questions are about what the person said, or what the assistant answered.
"""
STANDING = 1.5
"""The bonus for a message in which a person states a wish for future answers, if the query asks for
a new answer; in weights of a usual word.
"""
TIME, DAY, STATES_WHEN = 1.6, 1.0, 0.5
"""The bonuses for a message from the month or year that the query names, for one from the exact
day, and for one that states a time when the query asks for a time; in weights of a usual word.
"""
OWN, REPLY = 0.3, 0.15
"""The bonus for a message that speaks of its author, which becomes a penalty if it speaks only of
its reader; and the penalty for one that begins like a reply. Both are in weights of a usual word.
Most questions are about what people told of themselves.
"""
ALIKE, COMPARED = 0.65, 30
"""The bonus for a word that is similar in meaning to a query word which the passage lacks. It is a
share of that word's weight per unit of similarity above the least. The second number is how many of
the best messages are compared in this way.
"""


def _stem_all(*lines: str) -> frozenset[str]:
    """Return the stems of all words in the lines."""
    return frozenset(stem(word) for line in lines for word in line.split())


_STATES_TIME: Final = _stem_all(
    "yesterday today tonight tomorrow ago last next week weekend month year morning evening",
    "monday tuesday wednesday thursday friday saturday sunday january february march april",
    "june july august september october november december recently since date",
)


_AUTHOR: Final = _stem_all(
    "i me my mine myself we us our ours",
    "ich mich mir mein meine meinem meinen meiner wir uns unser unsere unserem unseren unserer",
    "je moi mes nous notre nos yo mis nosotros nuestro nuestra",
)
_READER: Final = _stem_all(
    "you your yours yourself du dich dir dein deine deinem deinen deiner",
    "tu vous votre vos usted tus",
)
_REPLIES: Final = _stem_all(
    "absolutely awesome congrats cool glad great hey hi nice oh sounds thank that totally wow",
    "yeah yes danke hallo ja klingt super toll",
)
"""Words with which messages speak of their author, speak of their reader, or begin a reply."""


_WISHES: Final = _stem_all("prefer bevorzuge")
_ORDERS: Final = _stem_all("always never immer nie niemals")
"""Words of wishes, and words with which orders for future answers begin."""

_Key = tuple[MessageId, int]
"""A message, and the number of a passage in it."""
_Scored = tuple[float, _Key]
"""The score of a passage, and its key."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A tokenised passage: its query terms and its bonus."""

    passage: Passage
    term_counts: Mapping[int, int]
    """The count of each query term by its index."""
    extra: float
    half_count: float
    """The count at which a word gets half of its full weight, for the passage's length."""
    thinness: float
    """The factor for the passage's words as words of its neighbours; lower if it is long."""
    factor: float
    """A factor for the score; below 1 for a question."""
    is_question: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A message with its score and its best passage.

    `holds` is true if that passage contains a word of the query. `before` is the passage before it,
    if it was loaded.
    """

    message: FoundMessage
    place: int
    text: str
    score: float
    holds: bool
    before: Passage | None = None


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
        self._sought: list[tuple[str, float]] = []
        self._likeness = Likeness([])

    def rank(self, windows: Iterable[Sequence[Passage]]) -> list[Ranked]:
        """Rank messages by their best passages, and equal ones newest first.

        Each window is a sequence of neighbouring passages, oldest first.
        """
        passages: dict[_Key, Passage] = {}
        neighbours: dict[_Key, dict[int, _Key]] = {}
        for window in windows:
            keys = [(one.message.id, one.place) for one in window]
            passages.update(zip(keys, window, strict=True))
            for place, key in enumerate(keys):
                beside = neighbours.setdefault(key, {})
                for step in _SHARES:
                    if 0 <= place + step < len(keys):
                        beside[step] = keys[place + step]
        self._note_names({one.message.asker for one in passages.values()})
        read = {key: self._read(passage) for key, passage in passages.items()}
        conversations = _score_conversations(
            (one.passage.message, self._score(one, one.term_counts)) for one in read.values()
        )
        best: dict[MessageId, _Scored] = {}
        for key, one in read.items():
            if not one.passage.message.is_within:
                continue
            near = {step: read[other] for step, other in neighbours[key].items()}
            score = self._score(one, _with_neighbours(one, near))
            if key[0] not in best or score > best[key[0]][0]:
                best[key[0]] = score, key
        ranked = sorted(
            (
                (score + CONVERSATION * conversations[read[key].passage.message.session_id], key)
                for score, key in best.values()
            ),
            key=_order,
        )
        compared = [
            (score + self._likeness_bonus(read[key]), key) for score, key in ranked[:COMPARED]
        ]
        return [
            Ranked(
                message=read[key].passage.message,
                place=key[1],
                text=read[key].passage.text,
                score=score,
                holds=bool(read[key].term_counts),
                before=passages[neighbours[key][-1]] if -1 in neighbours[key] else None,
            )
            for score, key in (*sorted(compared, key=_order), *ranked[COMPARED:])
        ]

    def _note_names(self, askers: Iterable[str]) -> None:
        """Find the speakers whom the query names, and reduce the weight of their names in texts.

        In messages, a person's name mostly addresses the person and says little about the content.
        """
        names = find_named(askers, {term.word for term in self._query.terms})
        # If only two people write, they hardly write names: such a name weighs as a usual word.
        self._named = {
            name: max(self._by_word.get(word, self._usual) for word in words)
            for name, words in names.items()
        }
        of_names = set[str]().union(*names.values())
        self._worths = [
            self._by_word[term.word] * (NAME if term.word in of_names else 1)
            for term in self._terms
        ]
        # A word that occurs in no message weighs as much as a usual one.
        self._sought = [
            (term.word, self._by_word.get(term.word, self._usual))
            for term in self._query.terms
            if term.word in self._query.written and term.word not in of_names
        ]
        self._likeness = Likeness([self._query.written[word] for word, _ in self._sought])

    def _read(self, passage: Passage) -> _Read:
        words = cut(passage.text)
        term_counts: dict[int, int] = {}
        for place, term in enumerate(self._terms):
            if term.any_of:
                count = len(term.any_of.intersection(words))
            elif term.is_start:
                count = sum(word.startswith(term.word) for word in words)
            else:
                count = words.count(term.word)
            if count:
                term_counts[place] = count
        order = [word for word in words if word not in UNINDEXED]
        is_question = passage.is_last and passage.text.endswith(("?", "？"))
        doubt = min(1, SHORT / max(len(order), 1)) if is_question else 0
        extra = self._usual * (
            self._time_bonus(passage.message, words) + _own_bonus(passage, words, doubt)
        )
        if len(term_counts) > 1:
            for left, right in self._query.pairs.intersection(pairwise(order)):
                extra += PAIR * (self._by_word.get(left, 0) + self._by_word.get(right, 0)) / 2
        length = max(len(order), FLOOR) / USUAL
        return _Read(
            passage=passage,
            term_counts=term_counts,
            extra=extra + self._speaker_bonus(passage.message) + self._wish_bonus(passage, words),
            half_count=SATURATION * (1 - LENGTH + LENGTH * length),
            thinness=1 / (1 - DILUTION + DILUTION * length),
            factor=1 - (1 - QUESTION) * doubt,
            is_question=is_question,
        )

    def _score(self, one: _Read, counts: Mapping[int, float]) -> float:
        """Score a passage for the given term counts."""
        score = one.extra
        for place, count in counts.items():
            score += self._worths[place] * count * (1 + SATURATION) / (count + one.half_count)
        return score * one.factor

    def _speaker_bonus(self, message: FoundMessage) -> float:
        bonus = ABOUT * self._usual if message.role == self._query.about else 0.0
        if message.role == "user":
            bonus += SPEAKER * self._named.get(message.asker, 0)
        return bonus

    def _likeness_bonus(self, one: _Read) -> float:
        """Reward words that are similar to query words which the passage lacks."""
        best: dict[int, float] = {}
        for word in set(list_words(one.passage.text)) - ENGLISH:
            for place, cosine in self._likeness.compare(word).items():
                best[place] = max(best.get(place, 0.0), cosine)
        held = {self._terms[place].word for place in one.term_counts}
        return ALIKE * sum(
            self._sought[place][1] * (cosine - LEAST_ALIKE)
            for place, cosine in best.items()
            if self._sought[place][0] not in held
        )

    def _wish_bonus(self, passage: Passage, words: Sequence[str]) -> float:
        if not self._query.is_request or passage.message.role != "user":
            return 0
        is_order = passage.place == 0 and not _ORDERS.isdisjoint(words[:1])
        is_wish = is_order or not _WISHES.isdisjoint(words)
        return STANDING * self._usual if is_wish else 0

    def _time_bonus(self, message: FoundMessage, words: Sequence[str]) -> float:
        query, bonus = self._query, 0.0
        if query.months or query.years:
            said = self._clock(message.said_at)
            bonus += TIME * ((said.month in query.months) + (said.year in query.years))
            bonus += DAY * ((said.month, said.day) in query.days)
        if query.asks_when and not _STATES_TIME.isdisjoint(words):
            bonus += STATES_WHEN
        return bonus


def _own_bonus(passage: Passage, words: Sequence[str], doubt: float) -> float:
    """Return the bonus or penalty for whom a message is about, in weights of a usual word.

    `doubt` tells how much of the passage is a question, from 0 to 1.
    """
    bonus = 0.0
    if not _AUTHOR.isdisjoint(words):
        bonus = OWN * (1 - doubt)
    elif not _READER.isdisjoint(words):
        bonus = -OWN
    return bonus - REPLY if passage.place == 0 and not _REPLIES.isdisjoint(words[:1]) else bonus


def find_named(names: Iterable[str], words: Collection[str]) -> dict[str, set[str]]:
    """Return the people whose names contain some of the words, with those words."""
    found = {name: {word for word in cut(name) if word in words} for name in names}
    return {name: parts for name, parts in found.items() if parts}


def _order(scored: _Scored) -> tuple[float, int]:
    score, (message_id, _) = scored
    return -score, -message_id


def _with_neighbours(one: _Read, beside: Mapping[int, _Read]) -> Mapping[int, float]:
    """Add the shares of the neighbours' terms to the term counts of a passage."""
    counts: dict[int, float] = dict(one.term_counts)
    for step, other in beside.items():
        is_answer = (
            step == -1 and other.is_question and other.passage.message.id != one.passage.message.id
        )
        share = (ANSWER if is_answer else _SHARES[step]) * other.thinness
        for place in other.term_counts:
            counts[place] = counts.get(place, 0) + share
    return counts


def _score_conversations(
    scores: Iterable[tuple[FoundMessage, float]],
) -> dict[SessionId, float]:
    """Compute a third of the sum of the three best messages per conversation."""
    by_conversation: dict[SessionId, dict[MessageId, float]] = {}
    for message, score in scores:
        found = by_conversation.setdefault(message.session_id, {})
        found[message.id] = max(found.get(message.id, score), score)
    return {
        conversation: sum(sorted(found.values())[-3:]) / 3
        for conversation, found in by_conversation.items()
    }
