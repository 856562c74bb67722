"""Operations on turns: what ran, what could not be delivered, and what models were sent."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from agent_core.ids import TurnId
from agent_core.state import dead_letters, messages, people, turns, usage
from agent_core.state.database import Connection
from agent_core.state.turns import Turn
from gateway.control.contract import Answer, Desk, Operation, read_limit
from gateway.errors import Declined


async def list_turns(desk: Desk, asked: Answer) -> Answer:
    """The newest turns of everybody, newest first."""
    limit = read_limit(asked)

    def look(connection: Connection) -> list[dict[str, Any]]:
        names = {person.id: person.name for person in people.list_all(connection)}
        return [
            _outline(turn, names[turn.person_id])
            for turn in turns.list_recent(connection, limit=limit)
        ]

    return {"turns": await desk.database.read(look)}


async def show_turn(desk: Desk, asked: Answer) -> Answer:
    """One turn: its steps, what it cost and what was said to begin it. Raises `Declined`."""
    number = asked.get("id")
    if not isinstance(number, int):
        raise Declined("Name a turn by its number.")

    def look(connection: Connection) -> dict[str, Any] | None:
        turn = turns.find(connection, turn_id=TurnId(number))
        person = people.find(connection, person_id=turn.person_id) if turn else None
        if turn is None or person is None:
            return None
        return _outline(turn, person.name) | {
            "attempts": turn.attempts,
            "said": messages.words_of_turn(connection, turn_id=turn.id, person_id=person.id),
            "steps": [
                {"name": step.name, "outcome": step.outcome, "is_error": step.is_error}
                for step in turns.list_steps(connection, turn_id=turn.id)
            ],
            "cost": asdict(usage.total_of_turn(connection, turn_id=turn.id)),
        }

    found = await desk.database.read(look)
    if found is None:
        raise Declined(f"There is no turn {number}.")
    return found


async def list_undelivered(desk: Desk, asked: Answer) -> Answer:
    """Messages that were set aside because they can't be delivered, newest first."""
    limit = read_limit(asked)
    rows = await desk.database.read(
        lambda connection: dead_letters.list_dead(connection, limit=limit)
    )
    return {
        "undelivered": [
            {
                "id": row.id,
                "turn": row.turn_id,
                "platform": row.platform,
                "chat": row.chat,
                "reason": row.reason,
                "text": row.body,
            }
            for row in rows
        ]
    }


TURN_OPERATIONS: Mapping[str, Operation] = {
    "turns.list": list_turns,
    "turns.show": show_turn,
    "turns.undelivered": list_undelivered,
}


def _outline(turn: Turn, name: str) -> dict[str, Any]:
    return {
        "id": turn.id,
        "person": name,
        "platform": turn.platform,
        "state": turn.state,
        "reason": turn.reason,
        "started_at": turn.started_at,
        "ended_at": turn.ended_at,
    }
