"""Queries over the archive, the memory outside the prompt, and its full-text index.

The index works like that of `search`, in SQLite's own dialect. Each word has the prefix of its
person, `p7_lisbon`, and so has each tag, `p7__trecipes`. To delete an entry, FTS5 needs the exact
text that was indexed. A change of the tokenizer therefore needs a migration that rebuilds the
index.
"""

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.errors import StoreDamaged
from agent_core.ids import AccountId, ArchiveId, PersonId
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection
from agent_core.state.search.message_index import FAR, Term, quote_term
from agent_core.state.tokenizer import UNINDEXED, cut

_log = logging.getLogger(__name__)

_PIECE = 2000
"""Entries moved from one person to another per step."""
_TAG = re.compile(r"(?:[a-z0-9-]|[^\x00-\x7f])+")
_ROW = "archive.id, archive.text, archive.tags, archive.created_at, archive.updated_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveEntry:
    """An entry. Times are milliseconds since the epoch; `tags` are sorted, in lower case."""

    id: ArchiveId
    text: str
    tags: tuple[str, ...]
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFilter:
    """The scope of a search: entries of one owner that have all tags and lie between two
    moments.
    """

    person_id: PersonId
    tags: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None


def index_entry(person_id: PersonId, text: str, tags: Sequence[str]) -> str:
    """Return the indexed text of an entry. Pure."""
    words = sorted(set(cut("\n".join([text, *tags]))) - UNINDEXED)
    indexed = [f"p{person_id}_{word}" for word in words]
    return " ".join([*indexed, *(_name_tag(person_id, tag) for tag in tags)])


def insert(
    connection: Connection,
    *,
    person_id: PersonId,
    text: str,
    tags: tuple[str, ...],
    now: int,
    again: ArchiveId | None = None,
) -> ArchiveEntry:
    """Store and index an entry. `again` restores an earlier id, unless that is taken.

    People see the id. It is the time of storing, so that it reveals nothing about the number of
    entries.
    """
    archive_id = None if again is None or _is_taken(connection, again) else again
    if archive_id is None:
        newest = connection.execute("SELECT MAX(id) FROM archive").fetchone()[0] or 0
        archive_id = ArchiveId(max(now, newest + 1))
    at = min(archive_id, now)
    entry = ArchiveEntry(id=archive_id, text=text, tags=tags, created_at=at, updated_at=now)
    connection.execute(
        "INSERT INTO archive (id, person_id, text, tags, created_at, updated_at, checksum)"
        " VALUES (:id, :person_id, :text, :tags, :at, :now, :checksum)",
        {
            "id": entry.id,
            "person_id": person_id,
            "text": text,
            "tags": _dump(tags),
            "at": at,
            "now": now,
            "checksum": checksum(text, _dump(tags), at),
        },
    )
    _index(connection, person_id, entry)
    return entry


def _is_taken(connection: Connection, archive_id: ArchiveId) -> bool:
    row = connection.execute("SELECT 1 FROM archive WHERE id = :id", {"id": archive_id}).fetchone()
    return row is not None


def update(
    connection: Connection, *, person_id: PersonId, old: ArchiveEntry, new: ArchiveEntry
) -> None:
    """Change the text or tags of an entry; `old` is the present one."""
    changed = connection.execute(
        "UPDATE archive SET text = :text, tags = :tags, updated_at = :now, checksum = :checksum"
        " WHERE id = :id AND person_id = :person_id",
        {
            "id": old.id,
            "person_id": person_id,
            "text": new.text,
            "tags": _dump(new.tags),
            "now": new.updated_at,
            "checksum": checksum(new.text, _dump(new.tags), old.created_at),
        },
    )
    if changed.rowcount:
        _unindex(connection, person_id, old)
        _index(connection, person_id, new)


def delete(connection: Connection, *, person_id: PersonId, entry: ArchiveEntry) -> None:
    """Delete an entry and its index entry; `entry` is the present one."""
    dropped = connection.execute(
        "DELETE FROM archive WHERE id = :id AND person_id = :person_id",
        {"id": entry.id, "person_id": person_id},
    )
    if dropped.rowcount:
        _unindex(connection, person_id, entry)


