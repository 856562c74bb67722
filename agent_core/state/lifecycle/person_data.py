"""Queries that yield all texts of a person; use them only in `Database.browse`.

They may take seconds. Each yields its rows one by one, to keep the use of memory small.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_core.ids import (
    ArchiveId,
    InboxId,
    MessageId,
    OutboxId,
    PersonId,
    PromptHash,
    SessionId,
    TurnId,
)
from agent_core.state.conversations.private_history import CONSOLE_USER
from agent_core.state.engine.database import Connection
from agent_core.transcript import Part, load_parts

PlatformKey = tuple[str, str]
"""A platform, and a chat or a user on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSubject:
    """The keys of a person's rows.

    `person_ids` are the person and everyone merged into them. `accounts` are (platform, user id).
    `chats` are the (platform, chat) of their direct chats.
    """

    person_ids: tuple[PersonId, ...]
    accounts: tuple[PlatformKey, ...]
    chats: tuple[PlatformKey, ...]

    @property
    def values(self) -> dict[str, str]:
        """The keys as JSON lists, for queries."""
        return {
            "people": json.dumps(self.person_ids),
            "chats": json.dumps([json.dumps(chat) for chat in self.chats]),
            "actors": json.dumps([f"account:{name}:{user}" for name, user in self.accounts]),
        }

    @property
    def console_users(self) -> str:
        """The names under which they write on the console, as a JSON list; see `CONSOLE_USER`."""
        own = [user for platform, user in self.accounts if platform == "console"]
        return json.dumps([*own, *map(str, self.person_ids)])


_PEOPLE = "(SELECT value FROM json_each(:people))"
_TURNS = f"(SELECT id FROM turns WHERE person_id IN {_PEOPLE})"
_ON_CONSOLE = (
    "SELECT id FROM inbox WHERE platform = 'console' AND payload <> ''"
    f" AND {CONSOLE_USER} IN (SELECT value FROM json_each(:users))"
)
_CONVERSATIONS = f"(SELECT id FROM conversations WHERE person_id IN {_PEOPLE})"
_SESSIONS = f"(SELECT id FROM sessions WHERE conversation_id IN {_CONVERSATIONS})"
_IS_FOREIGN = (
    "length(text) <> length(CAST(text AS BLOB)) OR length(parts) <> length(CAST(parts AS BLOB))"
    " OR instr(parts, '\\u')"
)
"""The condition for a message with other than ASCII characters, also escaped ones."""
_SPOKEN_IN = f"(SELECT session_id FROM turns WHERE person_id IN {_PEOPLE})"


def find_subject(
    connection: Connection, *, person_id: PersonId, is_alone: Callable[[str], bool]
) -> DataSubject:
    """Collect the keys of a person's rows; `is_alone` tells whether a chat is direct."""
    ids = [
        PersonId(row[0])
        for row in connection.execute(
            "SELECT id FROM people WHERE id = :person_id"
            " UNION SELECT id FROM people WHERE joined_to = :person_id ORDER BY 1",
            {"person_id": person_id},
        )
    ]
    values = {"people": json.dumps(ids)}
    chats = connection.execute(
        f"SELECT platform, chat FROM turns WHERE person_id IN {_PEOPLE}"
        f" UNION SELECT platform, chat FROM outbox WHERE person_id IN {_PEOPLE}"
        f" UNION SELECT platform, chat FROM link_requests WHERE person_id IN {_PEOPLE}"
        " UNION SELECT link_codes.platform, chat FROM link_codes JOIN accounts ON"
        " accounts.platform = link_codes.platform AND accounts.user_id = link_codes.user_id"
        f" WHERE accounts.person_id IN {_PEOPLE}",
        values,
    ).fetchall()
    return DataSubject(
        person_ids=tuple(ids),
        accounts=list_accounts(connection, person_ids=ids),
        chats=tuple((row[0], row[1]) for row in chats if row[1] and is_alone(row[1])),
    )


def list_accounts(
    connection: Connection, *, person_ids: Sequence[PersonId]
) -> tuple[PlatformKey, ...]:
    """List the accounts of people, as (platform, user id)."""
    rows = connection.execute(
        f"SELECT platform, user_id FROM accounts WHERE person_id IN {_PEOPLE} ORDER BY id",
        {"people": json.dumps(person_ids)},
    )
    return tuple((row[0], row[1]) for row in rows)


