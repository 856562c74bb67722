"""Queries over what model calls cost."""

from dataclasses import dataclass

from agent_core.ids import PersonId, TurnId
from agent_core.state.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """One model call. Tokens are disjoint; `micro_dollars` is None where no price is known."""

    purpose: str
    model: str
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    micro_dollars: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Sums over many calls."""

    calls: int
    input_tokens: int
    cache_read_tokens: int
    output_tokens: int
    micro_dollars: int


def insert(
    connection: Connection, spent: Spent, *, person_id: PersonId, turn_id: TurnId | None, now: int
) -> None:
    """Record one call."""
    connection.execute(
        "INSERT INTO usage (person_id, turn_id, purpose, model, input_tokens, cache_read_tokens,"
        " cache_write_tokens, output_tokens, micro_dollars, created_at) VALUES (:person_id,"
        " :turn_id, :purpose, :model, :input, :cache_read, :cache_write, :output, :dollars, :now)",
        {
            "person_id": person_id,
            "turn_id": turn_id,
            "purpose": spent.purpose,
            "model": spent.model,
            "input": spent.input_tokens,
            "cache_read": spent.cache_read_tokens,
            "cache_write": spent.cache_write_tokens,
            "output": spent.output_tokens,
            "dollars": spent.micro_dollars,
            "now": now,
        },
    )


def total_since(connection: Connection, *, person_id: PersonId, since: int) -> Total:
    """What a person's calls came to since a moment. `input_tokens` counts cached ones too."""
    return _total(
        connection,
        "person_id = :person_id AND created_at >= :since",
        {"person_id": person_id, "since": since},
    )


def total_of_turn(connection: Connection, *, turn_id: TurnId) -> Total:
    """What a turn's calls came to so far."""
    return _total(connection, "turn_id = :turn_id", {"turn_id": turn_id})


def _total(connection: Connection, condition: str, values: dict[str, int]) -> Total:
    row = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(input_tokens + cache_read_tokens + cache_write_tokens), 0),"
        " COALESCE(SUM(cache_read_tokens), 0), COALESCE(SUM(output_tokens), 0),"
        f" COALESCE(SUM(micro_dollars), 0) FROM usage WHERE {condition}",
        values,
    ).fetchone()
    return Total(
        calls=row[0],
        input_tokens=row[1],
        cache_read_tokens=row[2],
        output_tokens=row[3],
        micro_dollars=row[4],
    )
