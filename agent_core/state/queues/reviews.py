"""Queries for background reviews: their progress, their sources, and the changes they hold back.

A review is a task. Its key names the person and the newest turn that it reads, so that the next
review begins after that turn. The turns themselves show what counts towards the next review.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_core.ids import CallId, MessageId, PersonId, TurnId
from agent_core.state.conversations.messages import MAY_HAVE_FORGOTTEN, is_cleaned
from agent_core.state.engine.connection import read_all
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.queues import tasks
from agent_core.transcript import ToolCallPart, load_parts

KIND = "review"
"""The kind of the tasks."""

_DIGITS = 19
"""Digits of a turn in a key, so that keys sort like turns."""
_OWN = (
    " JOIN conversations ON conversations.id = turns.conversation_id"
    " AND conversations.person_id = :person_id AND conversations.kind = 'direct'"
    " AND conversations.agent = ''"
    " AND NOT EXISTS (SELECT 1 FROM inbox JOIN meta ON meta.key = 'disappears:' || inbox.id"
    " WHERE inbox.turn_id = turns.id)"
)
"""Restricts turns to a person's own direct conversation; conversations of jobs, helpers and named
agents are left out, and what its chat will delete.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message that a review reads. `created_at` is in milliseconds since the epoch, UTC."""

    id: MessageId
    turn_id: TurnId
    is_own: bool
    """True if the person wrote it, False if the assistant did."""
    text: str
    created_at: int
    is_untrusted: bool = False
    """True if its session read words of others, so that an answer may repeat them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A finished tool call. `arguments` is JSON, "" if it was redacted."""

    turn_id: TurnId
    name: str
    arguments: str
    is_error: bool
    outcome: str


def enqueue(
    connection: Connection, *, person_id: PersonId, until: TurnId, payload: str, now: int
) -> None:
    """Queue a review of a person's turns up to `until`, once; again if it failed for good."""
    key = _name(person_id, until)
    tasks.enqueue(connection, kind=KIND, key=key, person_id=person_id, payload=payload, now=now)
    connection.execute(
        "UPDATE tasks SET state = 'owed', attempts = 0, due_at = :now, payload = :payload"
        " WHERE kind = 'review' AND key = :key AND state = 'dead'",
        {"key": key, "payload": payload, "now": now},
    )


def skip(connection: Connection, *, person_id: PersonId, payload: str, now: int) -> None:
    """Mark all turns of a person so far as reviewed."""
    connection.execute(
        "INSERT INTO tasks (kind, key, person_id, payload, state, due_at, created_at)"
        " SELECT 'review', :person_id || ':' || printf('%019d', COALESCE(MAX(id), 0)),"
        " :person_id, :payload, 'done', :now, :now FROM turns WHERE person_id = :person_id"
        " ON CONFLICT (kind, key) DO NOTHING",
        {"person_id": person_id, "payload": payload, "now": now},
    )


def find_newest(connection: Connection, *, person_id: PersonId) -> TurnId:
    """Return the newest turn that a queued or finished review of a person covers; 0 for none.

    A review that failed for good does not count.
    """
    row = connection.execute(
        "SELECT key FROM tasks WHERE kind = 'review' AND key > :first AND key < :last"
        " AND state <> 'dead' ORDER BY key DESC LIMIT 1",
        {"first": f"{person_id}:", "last": f"{person_id};"},
    ).fetchone()
    return TurnId(int(row[0].partition(":")[2])) if row else TurnId(0)


def count_turns(connection: Connection, *, person_id: PersonId, after: TurnId, most: int) -> int:
    """Count a person's answered turns after `after`, up to `most`."""
    row = connection.execute(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM turns{_OWN}"
        " WHERE turns.person_id = :person_id AND turns.id > :after"
        " AND turns.state = 'answered' AND turns.run_id IS NULL LIMIT :most)",
        {"person_id": person_id, "after": after, "most": most},
    ).fetchone()
    return int(row[0])


def find_last_turn(connection: Connection, *, person_id: PersonId, after: TurnId) -> TurnId | None:
    """Return a person's newest answered turn after `after`, if there is one."""
    row = connection.execute(
        f"SELECT turns.id FROM turns{_OWN}"
        " WHERE turns.person_id = :person_id AND turns.id > :after"
        " AND turns.state = 'answered' AND turns.run_id IS NULL"
        " ORDER BY turns.id DESC LIMIT 1",
        {"person_id": person_id, "after": after},
    ).fetchone()
    return TurnId(row[0]) if row else None


