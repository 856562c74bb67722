"""Queries over the uses of skills, one per skill and turn, and over their outcomes."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import ConversationId, PersonId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, skill_changes, skills
from agent_core.state.memory.ledger import Origin

Outcome = Literal["done", "corrected", "retried", "stopped", "failed", "liked", "disliked", "void"]
"""The outcome of a use.

`void` and `stopped` say nothing about the skill: no model answered, the turn reached a limit, or
the person wanted something else. `failed` is a use whose script failed.
"""

_BEFORE_REACTIONS = "COALESCE(spoken, outcome)"
"""The outcome by the end of the turn and by later words, without reactions."""
_MOST_ANSWERS = 500
"""The newest turns of a person that are searched for the message that a reaction is on."""
_LIKEABLE = (
    f"{_BEFORE_REACTIONS} <> 'failed' AND EXISTS (SELECT 1 FROM turns"
    " WHERE turns.id = skill_uses.turn_id AND turns.state = 'answered')"
)
"""The condition of a use that a thumb may judge: the turn was answered, and no script failed."""
_GOOD = "('done', 'liked')"
_BAD = "('corrected', 'retried', 'failed', 'disliked')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The numbers of a skill's good and bad uses; void and unfinished uses are in neither."""

    successes: int = 0
    failures: int = 0


NO_USES = Tally()


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The numbers of a skill's uses in a period; `others` are void or unfinished uses."""

    successes: int = 0
    failures: int = 0
    others: int = 0


def note(connection: Connection, *, name: str, turn_id: TurnId, now: int) -> None:
    """Record the use of a skill in a turn, once; the skill may be new.

    A program may use a skill outside of a turn; such a use is only counted.
    """
    skills.note_seen(connection, name=name, now=now)
    row = skills.find(connection, name=name)
    assert row is not None  # noqa: S101 - it was noted just now
    if row.state == "stale":
        skill_changes.set_state(
            connection,
            name=name,
            state="active",
            why="it is used again",
            origin=Origin(actor=f"turn:{turn_id}", now=now),
        )
    team = blocks.find_team(connection)
    text_row = team and skill_changes.find_version_row(connection, person_id=team, skill_id=row.id)
    made = connection.execute(
        "INSERT INTO skill_uses (skill_id, turn_id, text_row, created_at)"
        " SELECT :skill_id, id, :text_row, :now FROM turns WHERE id = :turn_id"
        " ON CONFLICT (turn_id, skill_id) DO NOTHING",
        {"skill_id": row.id, "turn_id": turn_id, "text_row": text_row, "now": now},
    )
    is_counted = not made.rowcount and is_used(connection, skill_id=row.id, turn_id=turn_id)
    if not is_counted:
        skills.note_use(connection, name=name, now=now)


def is_used(connection: Connection, *, skill_id: int, turn_id: TurnId) -> bool:
    """Return whether a turn has used a skill."""
    row = connection.execute(
        "SELECT 1 FROM skill_uses WHERE turn_id = :turn_id AND skill_id = :skill_id",
        {"turn_id": turn_id, "skill_id": skill_id},
    ).fetchone()
    return row is not None


def list_names(connection: Connection, *, turn_id: TurnId) -> list[str]:
    """List the names of the skills that a turn has used."""
    rows = connection.execute(
        "SELECT skills.name FROM skill_uses JOIN skills ON skills.id = skill_uses.skill_id"
        " WHERE skill_uses.turn_id = :turn_id ORDER BY skill_uses.id",
        {"turn_id": turn_id},
    ).fetchall()
    return [row[0] for row in rows]


def list_failed_turns(
    connection: Connection, *, person_id: PersonId, until: TurnId, limit: int
) -> dict[TurnId, dict[str, int | None]]:
    """List a person's newest turns with failed uses up to one, oldest first.

    Each has the names of the failed skills with the ledger rows of their texts. Turns of jobs and
    of conversations that others share are left out.
    """
    rows = connection.execute(
        "SELECT skill_uses.turn_id, skills.name, skill_uses.text_row FROM skill_uses"
        " JOIN skills ON skills.id = skill_uses.skill_id"
        " JOIN turns ON turns.id = skill_uses.turn_id AND turns.person_id = :person_id"
        " AND turns.run_id IS NULL AND turns.account_id IS NOT NULL"
        " JOIN conversations ON conversations.id = turns.conversation_id"
        " AND conversations.person_id = :person_id AND conversations.kind = 'direct'"
        " WHERE skill_uses.outcome = 'failed' AND skill_uses.turn_id <= :until"
        " ORDER BY skill_uses.id DESC LIMIT :limit",
        {"person_id": person_id, "until": until, "limit": limit},
    ).fetchall()
    found: dict[TurnId, dict[str, int | None]] = {}
    for turn_id, name, text_row in reversed(rows):
        found.setdefault(TurnId(turn_id), {})[name] = text_row
    return found


