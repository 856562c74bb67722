"""Queries over the sums of model calls per quarter of an hour, which charts are drawn from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_core.ids import PersonId
from agent_core.state.conversations.usage import QUARTER, SUMS_DAYS, QuotaUsage, TokenCounts
from agent_core.state.engine.database import Connection

_NO_CHARGE = QuotaUsage(micro_dollars=0, unpriced_tokens=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts(TokenCounts):
    """Sums over calls."""

    calls: int = 0
    charged: QuotaUsage = _NO_CHARGE

    def __add__(self, other: "Amounts") -> "Amounts":
        """Return the sums of both."""
        return self._combine(other, 1)

    def __sub__(self, other: "Amounts") -> "Amounts":
        """Return the difference: these sums without the others."""
        return self._combine(other, -1)

    def _combine(self, other: "Amounts", sign: int) -> "Amounts":
        mine, theirs = self.charged, other.charged
        return Amounts(
            calls=self.calls + sign * other.calls,
            input_tokens=self.input_tokens + sign * other.input_tokens,
            cache_read_tokens=self.cache_read_tokens + sign * other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + sign * other.cache_write_tokens,
            output_tokens=self.output_tokens + sign * other.output_tokens,
            charged=QuotaUsage(
                micro_dollars=mine.micro_dollars + sign * theirs.micro_dollars,
                unpriced_tokens=mine.unpriced_tokens + sign * theirs.unpriced_tokens,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """The calls of one purpose to one model."""

    purpose: str
    model: str
    amounts: Amounts


_AMOUNTS = (
    "SUM(calls), SUM(input_tokens), SUM(cache_read_tokens), SUM(cache_write_tokens),"
    " SUM(output_tokens), SUM(micro_dollars), SUM(unpriced_tokens)"
)


def list_sums(
    connection: Connection, *, person_id: PersonId, spans: Sequence[tuple[int, int]]
) -> list[list[UsageSum]]:
    """Sum a person's calls in each of the given spans, by purpose and model.

    `usage.EVERYONE` stands for everyone together. Moments are exact to a quarter of an hour, which
    is enough for the days of every time zone.
    """
    quarters = [(since // QUARTER, until // QUARTER) for since, until in spans]
    rows = connection.execute(
        f"SELECT span.key, purpose, model, {_AMOUNTS} FROM json_each(:quarters) AS span"
        " CROSS JOIN usage_sums WHERE person_id = :person_id"
        " AND quarter >= json_extract(span.value, '$[0]')"
        " AND quarter < json_extract(span.value, '$[1]')"
        " GROUP BY span.key, purpose, model ORDER BY span.key, purpose, model",
        {"person_id": person_id, "quarters": json.dumps(quarters)},
    ).fetchall()
    found = [list[UsageSum]() for _ in spans]
    for row in rows:
        found[row[0]].append(UsageSum(purpose=row[1], model=row[2], amounts=_read(row[3:])))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSum:
    """The calls of a person: all of them, and today's usage that counts against quotas, if any."""

    person_id: PersonId
    name: str
    amounts: Amounts
    today: QuotaUsage | None


def list_people(connection: Connection, *, since: int, today: int) -> list[PersonSum]:
    """Sum the calls of each person since a moment, most expensive first.

    `today` is the first moment of the day. Both moments are exact to a quarter of an hour.
    """
    # The query starts from people, as in `usage.charged_by_person`.
    rows = connection.execute(
        f"SELECT people.id, people.name, {_AMOUNTS},"
        " SUM(micro_dollars) FILTER (WHERE quarter >= :today),"
        " SUM(unpriced_tokens) FILTER (WHERE quarter >= :today)"
        " FROM people CROSS JOIN usage_sums"
        " WHERE usage_sums.person_id = people.id AND quarter >= :first"
        " GROUP BY people.id, people.name ORDER BY 8 DESC, 9 DESC, 1",
        {"first": since // QUARTER, "today": today // QUARTER},
    ).fetchall()
    return [
        PersonSum(
            person_id=PersonId(row[0]),
            name=row[1],
            amounts=_read(row[2:-2]),
            today=None
            if row[-1] is None
            else QuotaUsage(micro_dollars=row[-2], unpriced_tokens=row[-1]),
        )
        for row in rows
    ]


def renew(connection: Connection, *, person_id: PersonId) -> None:
    """Compute a person's sums again, after calls were moved to or from that person."""
    values = {"person_id": person_id, "quarter": QUARTER, "kept": SUMS_DAYS * 86_400_000}
    connection.execute("DELETE FROM usage_sums WHERE person_id = :person_id", values)
    connection.execute(
        "INSERT INTO usage_sums SELECT person_id, created_at / :quarter, purpose, model, COUNT(*),"
        " SUM(input_tokens), SUM(cache_read_tokens), SUM(cache_write_tokens), SUM(output_tokens),"
        " COALESCE(SUM(micro_dollars), 0), SUM(CASE WHEN micro_dollars IS NULL THEN input_tokens"
        " + cache_read_tokens + cache_write_tokens + output_tokens ELSE 0 END) FROM usage"
        " WHERE person_id = :person_id AND created_at >= (SELECT MAX(created_at) FROM usage"
        " WHERE person_id = :person_id) - :kept GROUP BY 1, 2, 3, 4",
        values,
    )


def _read(row: tuple[Any, ...]) -> Amounts:
    return Amounts(
        calls=row[0],
        input_tokens=row[1],
        cache_read_tokens=row[2],
        cache_write_tokens=row[3],
        output_tokens=row[4],
        charged=QuotaUsage(micro_dollars=row[5], unpriced_tokens=row[6]),
    )