def is_silent(connection: Connection, *, person_id: PersonId, after: TurnId, since: int) -> bool:
    """Return whether a person has answered turns after `after`, and none of them after a time."""
    row = connection.execute(
        "SELECT MAX(turns.state = 'answered'), MAX(COALESCE(turns.ended_at, :since))"
        f" FROM turns{_OWN}"
        " WHERE turns.person_id = :person_id AND turns.id > :after AND turns.run_id IS NULL",
        {"person_id": person_id, "after": after, "since": since},
    ).fetchone()
    return bool(row[0]) and row[1] < since


def count_steps(connection: Connection, *, person_id: PersonId, after: TurnId, most: int) -> int:
    """Count the tool calls in a person's turns after `after`, up to `most`."""
    row = connection.execute(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM turns{_OWN}"
        " JOIN steps ON steps.turn_id = turns.id"
        " WHERE turns.person_id = :person_id AND turns.id > :after"
        " AND turns.run_id IS NULL LIMIT :most)",
        {"person_id": person_id, "after": after, "most": most},
    ).fetchone()
    return int(row[0])


def list_said(
    connection: Connection, *, person_id: PersonId, after: TurnId, until: TurnId, limit: int
) -> list[Said]:
    """List the newest private messages of these turns, oldest first.

    Redacted messages, results of tools and requests of jobs are left out.
    """
    rows = connection.execute(
        "SELECT messages.id, messages.turn_id, messages.role = 'user' AS is_own, messages.text,"
        f" messages.created_at, turns.is_untrusted FROM turns{_OWN} JOIN messages"
        " ON messages.turn_id = turns.id AND messages.person_id = :person_id"
        " WHERE turns.person_id = :person_id AND turns.id > :after AND turns.id <= :until"
        " AND turns.run_id IS NULL AND turns.account_id IS NOT NULL"
        " AND messages.role IN ('user', 'assistant') AND messages.text <> ''"
        " AND messages.audience = 'private' AND messages.forgotten_at IS NULL"
        " ORDER BY messages.id DESC LIMIT :limit",
        {"person_id": person_id, "after": after, "until": until, "limit": limit},
    )
    return read_all(Said, rows, is_own=bool, is_untrusted=bool)[::-1]


