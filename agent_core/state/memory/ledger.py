"""Queries over the append-only memory ledger, and over the state of its files."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from agent_core.errors import StoreDamaged
from agent_core.ids import ArchiveId, MessageId, PersonId, TurnId
from agent_core.state.engine import meta
from agent_core.state.engine.connection import checksum, list_fields
from agent_core.state.engine.database import Connection
from agent_core.transcript import UntrustedSource

MemoryTarget = Literal["memory", "user", "archive", "soul", "skill"]
"""One of the two lists of a memory, the archive, SOUL.md as one entry, or a skill."""
LISTS: tuple[MemoryTarget, ...] = ("memory", "user")
Operation = Literal["add", "replace", "remove"]
_END = 2**63 - 1
"""An id above those of all rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a list of entries; `position` is the entry's index, from 0.

    Without `before` and `after`, it changes nothing visible; see `memory.entry_history`.
    """

    operation: Operation
    position: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The origin of a change: its actor, evidence, call and time.

    `actor` is `turn:N`, `hand`, `person`, `house` (the command line), `curator` (of skills),
    `link:N` (a merge), `unlink` (a split) or `review:PERSON:TURN`. `now` is in milliseconds since
    the epoch. `message_ids` are the people's messages in that turn, and `sources` the untrusted
    sources that it had read.
    `source_id` is the row of another ledger that this row repeats. `undoes` is the row of its own
    ledger that it reverts.
    """

    actor: str
    now: int
    evidence: str = ""
    call_key: str | None = None
    message_ids: tuple[MessageId, ...] = ()
    source_id: int | None = None
    undoes: int | None = None
    sources: tuple[UntrustedSource, ...] = ()

    @property
    def shown_actor(self) -> str:
        """The actor as commands print it. The old name `house` is used only in the database."""
        return "operator" if self.actor == "house" else self.actor


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A row of the ledger."""

    id: int
    target: MemoryTarget
    change: Change
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The state of a memory file compared with the ledger. Hashes are hex; "" stands for no file.

    `current` is the hash of the file as it should be. While `previous` is set, the new file may not
    have reached the disk. Then the file with the hash `previous` may still be there, with the
    ledger's content up to row `base`. If somebody edited that file meanwhile, no row describes it;
    `on_disk` then has the hashes of its entries, separated by spaces.
    """

    current: str
    previous: str | None
    base: int
    on_disk: str | None = None


def name_operation(before: str | None, after: str | None) -> Operation:
    """Return the operation that turns an old text into a new one; None means no entry."""
    if before is None:
        return "add"
    return "remove" if after is None else "replace"


_MERGED = "merged"
_PART = "#"
"""Separates the key of a call from the index of a row in it."""
ROW = (
    "id, target, operation, position, before, after, actor, evidence, call_key, created_at,"
    " checksum, source_id, undoes, message_ids, sources"
)


def record(
    connection: Connection,
    *,
    person_id: PersonId,
    target: MemoryTarget,
    change: Change,
    origin: Origin,
) -> LedgerEntry:
    """Append a row to the ledger."""
    row = connection.execute(
        "INSERT INTO ledger (person_id, target, operation, position, before, after, actor,"
        " evidence, call_key, created_at, checksum, source_id, undoes, message_ids, sources)"
        " VALUES (:person_id, :target, :operation, :position, :before, :after, :actor, :evidence,"
        " :call_key, :now, :checksum, :source_id, :undoes, :message_ids, :sources) RETURNING id",
        {
            **list_fields(change),
            **list_fields(origin),
            "person_id": person_id,
            "target": target,
            "checksum": _checksum(target, change, origin),
            "message_ids": json.dumps(origin.message_ids, separators=(",", ":")),
            "sources": _dump(origin.sources),
        },
    ).fetchone()
    return LedgerEntry(id=row[0], target=target, change=change, origin=origin)


def find_entries(
    connection: Connection, *, person_id: PersonId, target: MemoryTarget
) -> list[LedgerEntry]:
    """List every change of one of a person's lists, oldest first.

    Raises `StoreDamaged` on a damaged row.
    """
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target = :target ORDER BY id",
        {"person_id": person_id, "target": target},
    ).fetchall()
    return [read_row(row) for row in rows]


