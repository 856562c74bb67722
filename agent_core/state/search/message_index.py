"""The full-text index of messages, in SQLite's own SQL dialect.

Each word has the prefix of its person, `p7_lisbon`, so that the words of different people are
separate: a search reads only entries of its person, and its counts are theirs alone. A message also
has tags such as `p7__c12`: for its conversation, author, platform and month.

The index keeps no copy of the text, and FTS5 needs the exact indexed text to delete a message. A
change of the tokenizer therefore needs a migration that rebuilds the index.

An entry is a passage. Its row number is the message's id times `PLACES`, plus the number of the
passage in the message.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from agent_core.ids import MessageId, PassageId, PersonId, SessionId
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection
from agent_core.state.search.search_scope import SearchFilter
from agent_core.state.tokenizer import PLACES, list_entries, plain_name

FAR = 2**62
"""A time later than all others, in milliseconds."""

_WORD = re.compile(r"(?:[a-z0-9]|[^\x00-\x7f])+")
_MONTH_MS = 28 * 24 * 3_600_000
_MOST_MONTHS = 60
"""The most months in one index query; a longer range is filtered by the times of messages."""
_IS_FIRST = f" AND message_search.rowid % {PLACES} = 0"
"""The condition for the first passages of messages."""
_INDEXED = "id, scope, role, platform, created_at, text, parts, checksum"
_PIECE = 2000
"""Messages moved from one person to another per step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word in the form of `tokenizer.cut` or, with `is_start`, the beginning of a word.

    With `any_of`, each of its words matches, and `word` is empty.
    """

    word: str = ""
    is_start: bool = False
    any_of: frozenset[str] = frozenset()


def message_of(passage_id: PassageId) -> MessageId:
    """Return the message of a passage."""
    return MessageId(passage_id // PLACES)


def index_message(connection: Connection, *, message_id: MessageId, entries: Sequence[str]) -> None:
    """Index a message in the transaction that stores it.

    `entries` is the result of `list_entries` for its row.
    """
    for place, words in enumerate(entries):
        connection.execute(
            "INSERT INTO message_search (rowid, words) VALUES (:id, :words)",
            {"id": message_id * PLACES + place, "words": words},
        )


def drop_message(connection: Connection, *, message_id: MessageId, entries: Sequence[str]) -> None:
    """Remove a message from the index in the transaction that redacts it.

    `entries` is the result of `list_entries` for its former row. Its words stay in the index until
    the next merge.
    """
    for place, words in enumerate(entries):
        connection.execute(
            "INSERT INTO message_search (message_search, rowid, words)"
            " VALUES ('delete', :id, :words)",
            {"id": message_id * PLACES + place, "words": words},
        )


def move_sessions(
    connection: Connection,
    *,
    session_ids: Sequence[SessionId],
    person_id: PersonId,
    scope: str,
) -> int:
    """Move the messages of sessions to a person, also in the index; return their number.

    `scope` is their new scope. A damaged message keeps its old scope, because its indexed text is
    unknown.
    """
    moved = 0
    messages = _list_sessions(connection, session_ids)
    # In large pieces, because FTS5 flushes whenever another table changes.
    while piece := list(islice(messages, _PIECE)):
        whole = [one for one in piece if one.is_whole]
        for one in whole:
            drop_message(connection, message_id=one.id, entries=one.list_entries(one.scope))
        for one in whole:
            index_message(connection, message_id=one.id, entries=one.list_entries(scope))
        connection.executemany(
            "UPDATE messages SET person_id = :person_id, scope = :scope WHERE id = :id",
            [
                {
                    "id": one.id,
                    "person_id": person_id,
                    "scope": scope if one.is_whole else one.scope,
                }
                for one in piece
            ],
        )
        moved += len(piece)
    return moved


def index_next(
    connection: Connection, *, session_id: SessionId, after: MessageId, scope: str, most: int
) -> MessageId | None:
    """Index up to `most` messages of a session that have no entry; return the last; None without.

    The messages up to `after` have entries. `scope` is the new scope, in which searches find them.
    """
    rows = connection.execute(
        f"SELECT {_INDEXED} FROM messages WHERE session_id = :session_id AND id > :after"
        " AND scope NOT LIKE 'p% c%' ORDER BY id LIMIT :most",
        {"session_id": session_id, "after": after, "most": most},
    ).fetchall()
    found = list(map(_read_indexed, rows))
    for one in found:
        entries = one.list_entries(scope) if one.is_whole else ()
        index_message(connection, message_id=one.id, entries=entries)
    connection.executemany(
        "UPDATE messages SET scope = :scope WHERE id = :id",
        [{"id": one.id, "scope": scope} for one in found],
    )
    return found[-1].id if found else None


def count_holders(
    connection: Connection, *, field: SearchFilter, term: Term | None = None, most: int
) -> int:
    """Count the passages in the scope that contain a word, or all passages, up to `most`.

    The filter's other conditions are ignored, because a word is as rare as it is in the whole
    scope.
    """
    held = quote_term(field.person_id, term) if term else f"({_anybody(field)})"
    return _count(connection, _scope(field) + held, most=most)


def count_messages(connection: Connection, *, field: SearchFilter, most: int) -> int:
    """Count the messages in the scope, up to `most`; the filter's other conditions are ignored."""
    return _count(connection, f"{_scope(field)}({_anybody(field)})", most=most, condition=_IS_FIRST)


