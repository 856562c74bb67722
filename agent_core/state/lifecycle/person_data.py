"""Queries that walk over all that holds a person's words; for `Database.browse` only.

They may take seconds. Each gives its rows one by one, so that nothing large is held.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agent_core.ids import (
    ArchiveId,
    InboxId,
    JobId,
    MessageId,
    OutboxId,
    PersonId,
    PromptHash,
    QuestionId,
    RunId,
    SessionId,
    TurnId,
)
from agent_core.state.engine.database import Connection

Place = tuple[str, str]
"""A platform, and a chat or a user on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSubject:
    """Everything by which a person's rows are known.

    `person_ids` are the person and those who have become them, `accounts` are (platform, user
    id), `chats` (platform, chat) the places where the house and nobody else but they talk.
    """

    person_ids: tuple[PersonId, ...]
    accounts: tuple[Place, ...]
    chats: tuple[Place, ...]

    @property
    def values(self) -> dict[str, str]:
        """For queries: JSON lists."""
        return {
            "people": json.dumps(self.person_ids),
            "chats": json.dumps([json.dumps(chat) for chat in self.chats]),
            "actors": json.dumps([f"account:{name}:{user}" for name, user in self.accounts]),
        }


_PEOPLE = "(SELECT value FROM json_each(:people))"
_TURNS = f"(SELECT id FROM turns WHERE person_id IN {_PEOPLE})"
_CONVERSATIONS = f"(SELECT id FROM conversations WHERE person_id IN {_PEOPLE})"
_SESSIONS = f"(SELECT id FROM sessions WHERE conversation_id IN {_CONVERSATIONS})"
_SPOKEN_IN = f"(SELECT session_id FROM turns WHERE person_id IN {_PEOPLE})"


def find_subject(
    connection: Connection, *, person_id: PersonId, is_alone: Callable[[str], bool]
) -> DataSubject:
    """By what the rows of a person are known; `is_alone` says of a chat that it is direct."""
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


def list_accounts(connection: Connection, *, person_ids: Sequence[PersonId]) -> tuple[Place, ...]:
    """The accounts of people, as (platform, user id)."""
    rows = connection.execute(
        f"SELECT platform, user_id FROM accounts WHERE person_id IN {_PEOPLE} ORDER BY id",
        {"people": json.dumps(person_ids)},
    )
    return tuple((row[0], row[1]) for row in rows)


def walk_messages(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[MessageId, SessionId, str]]:
    """(id, session, parts) of a person's talks, and of their turns in talks that a room shares,
    without what is forgotten already.
    """
    yield from connection.execute(
        "SELECT id, session_id, parts FROM messages"
        f" WHERE (session_id IN {_SESSIONS} OR turn_id IN {_TURNS}) AND forgotten_at IS NULL"
        " ORDER BY session_id, id",
        subject.values,
    )


def walk_titles(connection: Connection, *, subject: DataSubject) -> Iterator[tuple[SessionId, str]]:
    """The titles of the sessions that are a person's, or that they spoke in."""
    yield from connection.execute(
        f"SELECT id, title FROM sessions WHERE (id IN {_SESSIONS} OR id IN {_SPOKEN_IN})"
        " AND title <> ''",
        subject.values,
    )


def walk_compactions(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[SessionId, str]]:
    """(session, summary) of a person's talks that were made shorter."""
    yield from connection.execute(
        f"SELECT session_id, summary FROM compactions WHERE session_id IN {_SESSIONS}",
        subject.values,
    )


def walk_steps(connection: Connection, *, subject: DataSubject) -> Iterator[tuple[int, str]]:
    """(id, outcome) of what tools gave in a person's turns."""
    yield from connection.execute(
        f"SELECT id, outcome FROM steps WHERE turn_id IN {_TURNS} AND outcome IS NOT NULL",
        subject.values,
    )


def walk_prompts(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[PromptHash, str]]:
    """(hash, text) of the frozen prompts of a person's talks."""
    yield from connection.execute(
        "SELECT hash, system FROM prompts WHERE system <> '' AND hash IN"
        f" (SELECT prompt_hash FROM turns WHERE conversation_id IN {_CONVERSATIONS}"
        f" UNION SELECT prompt_hash FROM sessions WHERE conversation_id IN {_CONVERSATIONS})",
        subject.values,
    )


def list_foreign_prompts(connection: Connection, *, subject: DataSubject) -> set[PromptHash]:
    """The prompts of all other talks: where nothing personal stands, several share one."""
    rows = connection.execute(
        f"SELECT prompt_hash FROM turns WHERE conversation_id NOT IN {_CONVERSATIONS}"
        f" UNION SELECT prompt_hash FROM sessions WHERE conversation_id NOT IN {_CONVERSATIONS}",
        subject.values,
    )
    return {PromptHash(row[0]) for row in rows if row[0]}


def walk_events(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[InboxId, str, str]]:
    """(id, state, payload) of events of a person's turns, and of all that name an account of
    theirs: their commands and answers, and what others said to or of them. Where nobody else
    has an account, as on the console, subject events name none, all of them are theirs.
    """
    yield from connection.execute(
        f"SELECT id, state, payload FROM inbox WHERE turn_id IN {_TURNS} AND payload <> ''",
        subject.values,
    )
    for platform, user_id in subject.accounts:
        yield from connection.execute(
            "SELECT id, state, payload FROM inbox WHERE platform = :platform AND payload <> ''"
            " AND (instr(payload, :user_id) > 0 OR NOT EXISTS (SELECT 1 FROM accounts WHERE"
            " accounts.platform = :platform AND accounts.user_id <> :user_id))",
            {"platform": platform, "user_id": user_id},
        )