def find(
    connection: Connection, *, person_id: PersonId, archive_id: ArchiveId
) -> ArchiveEntry | None:
    """Return one entry of a person. Raises `StoreDamaged` on a damaged row."""
    row = connection.execute(
        f"SELECT {_ROW}, checksum FROM archive WHERE id = :id AND person_id = :person_id",
        {"id": archive_id, "person_id": person_id},
    ).fetchone()
    if row is None:
        return None
    if not _is_whole(row):
        raise StoreDamaged("this entry of the archive is damaged; restore a backup")
    return _entry(row)


def list_entries(
    connection: Connection, *, person_id: PersonId, archive_ids: Sequence[ArchiveId]
) -> list[ArchiveEntry]:
    """List entries of a person by their ids, newest first. Damaged ones are logged and left out."""
    rows = connection.execute(
        f"SELECT {_ROW}, checksum FROM archive WHERE person_id = :person_id"
        " AND id IN (SELECT value FROM json_each(:ids)) ORDER BY id DESC",
        {"person_id": person_id, "ids": json.dumps(archive_ids)},
    ).fetchall()
    for row in rows:
        if not _is_whole(row):
            _log.error("entry %s of the archive is damaged; a search leaves it out", row[0])
    return [_entry(row) for row in rows if _is_whole(row)]


def list_holders(
    connection: Connection,
    *,
    within: ArchiveFilter,
    terms: Sequence[Term] = (),
    limit: int,
    offset: int = 0,
) -> list[ArchiveId]:
    """List the newest entries in the scope that contain all terms; all entries without terms."""
    conditions = [quote_term(within.person_id, term) for term in terms]
    conditions += [_quote_tag(within.person_id, tag) for tag in within.tags]
    source = "archive_search CROSS JOIN archive ON archive.id = archive_search.rowid"
    found = "archive_search MATCH :match AND " if conditions else ""
    order = "archive_search.rowid" if conditions else "archive.id"
    rows = connection.execute(
        f"SELECT archive.id FROM {source if conditions else 'archive'}"
        f" WHERE {found}archive.person_id = :person_id"
        " AND archive.created_at >= :since AND archive.created_at <= :until"
        f" ORDER BY {order} DESC LIMIT :limit OFFSET :offset",
        {
            "match": " AND ".join(conditions),
            "person_id": within.person_id,
            "since": within.since or 0,
            "until": FAR if within.until is None else within.until,
            "limit": limit,
            "offset": offset,
        },
    )
    return [ArchiveId(row[0]) for row in rows]


def count_holders(connection: Connection, *, person_id: PersonId, term: Term, most: int) -> int:
    """Count a person's entries that contain a word, up to `most`."""
    row = connection.execute(
        "SELECT COUNT(*) FROM (SELECT rowid FROM archive_search"
        " WHERE archive_search MATCH :match LIMIT :most)",
        {"match": quote_term(person_id, term), "most": most},
    ).fetchone()
    return int(row[0])


def count(connection: Connection, *, person_id: PersonId, most: int) -> int:
    """Count a person's entries, up to `most`."""
    row = connection.execute(
        "SELECT COUNT(*) FROM (SELECT id FROM archive WHERE person_id = :person_id LIMIT :most)",
        {"person_id": person_id, "most": most},
    ).fetchone()
    return int(row[0])


def list_tags(connection: Connection, *, person_id: PersonId, newest: int) -> list[tuple[str, int]]:
    """List the tags of a person's newest entries with their counts, most frequent first."""
    rows = connection.execute(
        "SELECT tag.value, COUNT(*) FROM (SELECT tags FROM archive WHERE person_id = :person_id"
        " ORDER BY id DESC LIMIT :newest) AS some, json_each(some.tags) AS tag"
        " GROUP BY tag.value ORDER BY 2 DESC, 1",
        {"person_id": person_id, "newest": newest},
    ).fetchall()
    return [(row[0], int(row[1])) for row in rows]


def list_known(connection: Connection, *, person_id: PersonId) -> list[ArchiveId]:
    """List the ids of all entries that a person ever stored, oldest first."""
    rows = connection.execute(
        "SELECT id FROM archive WHERE person_id = :person_id UNION SELECT position FROM ledger"
        " WHERE person_id = :person_id AND target = 'archive' ORDER BY 1",
        {"person_id": person_id},
    ).fetchall()
    return [ArchiveId(row[0]) for row in rows]


