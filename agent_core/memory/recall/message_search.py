"""Message search: candidates from the index, their neighbours, then the ranking."""

import heapq
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations, product

from agent_core.ids import MessageId, PassageId
from agent_core.memory.recall.query import Query
from agent_core.memory.recall.ranking import (
    ABOUT,
    NAME,
    SPEAKER,
    TIME,
    Clock,
    Ranked,
    Ranking,
    find_named,
)
from agent_core.state.engine.database import Connection
from agent_core.state.search import message_index, passages
from agent_core.state.search.message_index import Term
from agent_core.state.search.passages import FoundMessage, Passage
from agent_core.state.search.search_scope import SearchFilter
from agent_core.state.tokenizer import PLACES, cut, cut_message, normalize

MOST_HOLDERS = 600
"""The number of newest messages considered per word; pairs of words reach much further back."""
MOST_COUNTED = 2_000
"""The largest exact document frequency; more frequent words carry no information."""
LIKELY, POOL = 300, 50
"""The number of candidates whose authors are looked up; and the number of candidates that are
loaded with their neighbours and ranked.
"""
PROMISING = 15
"""The number of best candidates with two neighbours on each side; the others have one."""
MOST_READ = 2000
"""The number of newest messages to scan for text that is not in the index."""

MOST_MONTHS, MOST_PER_MONTH = 3, 200
"""The most months of a query that are searched separately, and the most messages per word in each
month.
"""

_PAIRED = 5
"""The number of rarest words that are searched in pairs, if a word of the pair is frequent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Hits, best first.

    `count` is the number of messages with a query word, or a lower bound if it is not `is_exact`.
    """

    hits: tuple[Ranked, ...]
    count: int
    is_exact: bool = True


def search_messages(
    connection: Connection, field: SearchFilter, query: Query, *, limit: int, clock: Clock
) -> Found:
    """Search the messages that the filter covers. Damaged ones are skipped and logged."""
    if not query.terms:
        return _scan(connection, field, query, limit)
    holders_by_term, weights, is_exact = _gather(connection, field, query.terms)
    scores: dict[PassageId, float] = {}
    for term, holders in holders_by_term.items():
        weight = weights[term]
        for passage_id in holders:
            scores[passage_id] = scores.get(passage_id, 0) + weight
    usual = sum(weights.values()) / max(len(weights), 1)
    for passage_id in _list_in_months(connection, field, query, holders_by_term):
        scores[passage_id] = scores.get(passage_id, 0) + TIME * usual
    excluded = passages.list_turn(connection, field=field)
    if excluded:
        scores = {
            one: score
            for one, score in scores.items()
            if message_index.message_of(one) not in excluded
        }
    best = _choose(connection, field, query, scores, holders_by_term, weights)
    ranking = Ranking(query, weights, clock)
    ranked = ranking.rank(_read_around(connection, field, best))
    hits = _drop_damaged(connection, ranked, limit)
    count = len({message_index.message_of(passage_id) for passage_id in scores})
    return Found(hits=hits, count=count, is_exact=is_exact)


def _choose(
    connection: Connection,
    field: SearchFilter,
    query: Query,
    scores: Mapping[PassageId, float],
    holders_by_term: Mapping[Term, Collection[PassageId]],
    weights: Mapping[Term, float],
) -> list[PassageId]:
    """Choose the passages to rank, best first: by their words, then also by their author.

    As in the ranking, a person's name counts for messages that this person wrote, and counts little
    in messages of others.
    """
    likely = heapq.nlargest(LIKELY, zip(scores.values(), scores, strict=True))
    message_ids = sorted({message_index.message_of(one) for _, one in likely})
    authors = passages.list_authors(connection, field=field, message_ids=message_ids)
    usual = sum(weights.values()) / max(len(weights), 1)
    terms = {term.word: term for term in query.terms}
    named = find_named({asker for _, asker in authors.values()}, terms.keys())
    worths = {
        name: max(weights.get(terms[word], usual) for word in words)
        for name, words in named.items()
    }
    of_names = {terms[word] for words in named.values() for word in words} & weights.keys()

    def rate(score: float, one: PassageId) -> float:
        role, asker = authors.get(message_index.message_of(one), ("", ""))
        if role == query.about:
            score += ABOUT * usual
        if role == "user":
            score += SPEAKER * worths.get(asker, 0)
        return score - sum(
            (1 - NAME) * weights[term] for term in of_names if one in holders_by_term[term]
        )

    chosen = heapq.nlargest(POOL, ((rate(score, one), one) for score, one in likely))
    return [one for _, one in chosen]