def list_events_of_turns(connection: Connection, *, subject: DataSubject) -> list[InboxId]:
    """The events that a person's turns were begun or steered with."""
    rows = connection.execute(f"SELECT id FROM inbox WHERE turn_id IN {_TURNS}", subject.values)
    return [InboxId(row[0]) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that the house owes or has sent, with all the words that stand in its row."""

    id: OutboxId
    state: str
    words: str
    file_key: str | None
    turn_id: TurnId | None


def walk_sent(connection: Connection, *, subject: DataSubject) -> Iterator[Sent]:
    """What the house has said to a person, or in their turns."""
    rows = connection.execute(
        "SELECT id, state, body || char(10) || COALESCE(shown, '') || char(10) || buttons"
        " || char(10) || COALESCE(file_name, '') || char(10) || reason, file_key, turn_id"
        f" FROM outbox WHERE person_id IN {_PEOPLE} OR turn_id IN {_TURNS}"
        " OR json_array(platform, chat) IN (SELECT json(value) FROM json_each(:chats))",
        subject.values,
    )
    for row in rows:
        yield Sent(id=row[0], state=row[1], words=row[2], file_key=row[3], turn_id=row[4])


def walk_questions(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[QuestionId, str, str]]:
    """(id, state, words) of what a person was asked."""
    yield from connection.execute(
        "SELECT id, state, text || char(10) || choices || char(10) || payload FROM questions"
        f" WHERE person_id IN {_PEOPLE} OR turn_id IN {_TURNS}",
        subject.values,
    )


def walk_files(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[int, str, str, bytes]]:
    """(id, key, name, bytes) of the files that a person's turns have made."""
    yield from connection.execute(
        "SELECT turn_files.id, files.key, turn_files.name, files.data FROM turn_files"
        f" JOIN files ON files.key = turn_files.file_key WHERE turn_files.turn_id IN {_TURNS}",
        subject.values,
    )


def walk_descriptions(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[PersonId, str]]:
    """(person, words) of what blocks are for; `subject` has the rows of blocks."""
    yield from connection.execute(
        f"SELECT person_id, description FROM blocks WHERE person_id IN {_PEOPLE}", subject.values
    )


def walk_audit(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[int, PersonId, str]]:
    """(id, person, words) of what was done about people, rooms and blocks."""
    yield from connection.execute(
        f"SELECT id, person_id, detail FROM audit WHERE person_id IN {_PEOPLE} AND detail <> ''",
        subject.values,
    )


def walk_jobs(connection: Connection, *, subject: DataSubject) -> Iterator[tuple[JobId, str]]:
    """(id, words) of a person's jobs, also of those that are over."""
    yield from connection.execute(
        f"SELECT id, title || char(10) || body FROM jobs WHERE person_id IN {_PEOPLE}",
        subject.values,
    )


def walk_failures(connection: Connection, *, subject: DataSubject) -> Iterator[tuple[RunId, str]]:
    """(id, words) of the runs of a person's jobs that did not work."""
    yield from connection.execute(
        "SELECT id, reason FROM job_runs WHERE job_id IN"
        f" (SELECT id FROM jobs WHERE person_id IN {_PEOPLE}) AND reason <> ''",
        subject.values,
    )


def walk_deferred(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[int, str, str | None, bytes]]:
    """(id, words, key of a file, its bytes) of what is held back for a person."""
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
    """(person, id, words) of a person's archive."""
    yield from connection.execute(
        f"SELECT person_id, id, text || char(10) || tags FROM archive WHERE person_id IN {_PEOPLE}",
        subject.values,
    )


def walk_changes(connection: Connection, *, subject: DataSubject) -> Iterator[tuple[int, str]]:
    """(id, words) of a person's ledger: before, after, and what it rests on."""
    yield from connection.execute(
        "SELECT id, COALESCE(before, '') || char(10) || COALESCE(after, '') || char(10) || evidence"
        f" FROM ledger WHERE person_id IN {_PEOPLE}",
        subject.values,
    )


def walk_foreign_changes(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[int, str]]:
    """(id, quoted words) of what their turns changed in memories that are not theirs alone."""
    yield from connection.execute(
        f"SELECT id, evidence FROM ledger WHERE person_id NOT IN {_PEOPLE} AND evidence <> ''"
        f" AND actor IN (SELECT 'turn:' || id FROM turns WHERE person_id IN {_PEOPLE})",
        subject.values,
    )


def walk_queued_work(
    connection: Connection, *, subject: DataSubject
) -> Iterator[tuple[str, int, str]]:
    """(table, id, words) of background work and of what an outside memory is to be told."""
    for table, condition in (("tasks", ""), ("external_sync", " AND kind <> 'erase'")):
        yield from connection.execute(
            f"SELECT '{table}', id, payload FROM {table} WHERE person_id IN {_PEOPLE}{condition}",
            subject.values,
        )


def list_referenced(connection: Connection, *, keys: Sequence[str]) -> set[str]:
    """Those of some files that a message, a turn or a message owed still refers to."""
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
        for (parts,) in pictured:
            held |= {key for key in left if key in parts}
    return held