def count_messages(connection: Connection, *, subject: DataSubject) -> list[tuple[SessionId, int]]:
    """List the sessions of a person's conversations, each with the number of its messages."""
    rows = connection.execute(
        f"SELECT session_id, COUNT(*) FROM messages WHERE session_id IN {_SESSIONS}"
        " GROUP BY session_id ORDER BY session_id",
        subject.values,
    )
    return [(SessionId(row[0]), row[1]) for row in rows]


def walk_messages(
    connection: Connection,
    *,
    subject: DataSubject,
    session_ids: Sequence[SessionId],
    letters: Sequence[str] = (),
) -> Iterator[tuple[SessionId, MessageId, tuple[Part, ...]]]:
    """Yield (session, id, parts) of the messages of a person's sessions.

    Redacted messages are left out. So are messages without one of `letters`, groups of ASCII
    letters in any case, unless they have other than ASCII characters: SQLite looks for these
    without holding up Python.
    """
    where = f"session_id IN {_SESSIONS} AND session_id IN (SELECT value FROM json_each(:sessions))"
    values = {**subject.values, "sessions": json.dumps(session_ids)}
    yield from _walk_messages(connection, where, values, letters)


def walk_messages_elsewhere(
    connection: Connection, *, subject: DataSubject, letters: Sequence[str] = ()
) -> Iterator[tuple[SessionId, MessageId, tuple[Part, ...]]]:
    """Yield what `walk_messages` does, of a person's turns in conversations of rooms."""
    where = f"turn_id IN {_TURNS} AND session_id NOT IN {_SESSIONS}"
    yield from _walk_messages(connection, where, subject.values, letters)


def walk_told(
    connection: Connection, *, owner_ids: Sequence[PersonId]
) -> Iterator[tuple[MessageId, tuple[Part, ...]]]:
    """Yield (id, parts) of messages that may tell news of the notes of people or groups."""
    rows = connection.execute(
        "SELECT id, parts, text FROM messages WHERE session_id IN (SELECT id FROM sessions WHERE"
        f" conversation_id IN (SELECT id FROM conversations WHERE person_id IN {_PEOPLE}"
        f" OR room_id IN (SELECT id FROM rooms WHERE person_id IN {_PEOPLE})))"
        " AND (instr(parts, 'New in ') OR instr(parts, 'Gone from ')"
        " OR instr(parts, 'Now, instead of ')) AND forgotten_at IS NULL",
        {"people": json.dumps(owner_ids)},
    )
    for row in rows:
        yield MessageId(row[0]), load_parts(row[1], row[2])


def _walk_messages(
    connection: Connection, where: str, values: Mapping[str, str], letters: Sequence[str]
) -> Iterator[tuple[SessionId, MessageId, tuple[Part, ...]]]:
    missing = "".join(
        f" AND (text LIKE :letters{number} OR parts LIKE :letters{number} OR {_IS_FOREIGN})"
        for number in range(len(letters))
    )
    rows = connection.execute(
        "SELECT session_id, id, parts, text FROM messages"
        f" WHERE {where} AND forgotten_at IS NULL{missing} ORDER BY session_id, id",
        {**values, **{f"letters{number}": f"%{group}%" for number, group in enumerate(letters)}},
    )
    for row in rows:
        yield SessionId(row[0]), MessageId(row[1]), load_parts(row[2], row[3])


def _behind(field: str) -> str:
    """Return SQL for the words behind a command's name in the detail of a deed."""
    command = f"COALESCE(detail ->> '{field}', '')"
    return f"substr({command}, instr({command} || ' ', ' '))"


DEED_WORDS = (
    f"COALESCE(detail ->> 'did', '') || char(10) || {_behind('undo')}"
    f" || char(10) || {_behind('redo')}"
)
"""SQL for the words of a row of `/undo`."""
IS_DEED = "action IN ('deed', 'deed.undone') AND detail LIKE '{%'"
"""SQL that is true for a row of `/undo` with words."""