def find_row(connection: Connection, *, entry_id: int) -> tuple[PersonId, LedgerEntry] | None:
    """Return one row and its owner.

    Raises `StoreDamaged` on a damaged row.
    """
    row = connection.execute(
        f"SELECT {ROW}, person_id FROM ledger WHERE id = :entry_id", {"entry_id": entry_id}
    ).fetchone()
    return (PersonId(row[-1]), read_row(row[:-1])) if row else None


def takes_back(connection: Connection, *, entry_id: int) -> bool:
    """Return whether a change undoes another; what undoes an undo only brings back."""
    found = find_row(connection, entry_id=entry_id)
    undone = found[1].origin.undoes if found else None
    return undone is not None and not takes_back(connection, entry_id=undone)


def find_newest_id(connection: Connection, *, person_id: PersonId) -> int:
    """Return the id of an owner's newest row; 0 if there is none."""
    row = connection.execute(
        "SELECT max(id) FROM ledger WHERE person_id = :person_id", {"person_id": person_id}
    ).fetchone()
    return row[0] or 0


def list_recent(connection: Connection, *, limit: int) -> list[tuple[PersonId, LedgerEntry]]:
    """List the newest changes of everyone except those of skills, newest first.

    For the owner's command line only. Raises `StoreDamaged` on a damaged row.
    """
    rows = connection.execute(
        f"SELECT {ROW}, person_id FROM ledger WHERE target <> 'skill'"
        " ORDER BY id DESC LIMIT :limit",
        {"limit": limit},
    ).fetchall()
    return [(PersonId(row[-1]), read_row(row[:-1])) for row in rows]


def list_recent_of(
    connection: Connection, *, person_id: PersonId, limit: int, before: int = _END
) -> list[LedgerEntry]:
    """List an owner's changes with ids below `before`, newest first.

    Changes of skills are left out. Raises `StoreDamaged` on a damaged row.
    """
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target <> 'skill'"
        " AND id < :before ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit, "before": before},
    ).fetchall()
    return [read_row(row) for row in rows]


def find_call(connection: Connection, *, person_id: PersonId, call_key: str) -> list[LedgerEntry]:
    """List the changes that a call has made already, oldest first; see `name_call`.

    Raises `StoreDamaged` on a damaged row.
    """
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND (call_key = :call_key"
        " OR (call_key > :first AND call_key < :last)) ORDER BY id",
        {
            "person_id": person_id,
            "call_key": call_key,
            "first": f"{call_key}{_PART}",
            "last": f"{call_key}{chr(ord(_PART) + 1)}",
        },
    ).fetchall()
    return [read_row(row) for row in rows]


def find_undone(connection: Connection, *, person_id: PersonId, since: int) -> dict[int, int]:
    """Return the changes from row `since` on that were undone and not redone, with what undid them.

    Both are ids of rows.
    """
    rows = connection.execute(
        "SELECT id, undoes FROM ledger WHERE person_id = :person_id AND id > :since"
        " AND undoes IS NOT NULL ORDER BY id DESC",
        {"person_id": person_id, "since": since},
    ).fetchall()
    undone = dict[int, int]()
    for row_id, target in rows:  # a row that was undone itself, by a later one, undoes nothing
        if row_id not in undone:
            undone[target] = row_id
    return undone


def find_of_archived(
    connection: Connection, *, person_id: PersonId, archive_id: ArchiveId
) -> list[LedgerEntry]:
    """List every change of one archive entry, oldest first.

    Raises `StoreDamaged` on a damaged row.
    """
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target = 'archive'"
        " AND position = :archive_id ORDER BY id",
        {"person_id": person_id, "archive_id": archive_id},
    ).fetchall()
    return [read_row(row) for row in rows]


