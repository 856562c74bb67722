"""Queries over the cost of model calls."""

from dataclasses import dataclass, fields
from typing import Any

from agent_core.ids import JobId, PersonId, TurnId
from agent_core.state.engine.connection import list_fields, read_all
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens of calls. The four numbers do not overlap; their sum is all that was processed."""

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def read_tokens(self) -> int:
        """The whole input, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall(TokenCounts):
    """A model call. `micro_dollars` is None if the price is unknown.

    `model` is the model that answered. The last four fields describe the request; see
    `agent_core.models.fingerprints` and `shapes`. They are None or "" if they were not recorded.
    """

    purpose: str
    model: str
    micro_dollars: int | None
    request_hash: str | None = None
    asked_model: str | None = None
    output_limit: int | None = None
    request_shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Sums over many calls. `micro_dollars` is None if no price is known."""

    calls: int
    input_tokens: int
    cache_read_tokens: int
    output_tokens: int
    micro_dollars: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUsage:
    """Usage that counts against quotas: the money of priced calls, the tokens of the others."""

    micro_dollars: int
    unpriced_tokens: int

    @property
    def known_micro_dollars(self) -> int | None:
        """The money; None if no price is known."""
        return self.micro_dollars or (None if self.unpriced_tokens else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    """The calls of one purpose to one model; `input_tokens` includes cached ones."""

    purpose: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    charged: QuotaUsage


EVERYONE = PersonId(0)
"""Stands for everyone together in sums; no person has this id."""
QUARTER = 900_000
"""Milliseconds in one period of the sums: every time zone differs from UTC by whole quarters of an
hour.
"""
SUMS_DAYS = 40
"""The days for which sums are kept; charts show 30."""

_SPENT = tuple(field.name for field in fields(ModelCall))
_TOKENS = "input_tokens + cache_read_tokens + cache_write_tokens"
_CHARGED = (
    "COALESCE(SUM(micro_dollars), 0), COALESCE(SUM(CASE WHEN micro_dollars IS NULL"
    f" THEN {_TOKENS} + output_tokens ELSE 0 END), 0)"
)

_LINE = f"purpose, model, COUNT(*), SUM({_TOKENS}), SUM(output_tokens), {_CHARGED}"


def insert(
    connection: Connection,
    call: ModelCall,
    *,
    person_id: PersonId,
    turn_id: TurnId | None,
    now: int,
) -> None:
    """Record one call."""
    connection.execute(
        "INSERT INTO usage (person_id, turn_id, purpose, model, input_tokens, cache_read_tokens,"
        " cache_write_tokens, output_tokens, micro_dollars, created_at, request_hash, asked_model,"
        " output_limit, request_shape)"
        " VALUES (:person_id, :turn_id, :purpose, :model, :input_tokens, :cache_read_tokens,"
        " :cache_write_tokens, :output_tokens, :micro_dollars, :now,"
        " :request_hash, :asked_model, :output_limit, :request_shape)",
        {**list_fields(call), "person_id": person_id, "turn_id": turn_id, "now": now},
    )
    _add_to_sums(connection, call, (person_id, EVERYONE), now)


def _add_to_sums(
    connection: Connection, call: ModelCall, whose: tuple[PersonId, ...], now: int
) -> None:
    """Add a call to the sum of its quarter of an hour, and delete old sums."""
    is_priced = call.micro_dollars is not None
    values = [
        {
            "person_id": person_id,
            "quarter": now // QUARTER,
            "oldest": (now - SUMS_DAYS * 86_400_000) // QUARTER,
            **list_fields(call),
            "dollars": call.micro_dollars or 0,
            "unpriced": 0 if is_priced else call.read_tokens + call.output_tokens,
        }
        for person_id in whose
    ]
    connection.executemany(
        "INSERT INTO usage_sums VALUES (:person_id, :quarter, :purpose, :model, 1,"
        " :input_tokens, :cache_read_tokens, :cache_write_tokens, :output_tokens, :dollars,"
        " :unpriced)"
        " ON CONFLICT (person_id, quarter, purpose, model) DO UPDATE SET calls = calls + 1,"
        " input_tokens = input_tokens + :input_tokens,"
        " cache_read_tokens = cache_read_tokens + :cache_read_tokens,"
        " cache_write_tokens = cache_write_tokens + :cache_write_tokens,"
        " output_tokens = output_tokens + :output_tokens,"
        " micro_dollars = micro_dollars + :dollars,"
        " unpriced_tokens = unpriced_tokens + :unpriced",
        values,
    )
    connection.executemany(
        "DELETE FROM usage_sums WHERE person_id = :person_id AND quarter < :oldest", values
    )


def list_of_turn(connection: Connection, *, turn_id: TurnId) -> list[ModelCall]:
    """List the calls of a turn in the order in which they were recorded."""
    rows = connection.execute(
        f"SELECT {', '.join(_SPENT)} FROM usage WHERE turn_id = :turn_id ORDER BY id",
        {"turn_id": turn_id},
    )
    return read_all(ModelCall, rows)


def total_since(connection: Connection, *, person_id: PersonId, since: int) -> Total:
    """Sum a person's calls since a moment. `input_tokens` includes cached ones."""
    return _total(
        connection,
        "person_id = :person_id AND created_at >= :since",
        {"person_id": person_id, "since": since},
    )


def total_of_turn(connection: Connection, *, turn_id: TurnId) -> Total:
    """Sum a turn's calls so far."""
    return _total(connection, "turn_id = :turn_id", {"turn_id": turn_id})


