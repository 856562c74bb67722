"""Full-text search over what was said; the one room where SQL is SQLite's own dialect.

Every message carries, inside the index, the tokens of its person and its conversation, and
every search names one of them, so that it never walks through the words of anybody else.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from agent_core.ids import MessageId, PersonId, SessionId, TurnId
from agent_core.state.checksum import checksum
from agent_core.state.database import Connection

_log = logging.getLogger(__name__)

_SCOPE = re.compile(r"[pc][0-9]+")
_LIKE_SIGN = re.compile(r"[%_\\]")
_START = "\x02"
_SNIPPET_TOKENS = 48
"""Of at most 64 that FTS5 allows: about 300 characters of prose."""
_PIECE = 2000
"""Messages that are moved from one person to another at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Where a search may look: messages of one person or room, in one scope, but not in one turn.

    `scope` is `p<person id>` for all of a person's talk or `c<conversation id>` for one room.
    """

    person_id: PersonId
    scope: str
    except_turn: TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A message that was found. `match` is where in `text` the first match begins.

    `text` is a piece of the message where words were searched, else the whole of it.
    """

    id: MessageId
    role: Literal["user", "assistant"]
    platform: str
    said_at: int
    text: str
    match: int
    asker: str
    """The name of who asked for the turn that the message is part of."""


