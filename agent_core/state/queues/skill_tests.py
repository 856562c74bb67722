"""Queries over tests of skills: tasks whose key names the skill, its text and the test's cause."""

import json

from agent_core.ids import PersonId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.queues import tasks

KIND = "skill_test"
"""The kind of the tasks."""
CHECK = "skill_check"
"""The kind of tasks that check the outcomes of a skill's uses; the payload is the skill's name."""


def enqueue(
    connection: Connection,
    *,
    skill: tuple[int, str, int],
    person_id: PersonId,
    cause: str,
    now: int,
    is_asked: bool = False,
) -> None:
    """Queue the test of a text, once per cause; `skill` is (id, name, ledger row of the text).

    The person's turns are the test's cases, and the person pays for it.
    """
    skill_id, name, text_row = skill
    payload = {
        "name": name,
        "text_row": text_row,
        "is_asked": is_asked,
        "cases": None,
        "runs": [],
        "result": "",
        "reason": "",
    }
    tasks.enqueue(
        connection,
        kind=KIND,
        key=f"{skill_id}:{text_row}:{cause}",
        person_id=person_id,
        payload=json.dumps(payload),
        now=now,
    )


def enqueue_checks(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId, now: int
) -> None:
    """Queue a check of the skills that a turn used, if its outcome may change their state."""
    rows = connection.execute(
        "SELECT skills.id, skills.name, skill_uses.text_row, skill_uses.outcome FROM skill_uses"
        " JOIN skills ON skills.id = skill_uses.skill_id WHERE skill_uses.turn_id = :turn_id"
        " AND skill_uses.text_row IS NOT NULL AND (skills.state = 'trial' OR"
        " skill_uses.outcome NOT IN ('done', 'liked', 'stopped', 'void'))",
        {"turn_id": turn_id},
    ).fetchall()
    for skill_id, name, text_row, outcome in rows:
        tasks.enqueue(
            connection,
            kind=CHECK,
            key=f"{skill_id}:{text_row}:{turn_id}:{outcome}",
            person_id=person_id,
            payload=name,
            now=now,
        )


def enqueue_for_turn(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId, now: int
) -> None:
    """Queue tests of the drafts that a turn used: the turn may be the case that was missing."""
    rows = connection.execute(
        "SELECT skills.id, skills.name, skill_uses.text_row FROM skill_uses JOIN skills"
        " ON skills.id = skill_uses.skill_id WHERE skill_uses.turn_id = :turn_id"
        " AND skills.state = 'draft' AND skill_uses.text_row IS NOT NULL",
        {"turn_id": turn_id},
    ).fetchall()
    for row in rows:
        enqueue(connection, skill=row, person_id=person_id, cause=str(turn_id), now=now)


def list_of_text(connection: Connection, *, skill_id: int, text_row: int) -> list[str]:
    """List the payloads of all tests of one text, newest first; those that failed are left out."""
    rows = connection.execute(
        "SELECT payload FROM tasks WHERE kind = 'skill_test' AND key > :first AND key < :last"
        " AND state <> 'dead' ORDER BY id DESC",
        {"first": f"{skill_id}:{text_row}:", "last": f"{skill_id}:{text_row};"},
    ).fetchall()
    return [row[0] for row in rows]


def find(
    connection: Connection, *, skill_id: int, text_row: int, cause: str
) -> tuple[str, str, str] | None:
    """Return the state of a test, the reason of a failure, and its payload."""
    row = connection.execute(
        "SELECT state, reason, payload FROM tasks WHERE kind = 'skill_test' AND key = :key",
        {"key": f"{skill_id}:{text_row}:{cause}"},
    ).fetchone()
    return (row[0], row[1], row[2]) if row else None