def list_own_words(
    connection: Connection, *, person_id: PersonId, since: int, limit: int
) -> list[tuple[int, str]]:
    """List the newest private messages that a person wrote since a time, with their times."""
    rows = connection.execute(
        f"SELECT messages.created_at, messages.text FROM turns{_OWN} JOIN messages"
        " ON messages.turn_id = turns.id AND messages.person_id = :person_id"
        " WHERE turns.person_id = :person_id AND turns.run_id IS NULL"
        " AND turns.account_id IS NOT NULL AND messages.role = 'user' AND messages.text <> ''"
        " AND messages.audience = 'private' AND messages.forgotten_at IS NULL"
        " AND messages.created_at >= :since ORDER BY turns.id DESC LIMIT :limit",
        {"person_id": person_id, "since": since, "limit": limit},
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def has_forgotten(
    connection: Connection, *, person_id: PersonId, after: TurnId, until: TurnId
) -> bool:
    """Return whether `/forget` deleted or cleaned a message of these turns."""
    rows = connection.execute(
        f"SELECT forgotten_at, parts FROM turns{_OWN} JOIN messages"
        " ON messages.turn_id = turns.id"
        " WHERE turns.person_id = :person_id AND turns.id > :after AND turns.id <= :until"
        f" AND {MAY_HAVE_FORGOTTEN}",
        {"person_id": person_id, "after": after, "until": until},
    ).fetchall()
    return any(is_cleaned(*row) for row in rows)


def list_failed(
    connection: Connection, *, person_id: PersonId, until: TurnId, limit: int
) -> list[Called]:
    """List the failed tool calls in a person's newest `limit` turns up to one, oldest first.

    A turn that read words of others is left out.
    """
    rows = connection.execute(
        "SELECT steps.turn_id, steps.call_id, steps.name, steps.is_error, steps.outcome"
        f" FROM (SELECT turns.id FROM turns{_OWN}"
        " WHERE turns.person_id = :person_id AND turns.id <= :until"
        " AND turns.run_id IS NULL AND turns.account_id IS NOT NULL AND turns.is_untrusted = 0"
        " ORDER BY turns.id DESC LIMIT :limit) AS recent"
        " JOIN steps ON steps.turn_id = recent.id WHERE steps.is_error = 1"
        " AND steps.outcome IS NOT NULL AND steps.sources = '[]' ORDER BY steps.id",
        {"person_id": person_id, "until": until, "limit": limit},
    ).fetchall()
    return _read_calls(connection, person_id, rows)


def list_called(
    connection: Connection, *, person_id: PersonId, after: TurnId, until: TurnId, limit: int
) -> list[Called]:
    """List the finished tool calls in a person's newest `limit` answered turns, oldest first.

    A turn that read words of others is left out.
    """
    rows = connection.execute(
        "SELECT steps.turn_id, steps.call_id, steps.name, steps.is_error, steps.outcome"
        f" FROM (SELECT turns.id FROM turns{_OWN} WHERE turns.person_id = :person_id"
        " AND turns.id > :after AND turns.id <= :until AND turns.state = 'answered'"
        " AND turns.run_id IS NULL AND turns.account_id IS NOT NULL AND turns.is_untrusted = 0"
        " AND EXISTS (SELECT 1 FROM steps WHERE steps.turn_id = turns.id)"
        " AND NOT EXISTS (SELECT 1 FROM steps WHERE steps.turn_id = turns.id"
        " AND steps.sources <> '[]') ORDER BY turns.id DESC LIMIT :limit) AS recent"
        " JOIN steps ON steps.turn_id = recent.id WHERE steps.outcome IS NOT NULL"
        " ORDER BY steps.id",
        {"person_id": person_id, "after": after, "until": until, "limit": limit},
    ).fetchall()
    return _read_calls(connection, person_id, rows)


def _read_calls(
    connection: Connection,
    person_id: PersonId,
    rows: Sequence[tuple[TurnId, CallId, str, int, str]],
) -> list[Called]:
    turn_ids = {row[0] for row in rows}
    arguments = {one: _list_arguments(connection, person_id, one) for one in turn_ids}
    return [
        Called(
            turn_id=turn_id,
            name=name,
            arguments=arguments[turn_id].get(call_id, ""),
            is_error=bool(is_error),
            outcome=outcome,
        )
        for turn_id, call_id, name, is_error, outcome in rows
    ]


def _list_arguments(connection: Connection, person_id: PersonId, turn_id: TurnId) -> dict[str, str]:
    """Return the arguments of a turn's tool calls, by call; redacted calls are left out."""
    rows = connection.execute(
        "SELECT parts, text FROM messages WHERE turn_id = :turn_id AND person_id = :person_id"
        " AND role = 'assistant' AND forgotten_at IS NULL",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchall()
    calls = [part for parts, text in rows for part in load_parts(parts, text)]
    return {one.call_id: one.arguments for one in calls if isinstance(one, ToolCallPart)}


def list_read_skills(connection: Connection, *, turn_ids: Sequence[TurnId]) -> dict[str, str]:
    """Return the texts of the skills that these turns used, by name; the newest of each."""
    rows = connection.execute(
        "SELECT skills.name, skill_uses.text_row FROM json_each(:turn_ids) AS given"
        " JOIN skill_uses ON skill_uses.turn_id = given.value"
        " JOIN skills ON skills.id = skill_uses.skill_id ORDER BY skill_uses.turn_id",
        {"turn_ids": json.dumps(turn_ids)},
    ).fetchall()
    return _load_texts(connection, rows)


def list_skill_texts(connection: Connection, *, first: TurnId, second: TurnId) -> dict[str, str]:
    """Return the texts of the skills that both turns used, by name; the newer of each."""
    rows = connection.execute(
        "SELECT skills.name, skill_uses.text_row FROM skill_uses"
        " JOIN skills ON skills.id = skill_uses.skill_id"
        " WHERE skill_uses.turn_id = :second AND EXISTS (SELECT 1 FROM skill_uses AS earlier"
        " WHERE earlier.turn_id = :first AND earlier.skill_id = skill_uses.skill_id)",
        {"first": first, "second": second},
    ).fetchall()
    return _load_texts(connection, rows)


def _load_texts(connection: Connection, rows: Iterable[tuple[str, int | None]]) -> dict[str, str]:
    """Return the texts that these ledger rows gave to skills, by name."""
    found = {name: row and ledger.find_row(connection, entry_id=row) for name, row in rows}
    return {name: row[1].change.after or "" for name, row in found.items() if row}


def exists(connection: Connection, *, person_id: PersonId, until: TurnId) -> bool:
    """Return whether a review still exists; forgetting its words, or its person, deletes it."""
    row = connection.execute(
        "SELECT 1 FROM tasks WHERE kind = 'review' AND key = :key",
        {"key": _name(person_id, until)},
    ).fetchone()
    return row is not None


def _name(person_id: PersonId, until: TurnId) -> str:
    return f"{person_id}:{until:0{_DIGITS}}"
