"""The index of what was said; the one room where SQL is SQLite's own dialect.

Every word stands in the index with its person in front, `p7_lisbon`. So the words of one person
lie apart from those of all others: a search reads no entry of anybody else, and whatever is
counted on the way is theirs alone. Beside its words a message carries its tags, `p7__c12`: which
conversation, by whom, on what platform, in which month.

The index keeps no copy of what it was indexed, and can only let go of a message that it is told
again, letter for letter. Whoever changes how `words` cuts has to fill it anew by a migration.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Literal

from agent_core.ids import MessageId, PersonId, SessionId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.engine.recovery import checksum
from agent_core.state.tokenizer import index_text, plain_name

Speaker = Literal["user", "assistant"]

FAR = 2**62
"""Lies behind every moment, in milliseconds."""

_SCOPE = re.compile(r"[pc][0-9]+")
_MONTH_MS = 28 * 24 * 3_600_000
_MOST_MONTHS = 60
"""Months that are named to the index; a longer span is only held against the messages."""
_PIECE = 2000
"""Messages that are moved from one person to another at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Where a search may look: messages of one person or room, in one scope, but not in one turn.

    `scope` is `p<person id>` for all of a person's talk or `c<conversation id>` for one room.
    `since` and `until` are milliseconds since the epoch, both included.
    """

    person_id: PersonId
    scope: str
    except_turn: TurnId
    since: int | None = None
    until: int | None = None
    role: Speaker | None = None
    platform: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word as `words.cut` gives it, or with `is_start` what a word begins with."""

    word: str
    is_start: bool = False


def index_message(connection: Connection, *, message_id: MessageId, indexed: str | None) -> None:
    """Make a message findable; called in the transaction that stores it.

    `indexed` is what `index_text` makes of its row.
    """
    if indexed:
        connection.execute(
            "INSERT INTO message_search (rowid, words) VALUES (:id, :indexed)",
            {"id": message_id, "indexed": indexed},
        )


def drop_message(connection: Connection, *, message_id: MessageId, indexed: str | None) -> None:
    """Let nobody find a message any more; in the transaction that takes its words out.

    `indexed` is what `index_text` makes of its row as it was. Its words lie in the index until
    that is merged.
    """
    if indexed:
        connection.execute(
            "INSERT INTO message_search (message_search, rowid, words)"
            " VALUES ('delete', :id, :indexed)",
            {"id": message_id, "indexed": indexed},
        )


def move_sessions(
    connection: Connection,
    *,
    session_ids: Sequence[SessionId],
    person_id: PersonId,
    scope: str,
) -> int:
    """Give the messages of sessions to a person, also in the index; how many they are.

    `scope` are the tokens by which they are found from now on. A damaged message keeps its
    old ones, for what the index was told about it is not known any more.
    """
    moved = 0
    messages = _list_sessions(connection, session_ids)
    # In large pieces: every change of another table makes the index write what it has gathered.
    while piece := list(islice(messages, _PIECE)):
        whole = [one for one in piece if one.is_whole]
        connection.executemany(
            "INSERT INTO message_search (message_search, rowid, words)"
            " VALUES ('delete', :id, :indexed)",
            [
                {"id": one.id, "indexed": indexed}
                for one in whole
                if (indexed := one.index_text(one.scope))
            ],
        )
        connection.executemany(
            "INSERT INTO message_search (rowid, words) VALUES (:id, :indexed)",
            [
                {"id": one.id, "indexed": indexed}
                for one in whole
                if (indexed := one.index_text(scope))
            ],
        )
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


def count_holders(
    connection: Connection, *, field: SearchFilter, term: Term | None = None, most: int
) -> int:
    """How many messages of the scope hold a word, or how many it has, counted up to `most`.

    What else the field asks for does not matter: a word is as rare as it is in all of the talk.
    """
    held = _quote(field, term) if term else f"({_anybody(field)})"
    row = connection.execute(
        "SELECT COUNT(*) FROM (SELECT rowid FROM message_search"
        " WHERE message_search MATCH :match LIMIT :most)",
        {"match": _scope(field) + held, "most": most},
    ).fetchone()
    return int(row[0])


