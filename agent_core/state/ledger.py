"""Queries over what was learned: the append-only ledger, and how its files stand to it."""

import json
from dataclasses import dataclass
from typing import Literal

from agent_core.errors import StoreDamaged
from agent_core.ids import PersonId
from agent_core.state import meta
from agent_core.state.checksum import checksum
from agent_core.state.database import Connection

Target = Literal["memory", "user"]
Operation = Literal["add", "replace", "remove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a list of entries; `position` is the entry's place, from 0."""

    operation: Operation
    position: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Why a change was made: by whom, on which words, in which call, and when.

    `actor` is `turn:N`, `hand`, `person`, `link:N` (two people became one) or `unlink` (an
    account was split off); `now` is milliseconds since the epoch.
    """

    actor: str
    now: int
    evidence: str = ""
    call_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One row of the ledger. `source_id` is the row of another ledger that it repeats."""

    id: int
    target: Target
    change: Change
    origin: Origin
    source_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """How a file of memory stands to the ledger. Hashes are hex; "" stands for no file.

    `current` is the file as it should be. As long as `previous` is set, the new file may not
    have reached the disk: what lies there may still be the file of that hash, which holds
    what the ledger said up to row `base`.
    """

    current: str
    previous: str | None
    base: int


_ROW = (
    "id, target, operation, position, before, after, actor, evidence, call_key, created_at,"
    " checksum, source_id"
)


def record(
    connection: Connection,
    *,
    person_id: PersonId,
    target: Target,
    change: Change,
    origin: Origin,
    source_id: int | None = None,
) -> LedgerEntry:
    """Add a row at the end of the ledger."""
    row = connection.execute(
        "INSERT INTO ledger (person_id, target, operation, position, before, after, actor,"
        " evidence, call_key, created_at, checksum, source_id) VALUES (:person_id, :target,"
        " :operation, :position, :before, :after, :actor, :evidence, :call_key, :now, :checksum,"
        " :source_id) RETURNING id",
        {
            "person_id": person_id,
            "target": target,
            "operation": change.operation,
            "position": change.position,
            "before": change.before,
            "after": change.after,
            "actor": origin.actor,
            "evidence": origin.evidence,
            "call_key": origin.call_key,
            "now": origin.now,
            "checksum": _checksum(target, change, origin),
            "source_id": source_id,
        },
    ).fetchone()
    return LedgerEntry(id=row[0], target=target, change=change, origin=origin, source_id=source_id)


def find_entries(
    connection: Connection, *, person_id: PersonId, target: Target
) -> list[LedgerEntry]:
    """Every change of one of a person's lists, oldest first.

    Raises `StoreDamaged` on a row that does not hold what was written.
    """
    rows = connection.execute(
        f"SELECT {_ROW} FROM ledger WHERE person_id = :person_id AND target = :target ORDER BY id",
        {"person_id": person_id, "target": target},
    ).fetchall()
    return [_entry(row) for row in rows]


def find_row(connection: Connection, *, entry_id: int) -> tuple[PersonId, LedgerEntry] | None:
    """One row, and whose ledger it is in.

    Raises `StoreDamaged` on a row that does not hold what was written.
    """
    row = connection.execute(
        f"SELECT {_ROW}, person_id FROM ledger WHERE id = :entry_id", {"entry_id": entry_id}
    ).fetchone()
    return (PersonId(row[-1]), _entry(row[:-1])) if row else None


def find_call(connection: Connection, *, person_id: PersonId, call_key: str) -> LedgerEntry | None:
    """The change that a tool call has made already, if it has.

    Raises `StoreDamaged` on a row that does not hold what was written.
    """
    row = connection.execute(
        f"SELECT {_ROW} FROM ledger WHERE person_id = :person_id AND call_key = :call_key",
        {"person_id": person_id, "call_key": call_key},
    ).fetchone()
    return _entry(row) if row else None


def find_projection(
    connection: Connection, *, person_id: PersonId, target: Target
) -> Projection | None:
    """How a person's file stands to the ledger; None if it was never written or read."""
    text = meta.get(connection, key=_projection_key(person_id, target))
    return Projection(**json.loads(text)) if text else None


def save_projection(
    connection: Connection, *, person_id: PersonId, target: Target, projection: Projection
) -> None:
    """Note how a person's file stands to the ledger now."""
    text = json.dumps(
        {
            "current": projection.current,
            "previous": projection.previous,
            "base": projection.base,
        }
    )
    meta.put(connection, key=_projection_key(person_id, target), value=text)


def _projection_key(person_id: PersonId, target: Target) -> str:
    return f"projection:{person_id}:{target}"


def _entry(
    row: tuple[
        *tuple[int, Target, Operation, int, str | None, str | None],
        *tuple[str, str, str | None, int, int, int | None],
    ],
) -> LedgerEntry:
    change = Change(operation=row[2], position=row[3], before=row[4], after=row[5])
    origin = Origin(actor=row[6], evidence=row[7], call_key=row[8], now=row[9])
    if _checksum(row[1], change, origin) != row[10]:
        raise StoreDamaged(f"row {row[0]} of the ledger is damaged; restore a backup")
    return LedgerEntry(id=row[0], target=row[1], change=change, origin=origin, source_id=row[11])


def _checksum(target: Target, change: Change, origin: Origin) -> int:
    return checksum(
        target,
        change.operation,
        change.position,
        change.before,
        change.after,
        origin.actor,
        origin.evidence,
        origin.call_key,
        origin.now,
    )