TEXTS: Mapping[str, str] = {
    "titles": (
        "SELECT id, title || char(10) || plan FROM sessions"
        f" WHERE (id IN {_SESSIONS} OR id IN {_SPOKEN_IN}) AND (title <> '' OR plan <> '')"
    ),
    "compactions": (
        "SELECT session_id, summary || char(10) || plan || char(10) || found_tools"
        f" FROM compactions WHERE session_id IN {_SESSIONS}"
    ),
    "steps": (
        "SELECT id, outcome || char(10) || sources || char(10) || receipts FROM steps"
        f" WHERE turn_id IN {_TURNS} AND outcome IS NOT NULL"
    ),
    "prompts": (
        "SELECT hash, system FROM prompts WHERE system <> '' AND hash IN"
        f" (SELECT prompt_hash FROM turns WHERE conversation_id IN {_CONVERSATIONS}"
        f" UNION SELECT prompt_hash FROM sessions WHERE conversation_id IN {_CONVERSATIONS})"
    ),
    "questions": (
        "SELECT id, text || char(10) || choices || char(10) || payload FROM questions"
        f" WHERE person_id IN {_PEOPLE} OR turn_id IN {_TURNS}"
    ),
    "descriptions": f"SELECT person_id, description FROM blocks WHERE person_id IN {_PEOPLE}",
    "audit": f"SELECT id, detail FROM audit WHERE person_id IN {_PEOPLE} AND detail <> ''",
    "deeds": (
        f"SELECT id, {DEED_WORDS} FROM audit WHERE {IS_DEED}"
        f" AND person_id IN (SELECT id FROM people WHERE kind = 'room' OR id IN {_PEOPLE})"
        " AND actor IN (SELECT 'person:' || value FROM json_each(:people))"
    ),
    "jobs": (
        "SELECT id, title || char(10) || body || char(10) || timing FROM jobs"
        f" WHERE person_id IN {_PEOPLE}"
    ),
    "job_versions": (
        "SELECT id, title || char(10) || body || char(10) || timing FROM job_versions"
        f" WHERE job_id IN (SELECT id FROM jobs WHERE person_id IN {_PEOPLE})"
    ),
    "runs": (
        "SELECT id, reason || char(10) || input FROM job_runs WHERE job_id IN"
        f" (SELECT id FROM jobs WHERE person_id IN {_PEOPLE}) AND (reason <> '' OR input <> '')"
    ),
    "changes": (
        "SELECT id, COALESCE(before, '') || char(10) || COALESCE(after, '') || char(10) || evidence"
        f" || char(10) || sources FROM ledger WHERE person_id IN {_PEOPLE}"
    ),
    "foreign_changes": (
        "SELECT id, evidence || char(10) || sources FROM ledger"
        f" WHERE person_id NOT IN {_PEOPLE} AND (evidence <> '' OR sources <> '[]')"
        f" AND actor IN (SELECT 'turn:' || id FROM turns WHERE person_id IN {_PEOPLE}"
        "  UNION ALL SELECT 'person:' || value FROM json_each(:people))"
    ),
    "tasks": f"SELECT id, payload FROM tasks WHERE person_id IN {_PEOPLE}",
    "external_sync": (
        f"SELECT id, payload FROM external_sync WHERE person_id IN {_PEOPLE} AND kind <> 'erase'"
    ),
}
"""Queries for (id, text) of a person's rows. Titles are those of sessions that they own or spoke
in. Jobs include finished ones. `foreign_changes` are the quotes of their turns and commands in
shared memories.
`deeds` are what `/undo` knows of theirs, in groups also.
For `descriptions` and `audit`, the subject has the rows of blocks in `people`.
"""


def walk_texts(
    connection: Connection, *, kind: str, subject: DataSubject
) -> Iterator[tuple[Any, str]]:
    """Yield (id, text) of one of the `TEXTS`."""
    yield from connection.execute(TEXTS[kind], subject.values)


def list_foreign_prompts(connection: Connection, *, subject: DataSubject) -> set[PromptHash]:
    """List the prompts of all other conversations; prompts without personal text are shared."""
    rows = connection.execute(
        f"SELECT prompt_hash FROM turns WHERE conversation_id NOT IN {_CONVERSATIONS}"
        f" UNION SELECT prompt_hash FROM sessions WHERE conversation_id NOT IN {_CONVERSATIONS}",
        subject.values,
    )
    return {PromptHash(row[0]) for row in rows if row[0]}


