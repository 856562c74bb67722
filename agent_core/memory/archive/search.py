"""Full-text search in the archive: candidates from the index, then a ranking of their passages."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from agent_core.ids import ArchiveId, MessageId, PersonId, SessionId
from agent_core.memory.recall.query import Query
from agent_core.memory.recall.ranking import Clock, Ranking
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive
from agent_core.state.memory.archive import ArchiveEntry, ArchiveFilter
from agent_core.state.search.message_index import Term
from agent_core.state.search.passages import FoundMessage, Passage
from agent_core.state.tokenizer import cut_passages, normalize

MOST_HOLDERS = 600
"""The number of newest entries considered per word."""
MOST_COUNTED = 5000
"""The largest exact document frequency of a word."""
POOL = 40
"""The number of candidates to rank, and so the largest number of hits."""
MOST_READ = 500
"""The number of newest entries to scan for text that is not in the index."""
PASSAGE = 400
"""Characters of a passage; entries rank by their best passage."""

_PAIRED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """An entry and its best passage."""

    entry: ArchiveEntry
    passage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEntries:
    """The best entries, at most `POOL`. `count` is the number of entries with a word of the query,
    or a lower bound if it is not `is_exact`.
    """

    hits: tuple[Hit, ...]
    count: int
    is_exact: bool


def search_archive(
    connection: Connection, within: ArchiveFilter, query: Query, clock: Clock
) -> FoundEntries:
    """Search the entries of a scope. Damaged entries are skipped and logged."""
    if not query.terms:
        return _scan(connection, within, query)
    holders_by_term, weights, is_exact = _gather(connection, within, query.terms)
    scores: dict[ArchiveId, float] = {}
    for term, holders in holders_by_term.items():
        for archive_id in holders:
            scores[archive_id] = scores.get(archive_id, 0) + weights[term]
    best = sorted(scores, key=lambda one: (-scores[one], -one))[:POOL]
    entries = archive.list_entries(connection, person_id=within.person_id, archive_ids=best)
    hits = _rank(entries, Ranking(query, weights, clock))
    return FoundEntries(hits=hits, count=len(scores), is_exact=is_exact)


def _gather(
    connection: Connection, within: ArchiveFilter, terms: Sequence[Term]
) -> tuple[dict[Term, set[ArchiveId]], dict[Term, float], bool]:
    """Collect entries and a weight per term, and tell whether the entries are complete.

    Frequent terms are also searched in pairs, because their newest entries alone may miss matches.
    """

    def list_some(*some: Term, limit: int) -> set[ArchiveId]:
        return set(archive.list_holders(connection, within=within, terms=some, limit=limit))

    holders_by_term = {term: list_some(term, limit=MOST_HOLDERS) for term in terms}
    holders_by_term = {term: holders for term, holders in holders_by_term.items() if holders}
    weights = _compute_weights(connection, within.person_id, list(holders_by_term))
    frequent = {term for term in holders_by_term if len(holders_by_term[term]) >= MOST_HOLDERS}
    rarest = sorted(holders_by_term, key=lambda term: -weights[term])[:_PAIRED]
    for pair in combinations(rarest, 2):
        if frequent.intersection(pair):
            both = list_some(*pair, limit=POOL)
            for term in pair:
                holders_by_term[term] |= both
    return holders_by_term, weights, not frequent


def _compute_weights(
    connection: Connection, person_id: PersonId, terms: Sequence[Term]
) -> dict[Term, float]:
    """Compute the inverse document frequency of each term."""
    total = archive.count(connection, person_id=person_id, most=MOST_COUNTED)
    counts = {
        term: archive.count_holders(connection, person_id=person_id, term=term, most=MOST_COUNTED)
        for term in terms
    }
    return {
        term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()
    }


def _rank(entries: Sequence[ArchiveEntry], ranking: Ranking) -> tuple[Hit, ...]:
    """Rank entries by their best passages; each entry counts as a conversation of its own."""
    windows = [list(_cut(entry)) for entry in entries]
    by_id = {MessageId(entry.id): entry for entry in entries}
    hits: dict[ArchiveId, Hit] = {}
    for ranked in ranking.rank(windows):
        entry = by_id[ranked.message.id]
        passage = cut_passages(entry.text, PASSAGE)[ranked.place]
        hits.setdefault(entry.id, Hit(entry=entry, passage=passage))
    return tuple(hits.values())


def _cut(entry: ArchiveEntry) -> Iterator[Passage]:
    """Yield the passages of an entry, cut like those of a message; the first includes the tags."""
    message = FoundMessage(
        id=MessageId(entry.id),
        session_id=SessionId(entry.id),
        role="assistant",
        platform="",
        said_at=entry.created_at,
        text=entry.text,
        asker="",
        is_within=True,
    )
    tags = " ".join(entry.tags).replace("-", " ")
    passages = cut_passages(entry.text, PASSAGE)
    for place, text in enumerate(passages):
        yield Passage(
            message=message,
            place=place,
            text=text if place else f"{text}\n{tags}",
            is_last=place == len(passages) - 1,
        )


def _scan(connection: Connection, within: ArchiveFilter, query: Query) -> FoundEntries:
    """Scan the newest entries for fragments that the index lacks."""
    newest = archive.list_holders(connection, within=within, limit=MOST_READ)
    entries = archive.list_entries(connection, person_id=within.person_id, archive_ids=newest)
    scores = {
        entry: sum(one in folded for one in query.fragments)
        for entry in entries
        for folded in (normalize(entry.text),)
    }
    found = sorted((one for one in entries if scores[one]), key=lambda one: -scores[one])
    hits = tuple(Hit(entry=entry, passage=entry.text) for entry in found[:POOL])
    return FoundEntries(hits=hits, count=len(found), is_exact=len(newest) < MOST_READ)