def end(
    connection: Connection,
    *,
    turn_id: TurnId,
    outcome: Outcome,
    now: int,
    failed: Collection[str] = (),
) -> int | None:
    """Set the outcome of a turn's uses, in the transaction that ends the turn.

    The skills that `failed` names have failed, whatever the turn's own outcome is. Returns when the
    first use began, in milliseconds; None if there was none.
    """
    rows = connection.execute(
        "UPDATE skill_uses SET outcome = CASE WHEN skill_id IN (SELECT id FROM skills"
        " WHERE name IN (SELECT value FROM json_each(:failed))) THEN 'failed' ELSE :outcome END,"
        " decided_at = :now WHERE turn_id = :turn_id AND outcome IS NULL RETURNING created_at",
        {"turn_id": turn_id, "outcome": outcome, "failed": json.dumps([*failed]), "now": now},
    ).fetchall()
    return min((row[0] for row in rows), default=None)


def revise(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId, outcome: Outcome, now: int
) -> int:
    """Change the outcome of a finished turn's uses after feedback of its person; return how many.

    A thumb counts more than a correction, and a standing reaction more than words. The outcome of a
    turn that was not answered, or of a failed script, does not change.
    """
    changeable = _LIKEABLE if outcome in ("liked", "disliked") else f"{_BEFORE_REACTIONS} = 'done'"
    return connection.execute(
        "UPDATE skill_uses SET outcome = CASE WHEN spoken IS NULL THEN :outcome ELSE outcome END,"
        " spoken = CASE WHEN spoken IS NULL THEN NULL ELSE :outcome END, decided_at = :now"
        f" WHERE turn_id = :turn_id AND {changeable}"
        f" AND {_BEFORE_REACTIONS} <> :outcome AND EXISTS (SELECT 1"
        " FROM turns WHERE turns.id = :turn_id AND turns.person_id = :person_id)",
        {"turn_id": turn_id, "person_id": person_id, "outcome": outcome, "now": now},
    ).rowcount


def find_answered(
    connection: Connection,
    *,
    person_id: PersonId,
    platform: str,
    chats: tuple[str, str],
    message_id: str,
) -> TurnId | None:
    """Return the recent turn of the person that used a skill and that sent this message.

    `chats` is the range of names of the message's chat and its threads.
    """
    row = connection.execute(
        "SELECT recent.id FROM (SELECT id FROM turns WHERE person_id = :person_id"
        " ORDER BY id DESC LIMIT :most) AS recent JOIN outbox ON outbox.turn_id = recent.id"
        " WHERE outbox.message_id = :message_id AND outbox.platform = :platform"
        " AND outbox.chat >= :first AND outbox.chat < :last AND outbox.kind = 'message'"
        " AND outbox.question_id IS NULL"
        " AND EXISTS (SELECT 1 FROM skill_uses WHERE skill_uses.turn_id = recent.id) LIMIT 1",
        {
            "person_id": person_id,
            "most": _MOST_ANSWERS,
            "message_id": message_id,
            "platform": platform,
            "first": chats[0],
            "last": chats[1],
        },
    ).fetchone()
    return TurnId(row[0]) if row else None


def list_judgeable(
    connection: Connection, *, person_id: PersonId, turn_ids: Collection[TurnId]
) -> set[TurnId]:
    """List which of these turns a thumb of the person may judge: a skill of theirs did its work."""
    rows = connection.execute(
        "SELECT skill_uses.turn_id FROM skill_uses JOIN turns ON turns.id = skill_uses.turn_id"
        " AND turns.person_id = :person_id"
        f" WHERE skill_uses.turn_id IN (SELECT value FROM json_each(:turn_ids)) AND {_LIKEABLE}",
        {"person_id": person_id, "turn_ids": json.dumps([*turn_ids])},
    ).fetchall()
    return {TurnId(row[0]) for row in rows}


def list_reactions(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId
) -> list[tuple[str, str]]:
    """List the person's present reactions to a turn's messages: (message, sign), oldest first."""
    row = connection.execute(
        "SELECT reactions FROM skill_uses JOIN turns ON turns.id = skill_uses.turn_id"
        " AND turns.person_id = :person_id WHERE skill_uses.turn_id = :turn_id"
        " ORDER BY reactions DESC LIMIT 1",
        {"turn_id": turn_id, "person_id": person_id},
    ).fetchone()
    return [(message, sign) for message, sign in json.loads(row[0])] if row and row[0] else []