def _gather(
    connection: Connection, field: SearchFilter, terms: Sequence[Term]
) -> tuple[dict[Term, set[PassageId]], dict[Term, float], bool]:
    """Collect passages and a weight per term, and tell whether the passages are complete."""
    holders_by_term = {
        term: set(
            message_index.list_holders(connection, field=field, terms=[term], limit=MOST_HOLDERS)
        )
        for term in terms
    }
    holders_by_term = {term: holders for term, holders in holders_by_term.items() if holders}
    # Only the scope may decide how rare a word is, not the other filters.
    is_all = (field.since, field.until, field.role, field.platform) == (None,) * 4
    counts = {
        term: len(holders)
        if is_all and len(holders) < MOST_HOLDERS
        else message_index.count_holders(connection, field=field, term=term, most=MOST_COUNTED)
        for term, holders in holders_by_term.items()
    }
    total = message_index.count_holders(connection, field=field, most=MOST_COUNTED)
    if total == MOST_COUNTED:
        total = 4 * MOST_COUNTED
    weights = {
        term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()
    }
    is_exact = all(len(holders) < MOST_HOLDERS for holders in holders_by_term.values())
    rarest = sorted(holders_by_term, key=counts.__getitem__)[:_PAIRED]
    for pair in combinations(rarest, 2):
        if any(len(holders_by_term[term]) >= MOST_HOLDERS for term in pair):
            both = message_index.list_holders(connection, field=field, terms=pair, limit=POOL)
            for term in pair:
                holders_by_term[term] |= set(both)
    return holders_by_term, weights, is_exact


def _list_in_months(
    connection: Connection, field: SearchFilter, query: Query, terms: Iterable[Term]
) -> set[PassageId]:
    """Find passages with any of the terms from the months that the query names.

    Months are in UTC here; the ranking applies the local time zone.
    """
    found_in_months: set[PassageId] = set()
    if field.since is not None or field.until is not None:
        return found_in_months
    months = sorted(product(query.years, query.months), reverse=True)[:MOST_MONTHS]
    for year, month in months:
        first = datetime(year, month, 1, tzinfo=UTC)
        after = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        month_field = replace(
            field,
            since=int(first.timestamp() * 1000),
            until=int(after.timestamp() * 1000) - 1,
        )
        for term in terms:
            found_in_months.update(
                message_index.list_holders(
                    connection, field=month_field, terms=[term], limit=MOST_PER_MONTH
                )
            )
    return found_in_months


def _read_around(
    connection: Connection, field: SearchFilter, passage_ids: Sequence[PassageId]
) -> list[list[Passage]]:
    """Load the passages with their neighbours; the passages are given best first."""
    reaches = dict.fromkeys(passage_ids[PROMISING:], 1)
    reaches |= dict.fromkeys(passage_ids[:PROMISING], passages.REACH)
    windows: dict[MessageId, list[MessageId]] = {}
    for reach in (1, passages.REACH):
        some = {message_index.message_of(one) for one, wide in reaches.items() if wide == reach}
        windows |= passages.list_beside(
            connection, field=field, message_ids=sorted(some), reach=reach
        )
    wanted = sorted({message_id for window in windows.values() for message_id in window})
    cuts = {
        message.id: _cut(message)
        for message in passages.load_messages(connection, field=field, message_ids=wanted)
    }
    found: list[list[Passage]] = []
    for passage_id, reach in reaches.items():
        message_id, place = message_index.message_of(passage_id), passage_id % PLACES
        if place >= len(cuts.get(message_id, ())):
            continue  # the message is damaged, or was deleted since
        before = [one for one in windows[message_id] if one < message_id]
        middle = sum(len(cuts.get(one, ())) for one in before) + place
        run = [passage for one in windows[message_id] for passage in cuts.get(one, ())]
        found.append(run[max(middle - reach, 0) : middle + reach + 1])
    return found


def _cut(message: FoundMessage) -> list[Passage]:
    texts = cut_message(message.text)
    return [
        Passage(message=message, place=place, text=text, is_last=place == len(texts) - 1)
        for place, text in enumerate(texts)
    ]


def _scan(connection: Connection, field: SearchFilter, query: Query, limit: int) -> Found:
    """Scan the newest messages for fragments; an exact phrase ranks first."""
    newest = message_index.list_messages(connection, field=field, limit=MOST_READ)
    found = []
    for message in passages.load_messages(connection, field=field, message_ids=newest):
        if message.is_within and (score := _count_fragments(query, message.text)):
            best = max(_cut(message), key=lambda one: _count_fragments(query, one.text))
            found.append(
                Ranked(message=message, place=best.place, text=best.text, score=score, holds=True)
            )
    found.sort(key=lambda one: (-one.score, -one.message.id))
    hits = _drop_damaged(connection, found, limit)
    return Found(hits=hits, count=len(found), is_exact=len(newest) < MOST_READ)


def _count_fragments(query: Query, text: str) -> int:
    """Count the fragments in a text; if they occur as one phrase, this counts as one more."""
    folded, words = normalize(text), set(cut(text))
    found = sum(
        (set(cut(one)) <= words if one.isalnum() else one in folded) for one in query.fragments
    )
    return found + (" ".join(query.fragments) in folded if found else 0)


def _drop_damaged(
    connection: Connection, ranked: Sequence[Ranked], limit: int
) -> tuple[Ranked, ...]:
    """Return the first `limit` hits that are intact."""
    hits: list[Ranked] = []
    for start in range(0, len(ranked), limit):
        some = ranked[start : start + limit]
        damaged = passages.list_damaged(connection, message_ids=[one.message.id for one in some])
        hits += [one for one in some if one.message.id not in damaged]
        if len(hits) >= limit:
            break
    return tuple(hits[:limit])