def walk_events(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[InboxId, str, str]]:
    """Yield (id, state, payload) of events of a person's turns, and of all that name their
    account.

    These are their commands and answers, and messages of others to them or about them. On the
    console, each event says whose it is.
    """
    yield from connection.execute(
        f"SELECT id, state, payload FROM inbox WHERE turn_id IN {_TURNS} AND payload <> ''",
        subject.values,
    )
    for platform, user_id in subject.accounts:
        yield from connection.execute(
            "SELECT id, state, payload FROM inbox WHERE platform = :platform AND payload <> ''"
            " AND platform <> 'console' AND (instr(payload, :user_id) > 0 OR NOT EXISTS (SELECT 1"
            " FROM accounts WHERE accounts.platform = :platform"
            " AND accounts.user_id <> :user_id))",
            {"platform": platform, "user_id": user_id},
        )
    yield from connection.execute(
        f"SELECT id, state, payload FROM inbox WHERE id IN ({_ON_CONSOLE})",
        {"users": subject.console_users},
    )


def list_own_events(connection: Connection, *, subject: DataSubject) -> list[InboxId]:
    """List the events that started or steered a person's turns, and those of their console."""
    rows = connection.execute(
        f"SELECT id FROM inbox WHERE turn_id IN {_TURNS} UNION {_ON_CONSOLE}",
        subject.values | {"users": subject.console_users},
    )
    return [InboxId(row[0]) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """An outbox message with all texts of its row in `words`."""

    id: OutboxId
    state: str
    words: str
    file_key: str | None
    turn_id: TurnId | None


def walk_sent(connection: Connection, *, subject: DataSubject) -> Iterator[Sent]:
    """Yield the outbox messages to a person, or of their turns."""
    rows = connection.execute(
        "SELECT id, state, body || char(10) || COALESCE(shown, '') || char(10) || buttons"
        " || char(10) || COALESCE(file_name, '') || char(10) || reason, file_key, turn_id"
        f" FROM outbox WHERE person_id IN {_PEOPLE} OR turn_id IN {_TURNS}"
        " OR json_array(platform, chat) IN (SELECT json(value) FROM json_each(:chats))",
        subject.values,
    )
    for row in rows:
        yield Sent(id=row[0], state=row[1], words=row[2], file_key=row[3], turn_id=row[4])


def walk_files(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[int, str, str, bytes]]:
    """Yield (id, key, name, bytes) of the files that a person's turns made."""
    yield from connection.execute(
        "SELECT turn_files.id, files.key, turn_files.name, files.data FROM turn_files"
        f" JOIN files ON files.key = turn_files.file_key WHERE turn_files.turn_id IN {_TURNS}",
        subject.values,
    )


def walk_block_names(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[PersonId, str, str]]:
    """Yield (person, slug, name) of blocks; `subject` has the blocks' rows in `people`."""
    yield from connection.execute(
        f"SELECT id, slug, name FROM people WHERE kind = 'block' AND id IN {_PEOPLE} ORDER BY id",
        subject.values,
    )


def walk_deferred(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[int, str, str | None, bytes]]:
    """Yield (id, text, key of a file, its bytes) of a person's deferred messages."""
    yield from connection.execute(
        "SELECT deferred_messages.id, title || char(10) || body || char(10) ||"
        " COALESCE(file_name, ''),"
        " file_key, COALESCE(files.data, x'') FROM deferred_messages LEFT JOIN files"
        " ON files.key = deferred_messages.file_key WHERE deferred_messages.person_id IN"
        f" {_PEOPLE}",
        subject.values,
    )


def walk_archive(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[PersonId, ArchiveId, str]]:
    """Yield (person, id, text) of a person's archive."""
    yield from connection.execute(
        f"SELECT person_id, id, text || char(10) || tags FROM archive WHERE person_id IN {_PEOPLE}",
        subject.values,
    )


def list_referenced(connection: Connection, *, keys: Sequence[str]) -> set[str]:
    """Return those of the files that an outbox message, a turn or a deferred message refers to."""
    held = {
        row[0]
        for table in ("outbox", "turn_files", "deferred_messages")
        for row in connection.execute(
            f"SELECT file_key FROM {table} WHERE file_key IN (SELECT value FROM json_each(:keys))",
            {"keys": json.dumps(list(keys))},
        )
    }
    left = set(keys) - held
    if left:
        pictured = connection.execute("SELECT parts FROM messages WHERE instr(parts, 'file_key')")
        returned = connection.execute("SELECT images FROM steps WHERE images <> '[]'")
        for (parts,) in (*pictured, *returned):
            held |= {key for key in left if key in parts}
    return held