def list_begun(
    connection: Connection, *, person_id: PersonId, account_id: AccountId
) -> list[ArchiveId]:
    """List the entries that an account stored, according to the ledger.

    These are entries by the account's turns, and by reviews that read only its messages.
    """
    rows = connection.execute(
        "SELECT DISTINCT ledger.position FROM ledger JOIN turns"
        " ON turns.id = CAST(SUBSTR(ledger.actor, 6) AS INTEGER)"
        " WHERE ledger.person_id = :person_id AND ledger.target = 'archive'"
        " AND ledger.operation = 'add' AND ledger.actor LIKE 'turn:%'"
        " AND turns.account_id = :account_id"
        " UNION SELECT ledger.position FROM ledger"
        " JOIN json_each(ledger.message_ids) AS said JOIN messages ON messages.id = said.value"
        " JOIN turns ON turns.id = messages.turn_id"
        " WHERE ledger.person_id = :person_id AND ledger.target = 'archive'"
        " AND ledger.operation = 'add' AND ledger.actor LIKE 'review:%'"
        " GROUP BY ledger.id HAVING MIN(turns.account_id IS :account_id)",
        {"person_id": person_id, "account_id": account_id},
    ).fetchall()
    return sorted(ArchiveId(row[0]) for row in rows)


def move(
    connection: Connection,
    *,
    out_of: PersonId,
    into: PersonId,
    archive_ids: Sequence[ArchiveId],
) -> None:
    """Move entries to another person, with their index entries and their ledger rows.

    The indexed text of a damaged entry is unknown: it stays in the index, but can't be found.
    """
    for start in range(0, len(archive_ids), _PIECE):
        piece = archive_ids[start : start + _PIECE]
        entries = list_entries(connection, person_id=out_of, archive_ids=piece)
        entries.reverse()  # oldest first: FTS5 flushes if a rowid is not larger than the one before
        for entry in entries:
            _unindex(connection, out_of, entry)
        for entry in entries:
            _index(connection, into, entry)
        values = {"out_of": out_of, "into": into, "ids": json.dumps(piece)}
        connection.execute(
            "UPDATE archive SET person_id = :into WHERE person_id = :out_of"
            " AND id IN (SELECT value FROM json_each(:ids))",
            values,
        )
        connection.execute(
            "UPDATE ledger SET person_id = :into WHERE person_id = :out_of"
            " AND target = 'archive' AND position IN (SELECT value FROM json_each(:ids))",
            values,
        )


def _index(connection: Connection, person_id: PersonId, entry: ArchiveEntry) -> None:
    connection.execute(
        "INSERT INTO archive_search (rowid, words) VALUES (:id, :indexed)",
        {"id": entry.id, "indexed": index_entry(person_id, entry.text, entry.tags)},
    )


def _unindex(connection: Connection, person_id: PersonId, entry: ArchiveEntry) -> None:
    connection.execute(
        "INSERT INTO archive_search (archive_search, rowid, words) VALUES ('delete', :id,"
        " :indexed)",
        {"id": entry.id, "indexed": index_entry(person_id, entry.text, entry.tags)},
    )


_Row = tuple[int, str, str, int, int, int]


def _entry(row: _Row) -> ArchiveEntry:
    return ArchiveEntry(
        id=ArchiveId(row[0]),
        text=row[1],
        tags=tuple(json.loads(row[2])),
        created_at=row[3],
        updated_at=row[4],
    )


def _is_whole(row: _Row) -> bool:
    return checksum(row[1], row[2], row[3]) == row[5]


def _dump(tags: tuple[str, ...]) -> str:
    return json.dumps(tags, ensure_ascii=False, separators=(",", ":"))


def _quote_tag(person_id: PersonId, tag: str) -> str:
    if not _TAG.fullmatch(tag):
        raise ValueError(f"{tag!r} is no tag")
    return f'"{_name_tag(person_id, tag)}"'


def _name_tag(person_id: PersonId, tag: str) -> str:
    return f"p{person_id}__t{tag.replace('-', '_')}"