def find_of_turn(
    connection: Connection, *, person_id: PersonId, turn_id: TurnId
) -> list[LedgerEntry]:
    """List the changes that the calls of a turn made in somebody's archive, oldest first.

    Raises `StoreDamaged` on a damaged row.
    """
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target = 'archive'"
        " AND call_key > :first AND call_key < :last ORDER BY id",
        {"person_id": person_id, "first": f"{turn_id}:", "last": f"{turn_id};"},
    ).fetchall()
    return [read_row(row) for row in rows]


def walk_archived(connection: Connection, *, person_id: PersonId) -> Iterator[LedgerEntry]:
    """Yield every change of somebody's archive, newest first, one by one.

    Raises `StoreDamaged` on a damaged row.
    """
    rows = connection.execute(
        f"SELECT {ROW} FROM ledger WHERE person_id = :person_id AND target = 'archive'"
        " ORDER BY id DESC",
        {"person_id": person_id},
    )
    return map(read_row, rows)


def list_removed_like(
    connection: Connection, *, person_id: PersonId, pieces: Sequence[str], limit: int
) -> list[str]:
    """List texts that a person removed or undid, newest first, as far as they hold a piece.

    Without pieces, lists all. What a model removed, or moved to the archive, is left out.
    """
    named = {f"piece{number}": piece for number, piece in enumerate(pieces)}
    holds = " OR ".join(f"instr(before, :{name}) > 0" for name in named) or "1"
    rows = connection.execute(
        "SELECT before FROM ledger WHERE person_id = :person_id AND target <> 'soul'"
        " AND target <> 'skill' AND before IS NOT NULL AND (undoes IS NOT NULL OR (after IS NULL"
        " AND (actor IN ('hand', 'person') OR actor LIKE 'account:%')))"
        f" AND ({holds}) ORDER BY id DESC LIMIT :limit",
        {"person_id": person_id, "limit": limit, **named},
    ).fetchall()
    return [row[0] for row in rows]


def redact(
    connection: Connection, *, entry_id: int, is_wanted: Callable[[str], bool], mark: str
) -> None:
    """Redact a row: replace each text by `mark` for which `is_wanted` is true.

    The texts are `before` and `after`. Evidence and sources for which `is_wanted` is true are
    removed. The row and its effect stay.
    """
    found = find_row(connection, entry_id=entry_id)
    if found is None:
        return
    entry = found[1]
    before, after = (
        mark if words and is_wanted(words) else words
        for words in (entry.change.before, entry.change.after)
    )
    evidence = "" if is_wanted(entry.origin.evidence) else entry.origin.evidence
    sources = tuple(one for one in entry.origin.sources if not is_wanted(one))
    change = replace(entry.change, before=before, after=after)
    origin = replace(entry.origin, evidence=evidence, sources=sources)
    connection.execute(
        "UPDATE ledger SET before = :before, after = :after, evidence = :evidence,"
        " sources = :sources, checksum = :checksum WHERE id = :entry_id",
        {
            "entry_id": entry_id,
            "before": before,
            "after": after,
            "evidence": evidence,
            "sources": _dump(sources),
            "checksum": _checksum(entry.target, change, origin),
        },
    )


def drop_evidence(connection: Connection, *, entry_id: int) -> None:
    """Clear the evidence and the sources of a row; its change stays."""
    found = find_row(connection, entry_id=entry_id)
    if found is None:
        return
    entry = found[1]
    origin = replace(entry.origin, evidence="", sources=())
    connection.execute(
        "UPDATE ledger SET evidence = '', sources = '[]', checksum = :checksum"
        " WHERE id = :entry_id",
        {
            "entry_id": entry_id,
            "checksum": _checksum(entry.target, entry.change, origin),
        },
    )


def empty(connection: Connection, *, person_id: PersonId, actor: str) -> None:
    """Clear the content of all rows of an owner."""
    change = Change(operation="add", position=0, before=None, after=None)
    connection.execute(
        "UPDATE ledger SET target = 'memory', operation = 'add', position = 0, before = NULL,"
        " after = NULL, actor = :actor, evidence = '', call_key = NULL, created_at = 0,"
        " source_id = NULL, undoes = NULL, message_ids = '[]', sources = '[]',"
        " checksum = :checksum"
        " WHERE person_id = :person_id",
        {
            "person_id": person_id,
            "actor": actor,
            "checksum": _checksum("memory", change, Origin(actor=actor, now=0)),
        },
    )
    for target in LISTS:
        meta.drop(connection, key=f"projection:{person_id}:{target}")