def list_holders(
    connection: Connection,
    *,
    field: SearchFilter,
    terms: Sequence[Term],
    limit: int,
    oldest_first: bool = False,
) -> list[MessageId]:
    """The newest messages of the field that hold all the terms, or the oldest; without terms
    whatever was said.

    Those of the turn that is left out are among them still: see `passages.list_turn`.
    """
    held = " AND ".join(_quote(field, term) for term in terms) or f"({_anybody(field)})"
    values = {"match": _scope(field) + _filters(field) + held, "limit": limit}
    order = "ASC" if oldest_first else "DESC"
    if field.since is None and field.until is None:
        return _ids(
            connection,
            "SELECT rowid FROM message_search WHERE message_search MATCH :match"
            f" ORDER BY rowid {order} LIMIT :limit",
            values,
        )
    return _ids(
        connection,
        "SELECT messages.id FROM message_search JOIN messages ON messages.id = message_search.rowid"
        " WHERE message_search MATCH :match AND messages.person_id = :person_id"
        " AND messages.created_at >= :since AND messages.created_at <= :until"
        f" ORDER BY message_search.rowid {order} LIMIT :limit",
        {
            **values,
            "person_id": field.person_id,
            "since": field.since or 0,
            "until": FAR if field.until is None else field.until,
        },
    )


@dataclass(frozen=True, slots=True)
class _Indexed:
    id: MessageId
    scope: str
    role: str
    platform: str
    created_at: int
    text: str
    is_whole: bool

    def index_text(self, scope: str) -> str | None:
        return index_text(scope, self.role, self.platform, self.created_at, self.text)


def _list_sessions(connection: Connection, session_ids: Sequence[SessionId]) -> Iterator[_Indexed]:
    """The messages of sessions as the index knows them; each session is read when it is asked
    for, while those before it are changed already.
    """
    for session_id in session_ids:
        rows = connection.execute(
            "SELECT id, scope, role, platform, created_at, text, parts, checksum FROM messages"
            " WHERE session_id = :session_id ORDER BY id",
            {"session_id": session_id},
        ).fetchall()
        for key, scope, role, platform, at, text, parts, expected in rows:
            is_whole = checksum(role, parts, text) == expected
            yield _Indexed(key, scope, role, platform, at, text, is_whole)


def _ids(connection: Connection, sql: str, values: dict[str, object]) -> list[MessageId]:
    return [row[0] for row in connection.execute(sql, values)]


def _scope(field: SearchFilter) -> str:
    """The condition, with AND behind it, that keeps a search within its scope."""
    if not _SCOPE.fullmatch(field.scope):
        raise ValueError(f"{field.scope!r} is no search scope")
    if field.scope == f"p{field.person_id}":
        return ""
    # No message carries another person as a tag: a mistaken scope finds nothing.
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
    """The months between two times, if both are known and not too far apart."""
    if field.since is None or field.until is None:
        return []
    if not 0 <= field.until - field.since <= _MOST_MONTHS * _MONTH_MS:
        return []
    first, last = (datetime.fromtimestamp(at / 1000, UTC) for at in (field.since, field.until))
    span = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return [f"{month // 12:04}{month % 12 + 1:02}" for month in span]


def _anybody(field: SearchFilter) -> str:
    return f"{_quote_tag(field, 'ru')} OR {_quote_tag(field, 'ra')}"


def _quote(field: SearchFilter, term: Term) -> str:
    """A string of FTS5's query language; in a word of the index nothing could end it."""
    if not term.word or any(not (sign.isalnum() or ord(sign) > 127) for sign in term.word):
        raise ValueError(f"{term.word!r} is no word of the index")
    return f'"p{field.person_id}_{term.word}"' + (" *" if term.is_start else "")


def _quote_tag(field: SearchFilter, tag: str) -> str:
    return f'"p{field.person_id}__{tag}"'