def set_reactions(
    connection: Connection,
    *,
    turn_id: TurnId,
    reactions: Sequence[tuple[str, str]],
    verdict: Outcome | None,
    now: int,
) -> None:
    """Replace the present reactions to a turn and their verdict.

    They count once the turn has ended with an answer. If the verdict is None, the outcome from
    before the reactions returns.
    """
    connection.execute(
        "UPDATE skill_uses SET reactions = :reactions, decided_at = :now,"
        f" outcome = CASE WHEN :verdict IS NOT NULL AND {_LIKEABLE}"
        f" THEN :verdict ELSE {_BEFORE_REACTIONS} END,"
        f" spoken = CASE WHEN :verdict IS NULL THEN NULL ELSE {_BEFORE_REACTIONS} END"
        " WHERE turn_id = :turn_id",
        {
            "turn_id": turn_id,
            "reactions": json.dumps(reactions, ensure_ascii=False) if reactions else "",
            "verdict": verdict,
            "now": now,
        },
    )


def find_before(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId, turn_id: TurnId
) -> TurnId | None:
    """Return the person's previous turn in a conversation, if it used a skill."""
    row = connection.execute(
        "SELECT turn_id FROM skill_uses WHERE turn_id = (SELECT id FROM turns"
        " WHERE conversation_id = :conversation_id AND person_id = :person_id AND id < :turn_id"
        " ORDER BY id DESC LIMIT 1) LIMIT 1",
        {"conversation_id": conversation_id, "person_id": person_id, "turn_id": turn_id},
    ).fetchone()
    return TurnId(row[0]) if row else None


def count(connection: Connection) -> dict[int, Tally]:
    """Count the good and bad uses of every skill, by its id."""
    rows = connection.execute(
        f"SELECT skill_id, COUNT(*) FILTER (WHERE outcome IN {_GOOD}),"
        f" COUNT(*) FILTER (WHERE outcome IN {_BAD}) FROM skill_uses GROUP BY skill_id"
    ).fetchall()
    return {row[0]: Tally(successes=row[1], failures=row[2]) for row in rows}


def count_by_period(
    connection: Connection, *, skill_id: int, since: int, period: int
) -> dict[int, Period]:
    """Count the uses of a skill in each period since a moment, by the period's number from 0.

    `period` is the length of a period in milliseconds.
    """
    rows = connection.execute(
        f"SELECT (created_at - :since) / :period, COUNT(*) FILTER (WHERE outcome IN {_GOOD}),"
        f" COUNT(*) FILTER (WHERE outcome IN {_BAD}), COUNT(*) FROM skill_uses"
        " WHERE skill_id = :skill_id AND created_at >= :since GROUP BY 1",
        {"skill_id": skill_id, "since": since, "period": period},
    ).fetchall()
    return {
        row[0]: Period(successes=row[1], failures=row[2], others=row[3] - row[1] - row[2])
        for row in rows
    }


def list_judged(
    connection: Connection, *, skill_id: int, text_row: int, since: int, limit: int = 500
) -> list[bool]:
    """List whether the newest uses of a skill's text since a moment went well, oldest first."""
    rows = connection.execute(
        f"SELECT outcome IN {_GOOD} FROM skill_uses WHERE skill_id = :skill_id"
        f" AND text_row = :text_row AND created_at > :since AND (outcome IN {_GOOD}"
        f" OR outcome IN {_BAD}) ORDER BY id DESC LIMIT :limit",
        {"skill_id": skill_id, "text_row": text_row, "since": since, "limit": limit},
    ).fetchall()
    return [bool(row[0]) for row in reversed(rows)]


def list_good_turns(
    connection: Connection, *, skill_id: int, person_id: PersonId, limit: int = 20
) -> list[TurnId]:
    """List the newest turns of a person's own words that used a skill well, newest first."""
    rows = connection.execute(
        "SELECT skill_uses.turn_id FROM skill_uses JOIN turns ON turns.id = skill_uses.turn_id"
        f" AND turns.person_id = :person_id WHERE skill_uses.skill_id = :skill_id"
        " AND turns.run_id IS NULL AND turns.account_id IS NOT NULL"
        f" AND skill_uses.outcome IN {_GOOD} ORDER BY skill_uses.id DESC LIMIT :limit",
        {"skill_id": skill_id, "person_id": person_id, "limit": limit},
    ).fetchall()
    return [TurnId(row[0]) for row in rows]