def _count(connection: Connection, match: str, *, most: int, condition: str = "") -> int:
    row = connection.execute(
        "SELECT COUNT(*) FROM (SELECT rowid FROM message_search"
        f" WHERE message_search MATCH :match{condition} LIMIT :most)",
        {"match": match, "most": most},
    ).fetchone()
    return int(row[0])


def list_holders(
    connection: Connection, *, field: SearchFilter, terms: Sequence[Term], limit: int
) -> list[PassageId]:
    """List the newest passages that contain all terms.

    Passages of the excluded turn are included; see `passages.list_turn`.
    """
    held = " AND ".join(quote_term(field.person_id, term) for term in terms)
    rows = _match(connection, field, held, limit=limit)
    return [PassageId(row) for row in rows]


def list_messages(
    connection: Connection, *, field: SearchFilter, limit: int, oldest_first: bool = False
) -> list[MessageId]:
    """List the newest or oldest messages, including those of the excluded turn."""
    held = f"({_anybody(field)})"
    rows = _match(connection, field, held, limit=limit, is_first=True, oldest_first=oldest_first)
    return [MessageId(row // PLACES) for row in rows]


def _match(
    connection: Connection,
    field: SearchFilter,
    held: str,
    *,
    limit: int,
    is_first: bool = False,
    oldest_first: bool = False,
) -> list[int]:
    """List the matching rows of the index; with `is_first`, only first passages of messages."""
    values: dict[str, object] = {"match": _scope(field) + _filters(field) + held, "limit": limit}
    order = "ASC" if oldest_first else "DESC"
    first = _IS_FIRST if is_first else ""
    if field.since is None and field.until is None:
        sql = (
            f"SELECT rowid FROM message_search WHERE message_search MATCH :match{first}"
            f" ORDER BY rowid {order} LIMIT :limit"
        )
    else:
        sql = (
            "SELECT message_search.rowid FROM message_search"
            f" JOIN messages ON messages.id = message_search.rowid / {PLACES}"
            f" WHERE message_search MATCH :match{first} AND messages.person_id = :person_id"
            " AND messages.created_at >= :since AND messages.created_at <= :until"
            f" ORDER BY message_search.rowid {order} LIMIT :limit"
        )
        values |= {
            "person_id": field.person_id,
            "since": field.since or 0,
            "until": FAR if field.until is None else field.until,
        }
    return [row[0] for row in connection.execute(sql, values)]


@dataclass(frozen=True, slots=True)
class _Indexed:
    id: MessageId
    scope: str
    role: str
    platform: str
    created_at: int
    text: str
    is_whole: bool

    def list_entries(self, scope: str) -> list[str]:
        return list_entries(scope, self.role, self.platform, self.created_at, self.text)


def _list_sessions(connection: Connection, session_ids: Sequence[SessionId]) -> Iterator[_Indexed]:
    """Yield the messages of sessions with their index data.

    Each session is read only when needed, after the caller has changed the sessions before it.
    """
    for session_id in session_ids:
        rows = connection.execute(
            f"SELECT {_INDEXED} FROM messages WHERE session_id = :session_id ORDER BY id",
            {"session_id": session_id},
        ).fetchall()
        yield from map(_read_indexed, rows)


def _read_indexed(row: tuple[Any, ...]) -> _Indexed:
    key, scope, role, platform, at, text, parts, expected = row
    is_whole = checksum(role, parts, text) == expected
    return _Indexed(key, scope, role, platform, at, text, is_whole)


def _scope(field: SearchFilter) -> str:
    """Return the condition that keeps a search within its scope, followed by AND."""
    if field.is_everything:
        return ""
    # No message has another person as a tag, so that a wrong scope finds nothing.
    return f"{_quote_tag(field, field.scope)} AND "


def _filters(field: SearchFilter) -> str:
    tags = []
    if field.role:
        tags.append(_quote_tag(field, f"r{field.role[0]}"))
    if field.platform:
        tags.append(_quote_tag(field, f"o{plain_name(field.platform)}"))
    if months := _months(field):
        tags.append("(" + " OR ".join(_quote_tag(field, f"m{month}") for month in months) + ")")
    return "".join(f"{tag} AND " for tag in tags)


def _months(field: SearchFilter) -> list[str]:
    """List the months between the two times, if both are given and not too far apart."""
    if field.since is None or field.until is None:
        return []
    if not 0 <= field.until - field.since <= _MOST_MONTHS * _MONTH_MS:
        return []
    first, last = (datetime.fromtimestamp(at / 1000, UTC) for at in (field.since, field.until))
    span = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return [f"{month // 12:04}{month % 12 + 1:02}" for month in span]


def _anybody(field: SearchFilter) -> str:
    return f"{_quote_tag(field, 'ru')} OR {_quote_tag(field, 'ra')}"


def quote_term(person_id: PersonId, term: Term) -> str:
    """Quote a term for FTS5, with the prefix of its person.

    The words of the index have no character that could end the quoted string.
    """
    if term.any_of:
        words = (quote_term(person_id, Term(word=word)) for word in sorted(term.any_of))
        return f"({' OR '.join(words)})"
    if not _WORD.fullmatch(term.word):
        raise ValueError(f"{term.word!r} is no word of the index")
    return f'"p{person_id}_{term.word}"' + (" *" if term.is_start else "")


def _quote_tag(field: SearchFilter, tag: str) -> str:
    return f'"p{field.person_id}__{tag}"'