def index_message(connection: Connection, message_id: MessageId, scope: str, text: str) -> None:
    """Make a message findable; called in the transaction that stores it.

    `scope` and `text` must be what its row in `messages` holds, for the index keeps no copy
    of its own. A message without words is not indexed.
    """
    if not text.strip():
        return
    connection.execute(
        "INSERT INTO message_search (rowid, scope, text) VALUES (:id, :scope, :text)",
        {"id": message_id, "scope": scope, "text": text},
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
    old ones: the index can only let go of words that it is told again, letter for letter.
    """
    moved = 0
    messages = _list_sessions(connection, session_ids)
    # In large pieces: every change of another table makes the index write what it has gathered.
    while piece := list(islice(messages, _PIECE)):
        worded = [one for one in piece if one.is_whole and one.text.strip()]
        connection.executemany(
            "INSERT INTO message_search (message_search, rowid, scope, text)"
            " VALUES ('delete', :id, :scope, :text)",
            [{"id": one.id, "scope": one.scope, "text": one.text} for one in worded],
        )
        connection.executemany(
            "INSERT INTO message_search (rowid, scope, text) VALUES (:id, :scope, :text)",
            [{"id": one.id, "scope": scope, "text": one.text} for one in worded],
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


@dataclass(frozen=True, slots=True)
class _Indexed:
    id: MessageId
    scope: str
    text: str
    is_whole: bool


def _list_sessions(connection: Connection, session_ids: Sequence[SessionId]) -> Iterator[_Indexed]:
    """The messages of sessions as the index knows them; each session is read when it is asked
    for, while those before it are changed already.
    """
    for session_id in session_ids:
        rows = connection.execute(
            "SELECT id, scope, role, parts, text, checksum FROM messages"
            " WHERE session_id = :session_id ORDER BY id",
            {"session_id": session_id},
        ).fetchall()
        for row in rows:
            yield _Indexed(row[0], row[1], row[4], checksum(*row[2:5]) == row[5])


_Row = tuple[int, Literal["user", "assistant"], str, int, str, str, int, str]

_FOUND = (
    " FROM message_search JOIN messages ON messages.id = message_search.rowid"
    " JOIN turns ON turns.id = messages.turn_id JOIN people ON people.id = turns.person_id"
    " WHERE message_search MATCH :expression AND messages.person_id = :person_id"
    " AND messages.turn_id <> :except_turn AND messages.role <> 'tool'"
)
_ROW = (
    "messages.id, messages.role, messages.platform, messages.created_at, messages.parts,"
    " messages.text, messages.checksum, people.name"
)
_HOLDS = "messages.id IN (SELECT rowid FROM message_search WHERE message_search MATCH :{})"


def count_words(connection: Connection, field: Field, *, words: Sequence[str]) -> int:
    """How many messages hold at least one of the words."""
    row = connection.execute(f"SELECT COUNT(*) {_FOUND}", _about_words(field, words)).fetchone()
    return int(row[0])


def find_words(
    connection: Connection, field: Field, *, words: Sequence[str], limit: int
) -> list[Hit]:
    """Messages that hold at least one of the words, best first, then newest first.

    Case and diacritics don't matter. A word is anything; one without a letter or a digit is in
    no message. Damaged rows are left out, and logged. A word weighs more the rarer it is within
    the scope: the index's own BM25 reckons with all that anybody ever said, and so the order of
    one person's hits would tell of the words of others.
    """
    values = {**_about_words(field, words), "start": _START, "limit": limit}
    terms = []
    for number, (match, weight) in enumerate(_weigh(connection, field, words)):
        values[f"word{number}"], values[f"weight{number}"] = match, weight
        terms.append(f"({_HOLDS.format(f'word{number}')}) * :weight{number}")
    order = " + ".join(terms) + " DESC"
    rows = connection.execute(
        f"SELECT {_ROW}, snippet(message_search, 1, :start, '', '…', {_SNIPPET_TOKENS}) {_FOUND}"
        f" ORDER BY {order}, messages.id DESC LIMIT :limit",
        values,
    ).fetchall()
    hits = []
    for *row, snippet in rows:
        text = snippet.replace(_START, "")
        hits += _hit(tuple(row), text, max(snippet.find(_START), 0))
    return hits


def _weigh(
    connection: Connection, field: Field, words: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """For each word, what matches it in the scope, and how much it tells there."""
    for word in words:
        match = _match(field, [word])
        row = connection.execute(
            "SELECT COUNT(*) FROM message_search WHERE message_search MATCH :match",
            {"match": match},
        ).fetchone()
        yield match, 1 + 1 / (1 + row[0])


def count_fragments(connection: Connection, field: Field, *, fragments: Sequence[str]) -> int:
    """How many messages hold at least one of the fragments."""
    matches, values = _about_fragments(field, fragments)
    row = connection.execute(
        f"SELECT COUNT(*) {_FOUND} AND ({' OR '.join(matches)})", values
    ).fetchone()
    return int(row[0])


def find_fragments(
    connection: Connection, field: Field, *, fragments: Sequence[str], limit: int
) -> list[Hit]:
    """Messages that hold at least one of the fragments, those with most of them first.

    For scripts that are written without spaces, which the index can't cut into words, and
    for signs that it leaves out. Reads every message of the scope; case matters beyond ASCII.
    """
    matches, values = _about_fragments(field, fragments)
    rows = connection.execute(
        f"SELECT {_ROW} {_FOUND} AND ({' OR '.join(matches)})"
        f" ORDER BY {' + '.join(matches)} DESC, messages.id DESC LIMIT :limit",
        {**values, "limit": limit},
    ).fetchall()
    hits = []
    for row in rows:
        text = row[5]
        folded = text.lower()
        places = (folded.find(fragment.lower()) for fragment in fragments)
        hits += _hit(row, text, min((place for place in places if place >= 0), default=0))
    return hits


def _about_words(field: Field, words: Sequence[str]) -> dict[str, object]:
    if not words:
        raise ValueError("a search needs a word")
    return _about(field, _match(field, words))


def _match(field: Field, words: Sequence[str]) -> str:
    quoted = " OR ".join(_quote(word) for word in words)
    return f"scope : {_scope(field)} AND text : ({quoted})"


def _about_fragments(field: Field, fragments: Sequence[str]) -> tuple[list[str], dict[str, object]]:
    if not fragments:
        raise ValueError("a search needs a fragment")
    values = _about(field, f"scope : {_scope(field)}")
    matches = []
    for number, fragment in enumerate(fragments):
        matches.append(f"(messages.text LIKE :fragment{number} ESCAPE '\\')")
        values[f"fragment{number}"] = "%" + _LIKE_SIGN.sub(r"\\\g<0>", _plain(fragment)) + "%"
    return matches, values


def _about(field: Field, expression: str) -> dict[str, object]:
    return {
        "expression": expression,
        "person_id": field.person_id,
        "except_turn": field.except_turn,
    }


def _scope(field: Field) -> str:
    if not _SCOPE.fullmatch(field.scope):
        raise ValueError(f"{field.scope!r} is no search scope")
    return _quote(field.scope)


def _quote(word: str) -> str:
    """A string of FTS5's query language: in quotes nothing is an operator."""
    return '"' + _plain(word).replace('"', '""') + '"'


def _plain(term: str) -> str:
    """The term without what SQLite can't take in a text: NUL and lone surrogates."""
    return "".join(" " if mark == "\0" or "\ud800" <= mark <= "\udfff" else mark for mark in term)


def _hit(row: _Row, text: str, match: int) -> list[Hit]:
    """The hit of a row; none if the row does not hold what was written."""
    message_id, role, platform, said_at, parts, whole, expected, asker = row
    if checksum(role, parts, whole) != expected:
        _log.error("message %s of the transcript is damaged; a search leaves it out", message_id)
        return []
    hit = Hit(
        id=MessageId(message_id),
        role=role,
        platform=platform,
        said_at=said_at,
        text=text,
        match=match,
        asker=asker,
    )
    return [hit]
