"""Queries over the messages that memory entries rest on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_core.ids import AccountId, MessageId, PersonId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.memory.ledger import Origin
from agent_core.transcript import Part, load_parts

_TURN = "turn:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A message that an entry rests on. `created_at` is milliseconds since the epoch."""

    id: MessageId
    turn_id: TurnId
    platform: str
    text: str
    parts: tuple[Part, ...]
    created_at: int


def add_turn_evidence(connection: Connection, origin: Origin) -> Origin:
    """Add the people's messages of the turn that makes a change."""
    if not origin.actor.startswith(_TURN):
        return origin
    turn_id = TurnId(int(origin.actor.removeprefix(_TURN)))
    return replace(origin, message_ids=list_said(connection, turn_id=turn_id))


def list_said(connection: Connection, *, turn_id: TurnId) -> tuple[MessageId, ...]:
    """List the messages of people in a turn so far, oldest first."""
    rows = connection.execute(
        "SELECT messages.id FROM turns"
        " JOIN conversations ON conversations.id = turns.conversation_id"
        " JOIN messages ON messages.turn_id = turns.id"
        " AND messages.person_id = conversations.person_id"
        " WHERE turns.id = :turn_id AND messages.role = 'user' ORDER BY messages.id",
        {"turn_id": turn_id},
    ).fetchall()
    return tuple(MessageId(row[0]) for row in rows)


def list_accounts(
    connection: Connection, *, message_ids: Sequence[MessageId]
) -> set[AccountId | None]:
    """Return the accounts whose turns these messages belong to, even after a merge or a split."""
    rows = connection.execute(
        "SELECT turns.account_id FROM messages JOIN turns ON turns.id = messages.turn_id"
        " WHERE messages.id IN (SELECT value FROM json_each(:ids))",
        {"ids": json.dumps(message_ids)},
    ).fetchall()
    return {None if row[0] is None else AccountId(row[0]) for row in rows}


def list_evidence(
    connection: Connection,
    *,
    message_ids: Sequence[MessageId],
    person_id: PersonId,
    audience: str | None,
) -> list[Evidence]:
    """List those of the messages that a person sent or received, or that an audience has seen.

    Other people's messages and redacted ones are left out.
    """
    found = []
    for message_id in message_ids:
        row = connection.execute(
            "SELECT id, turn_id, platform, text, parts, created_at FROM messages"
            " WHERE id = :message_id AND (person_id = :person_id OR audience = :audience)"
            " AND forgotten_at IS NULL",
            {"message_id": message_id, "person_id": person_id, "audience": audience},
        ).fetchone()
        if row:
            found.append(
                Evidence(
                    id=MessageId(row[0]),
                    turn_id=TurnId(row[1]),
                    platform=row[2],
                    text=row[3],
                    parts=load_parts(row[4], row[3]),
                    created_at=row[5],
                )
            )
    return found
