"""From a query to messages: what the index knows of its words, then what stands around them."""

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations, product

from agent_core.ids import MessageId
from agent_core.recall.query import Query
from agent_core.recall.ranking import TIME, Clock, Ranked, Ranking
from agent_core.state.engine.database import Connection
from agent_core.state.search import passages, search
from agent_core.state.search.passages import FoundMessage
from agent_core.state.search.search import Field, Term
from agent_core.state.tokenizer import cut, fold

MOST_HOLDERS = 600
"""Messages that are looked at for one word, the newest ones; with two words, many more lie
behind them."""
MOST_COUNTED = 2_000
"""How far is counted how often a word was said: what is still more frequent tells nothing."""
POOL = 40
"""Messages that are read, with those around them, to be put in order."""
PROMISING = 15
"""Of the pool, those around which two messages on each side are read; of the others one."""
MOST_READ = 2000
"""Messages that are read for what the index does not have, the newest ones."""

MOST_MONTHS, MOST_THEN = 3, 200
"""Months that are named by a query in which its words are looked for once more, and messages of
each that are looked at for one word, the newest ones."""

_PAIRED = 5
"""Of so many of the rarest words every two are looked for together, where one is frequent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found, best first. `count` is how many messages hold a word of the query; there
    may be more if it is not `is_exact`.
    """

    hits: tuple[Ranked, ...]
    count: int
    is_exact: bool = True


def find(connection: Connection, field: Field, query: Query, *, limit: int, clock: Clock) -> Found:
    """The best messages of the field. Damaged ones are left out, and logged."""
    if not query.terms:
        return _look_through(connection, field, query, limit)
    held, weights, is_exact = _gather(connection, field, query.terms)
    worth: dict[MessageId, float] = {}
    for term, holders in held.items():
        weight = weights[term]
        for message_id in holders:
            worth[message_id] = worth.get(message_id, 0) + weight
    usual = sum(weights.values()) / max(len(weights), 1)
    for message_id in _list_then(connection, field, query, held):
        worth[message_id] = worth.get(message_id, 0) + TIME * usual
    for message_id in passages.list_turn(connection, field=field):
        worth.pop(message_id, None)
    best = [one for _, one in heapq.nlargest(POOL, zip(worth.values(), worth, strict=True))]
    ranking = Ranking(query, weights, clock)
    ranked = ranking.rank(_read_around(connection, field, best))
    hits = _leave_out_damaged(connection, ranked, limit)
    return Found(hits=hits, count=len(worth), is_exact=is_exact)


def _gather(
    connection: Connection, field: Field, terms: Sequence[Term]
) -> tuple[dict[Term, set[MessageId]], dict[Term, float], bool]:
    """For each term that is there at all, messages that hold it, and its weight; and whether
    the messages are all of them.
    """
    held = {
        term: set(search.list_holders(connection, field=field, terms=[term], limit=MOST_HOLDERS))
        for term in terms
    }
    held = {term: holders for term, holders in held.items() if holders}
    # What the field leaves out beside its scope makes no word rarer.
    is_all = (field.since, field.until, field.role, field.platform) == (None,) * 4
    counts = {
        term: len(holders)
        if is_all and len(holders) < MOST_HOLDERS
        else search.count_holders(connection, field=field, term=term, most=MOST_COUNTED)
        for term, holders in held.items()
    }
    total = search.count_holders(connection, field=field, most=MOST_COUNTED)
    if total == MOST_COUNTED:
        total = 4 * MOST_COUNTED
    weights = {
        term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()
    }
    is_exact = all(len(holders) < MOST_HOLDERS for holders in held.values())
    rarest = sorted(held, key=counts.__getitem__)[:_PAIRED]
    for pair in combinations(rarest, 2):
        if any(len(held[term]) >= MOST_HOLDERS for term in pair):
            both = search.list_holders(connection, field=field, terms=pair, limit=POOL)
            for term in pair:
                held[term] |= set(both)
    return held, weights, is_exact


def _list_then(
    connection: Connection, field: Field, query: Query, terms: Iterable[Term]
) -> set[MessageId]:
    """Messages of the months that are asked for that hold any of the terms, however long ago
    that was. A month begins and ends by UTC here: who reads the clock more closely is the ranking.
    """
    then: set[MessageId] = set()
    if field.since is not None or field.until is not None:
        return then
    months = sorted(product(query.years, query.months), reverse=True)[:MOST_MONTHS]
    for year, month in months:
        first = datetime(year, month, 1, tzinfo=UTC)
        after = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        there = replace(
            field,
            since=int(first.timestamp() * 1000),
            until=int(after.timestamp() * 1000) - 1,
        )
        for term in terms:
            then.update(search.list_holders(connection, field=there, terms=[term], limit=MOST_THEN))
    return then


def _read_around(
    connection: Connection, field: Field, message_ids: Sequence[MessageId]
) -> list[list[FoundMessage]]:
    """The messages, given best first, with those around them; further around the most promising."""
    beside = [
        window
        for some, reach in (
            (message_ids[:PROMISING], passages.REACH),
            (message_ids[PROMISING:], 1),
        )
        if some
        for window in passages.list_beside(connection, field=field, message_ids=some, reach=reach)
    ]
    wanted = sorted({message_id for window in beside for message_id in window})
    messages = {
        message.id: message
        for message in passages.load_messages(connection, field=field, message_ids=wanted)
    }
    return [[messages[one] for one in window if one in messages] for window in beside]


def _look_through(connection: Connection, field: Field, query: Query, limit: int) -> Found:
    """The newest messages with most of the fragments, and those with all in a row first."""
    newest = search.list_holders(connection, field=field, terms=(), limit=MOST_READ)
    phrase = " ".join(query.fragments)
    found = []
    for message in passages.load_messages(connection, field=field, message_ids=newest):
        folded = fold(message.text)
        words = set(cut(message.text))
        score = sum(
            (set(cut(one)) <= words if one.isalnum() else one in folded) for one in query.fragments
        )
        if score and message.is_within:
            score += phrase in folded
            found.append(Ranked(message=message, score=score, holds=True))
    found.sort(key=lambda one: (-one.score, -one.message.id))
    hits = _leave_out_damaged(connection, found, limit)
    return Found(hits=hits, count=len(found), is_exact=len(newest) < MOST_READ)


def _leave_out_damaged(
    connection: Connection, ranked: Sequence[Ranked], limit: int
) -> tuple[Ranked, ...]:
    """The first `limit` that hold what was written."""
    hits: list[Ranked] = []
    for start in range(0, len(ranked), limit):
        some = ranked[start : start + limit]
        damaged = passages.list_damaged(connection, message_ids=[one.message.id for one in some])
        hits += [one for one in some if one.message.id not in damaged]
        if len(hits) >= limit:
            break
    return tuple(hits[:limit])
