"""Queries over what is known of models at their servers."""

from dataclasses import dataclass
from typing import Literal

from agent_core.state.engine.connection import list_fields, read_all
from agent_core.state.engine.database import Connection

FactSource = Literal["learned", "fitness", "owner"]
"""Who knows it: a provider from answers and refusals, a fitness test, or an owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFact:
    """One thing known of a model at a server.

    `server` is the address of its API, "" for the provider's own. `value` is JSON. `learned_at` is
    in milliseconds since the epoch, `version` the version of Talaria that noted it.
    """

    server: str
    model: str
    kind: str
    source: FactSource
    value: str
    learned_at: int
    version: str


def list_all(connection: Connection) -> list[ModelFact]:
    """List everything that is known, by server and model."""
    rows = connection.execute(
        "SELECT server, model, kind, source, value, learned_at, version FROM model_facts"
        " ORDER BY server, model, kind, source"
    )
    return read_all(ModelFact, rows)


def put(connection: Connection, fact: ModelFact) -> None:
    """Insert or replace what a source knows of one kind."""
    connection.execute(
        "INSERT INTO model_facts (server, model, kind, source, value, learned_at, version)"
        " VALUES (:server, :model, :kind, :source, :value, :learned_at, :version)"
        " ON CONFLICT (server, model, kind, source) DO UPDATE SET value = excluded.value,"
        " learned_at = excluded.learned_at, version = excluded.version",
        list_fields(fact),
    )


def drop(connection: Connection, fact: ModelFact) -> None:
    """Delete one fact."""
    connection.execute(
        "DELETE FROM model_facts WHERE server = :server AND model = :model AND kind = :kind"
        " AND source = :source",
        list_fields(fact),
    )