def name_call(call_key: str, edit: int, row: int) -> str:
    """Return the key of one row of a call; the first row has the call's own key.

    `edit` and `row` are the numbers of the edit and of the row within the call, from 0.
    """
    return call_key if row == 0 else f"{call_key}{_PART}{edit}.{row}"


def name_whole_call(key: str) -> str:
    """Return the key of the call that a row's key is part of."""
    return key.partition(_PART)[0]


def read_edit(key: str, call_key: str) -> int:
    """Return the number of the edit that a row of a call belongs to; the reverse of `name_call`."""
    return int(key.removeprefix(call_key).strip(_PART).partition(".")[0] or 0)


def name_merge(call_key: str, number: int) -> str:
    """Return the key of a call that puts one entry in the place of several."""
    return f"{call_key}:{_MERGED}{number}"


def is_merge(row: LedgerEntry) -> bool:
    """Return whether a row belongs to such a call, which is undone as a whole."""
    key = name_whole_call(row.origin.call_key or "")
    return row.origin.actor.startswith("review:") and key.startswith(
        f"{row.origin.actor}:{_MERGED}"
    )


def identify_group(row: LedgerEntry) -> tuple[str, int, str]:
    """Return a value shared by all rows of one call, or by all rows made by hand at one moment."""
    key = name_whole_call(row.origin.call_key or "")
    return row.origin.actor, row.origin.now, key


def find_projection(
    connection: Connection, *, person_id: PersonId, target: MemoryTarget
) -> Projection | None:
    """Return the state of a person's file; None if it was never written or read."""
    text = meta.get(connection, key=_projection_key(person_id, target))
    return Projection(**json.loads(text)) if text else None


def save_projection(
    connection: Connection, *, person_id: PersonId, target: MemoryTarget, projection: Projection
) -> None:
    """Store the state of a person's file."""
    text = json.dumps(asdict(projection))
    meta.put(connection, key=_projection_key(person_id, target), value=text)


def _projection_key(person_id: PersonId, target: MemoryTarget) -> str:
    return f"projection:{person_id}:{target}"


def read_row(
    row: tuple[
        *tuple[int, MemoryTarget, Operation, int, str | None, str | None],
        *tuple[str, str, str | None, int, int, int | None, int | None, str, str],
    ],
) -> LedgerEntry:
    """Build an entry from the columns `ROW`. Raises `StoreDamaged`; see `find_row`."""
    change = Change(operation=row[2], position=row[3], before=row[4], after=row[5])
    origin = Origin(
        actor=row[6],
        evidence=row[7],
        call_key=row[8],
        now=row[9],
        message_ids=tuple(MessageId(number) for number in json.loads(row[13])),
        source_id=row[11],
        undoes=row[12],
        sources=tuple(json.loads(row[14])),
    )
    if _checksum(row[1], change, origin) != row[10]:
        raise StoreDamaged(f"row {row[0]} of the ledger is damaged; restore a backup")
    return LedgerEntry(id=row[0], target=row[1], change=change, origin=origin)


def _checksum(target: MemoryTarget, change: Change, origin: Origin) -> int:
    """Compute the checksum of a row.

    Rows without `undoes`, `message_ids` and `sources` keep the checksum that they had before these
    columns existed.
    """
    fields = (
        *(target, change.operation, change.position, change.before, change.after),
        *(origin.actor, origin.evidence, origin.call_key, origin.now),
    )
    if origin.undoes is None and not origin.message_ids and not origin.sources:
        return checksum(*fields)
    return checksum(*fields, origin.undoes, *origin.message_ids, *origin.sources)


def _dump(sources: tuple[UntrustedSource, ...]) -> str:
    return json.dumps(sources, ensure_ascii=False, separators=(",", ":"))