def count_since(connection: Connection, *, person_id: PersonId, purpose: str, since: int) -> int:
    """Count a person's calls of one purpose from a moment on."""
    found = connection.execute(
        "SELECT COUNT(*) FROM usage"
        " WHERE person_id = :person_id AND purpose = :purpose AND created_at >= :since",
        {"person_id": person_id, "purpose": purpose, "since": since},
    )
    return int(found.fetchone()[0])


def charged_of_turn(connection: Connection, *, turn_id: TurnId) -> QuotaUsage:
    """Sum the usage of a turn so far that counts against quotas."""
    row = connection.execute(
        f"SELECT {_CHARGED} FROM usage WHERE turn_id = :turn_id", {"turn_id": turn_id}
    ).fetchone()
    return QuotaUsage(micro_dollars=row[0], unpriced_tokens=row[1])


def charged_since(
    connection: Connection, *, person_id: PersonId, since: int, until: int
) -> QuotaUsage:
    """Sum the usage of a person that counts against quotas, since a moment and before another.

    Later calls are there if the clock was ahead and has been put back.
    """
    row = connection.execute(
        f"SELECT {_CHARGED} FROM usage WHERE person_id = :person_id"
        " AND created_at >= :since AND created_at < :until",
        {"person_id": person_id, "since": since, "until": until},
    ).fetchone()
    return QuotaUsage(micro_dollars=row[0], unpriced_tokens=row[1])


def charged_by_person(
    connection: Connection, *, since: int, until: int
) -> list[tuple[PersonId, str, QuotaUsage]]:
    """Sum the same for everyone with a call between these moments."""
    # The query starts from people: the index is by person, and there are few people.
    rows = connection.execute(
        f"SELECT people.id, people.name, {_CHARGED} FROM people CROSS JOIN usage"
        " WHERE usage.person_id = people.id AND usage.created_at >= :since"
        " AND usage.created_at < :until"
        " GROUP BY people.id, people.name ORDER BY 3 DESC, 4 DESC, 1",
        {"since": since, "until": until},
    ).fetchall()
    return [
        (PersonId(row[0]), row[1], QuotaUsage(micro_dollars=row[2], unpriced_tokens=row[3]))
        for row in rows
    ]


def list_lines(connection: Connection, *, person_id: PersonId, since: int) -> list[UsageLine]:
    """List a person's calls since a moment, summed by purpose and model, most expensive first."""
    rows = connection.execute(
        f"SELECT {_LINE} FROM usage WHERE person_id = :person_id AND created_at >= :since"
        " GROUP BY purpose, model ORDER BY 6 DESC, 7 DESC, 1, 2",
        {"person_id": person_id, "since": since},
    ).fetchall()
    return [_line(row) for row in rows]


def find_newest(connection: Connection) -> int:
    """Return the id of the newest call; 0 if there is none."""
    row = connection.execute("SELECT MAX(id) FROM usage").fetchone()
    return int(row[0] or 0)


def has_answered(connection: Connection, *, model: str, after: int) -> bool:
    """Return whether a model answered a call that was recorded after `after`."""
    query = "SELECT 1 FROM usage WHERE id > :after AND :model IN (asked_model, model) LIMIT 1"
    return connection.execute(query, {"after": after, "model": model}).fetchone() is not None


def list_after(connection: Connection, *, after: int, until: int) -> list[UsageLine]:
    """Sum everyone's calls with ids above `after` and up to `until`, by purpose and model."""
    rows = connection.execute(
        f"SELECT {_LINE} FROM usage WHERE id > :after AND id <= :until GROUP BY purpose, model",
        {"after": after, "until": until},
    ).fetchall()
    return [_line(row) for row in rows]


def _line(row: tuple[Any, ...]) -> UsageLine:
    return UsageLine(
        purpose=row[0],
        model=row[1],
        calls=row[2],
        input_tokens=row[3],
        output_tokens=row[4],
        charged=QuotaUsage(micro_dollars=row[5], unpriced_tokens=row[6]),
    )


def _total(connection: Connection, condition: str, values: dict[str, int]) -> Total:
    rows = connection.execute(
        f"SELECT COUNT(*) AS calls, COALESCE(SUM({_TOKENS}), 0) AS input_tokens,"
        " COALESCE(SUM(cache_read_tokens), 0) AS cache_read_tokens,"
        " COALESCE(SUM(output_tokens), 0) AS output_tokens,"
        " CASE WHEN COUNT(*) = 0 THEN 0 ELSE SUM(micro_dollars) END AS micro_dollars"
        f" FROM usage WHERE {condition}",
        values,
    )
    return read_all(Total, rows)[0]


def sum_of_job(
    connection: Connection, *, job_id: JobId, person_id: PersonId, since: int, until: int
) -> int:
    """Sum the cost of a job's runs since a moment and before another, in micro-dollars.

    The helpers of a run are turns of their own; their cost, and that of their helpers, is included.
    """
    row = connection.execute(
        "WITH RECURSIVE work (turn_id) AS (SELECT turns.id FROM job_runs"
        " JOIN turns ON turns.run_id = job_runs.id WHERE job_runs.job_id = :job_id"
        " AND (turns.ended_at IS NULL OR turns.ended_at >= :since)"
        " UNION SELECT turns.id FROM work JOIN conversations"
        " ON conversations.key >= 'helper:' || work.turn_id || ':'"
        " AND conversations.key < 'helper:' || work.turn_id || ';'"
        " JOIN turns ON turns.conversation_id = conversations.id)"
        " SELECT COALESCE(SUM(usage.micro_dollars), 0) FROM work"
        " JOIN usage ON usage.turn_id = work.turn_id"
        " WHERE usage.person_id = :person_id AND usage.created_at >= :since"
        " AND usage.created_at < :until",
        {"job_id": job_id, "person_id": person_id, "since": since, "until": until},
    ).fetchone()
    return int(row[0])
