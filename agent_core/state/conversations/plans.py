"""Queries over plans: the short list of steps that the model keeps for a session."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agent_core.ids import PersonId, SessionId, TurnId
from agent_core.state.engine.database import Connection

PlanState = Literal["pending", "active", "done"]
_OF_TURN = (
    "id = (SELECT session_id FROM turns WHERE id = :turn_id)"
    " AND conversation_id IN (SELECT id FROM conversations WHERE person_id = :owner_id)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """A step of a plan. Its number is its place in the list, from 1."""

    text: str
    state: PlanState = "pending"


Plan = tuple[PlanItem, ...]


def read_plan(stored: str) -> Plan:
    """Decode the column of a plan; a damaged one counts as none."""
    try:
        items = json.loads(stored) if stored else []
        return tuple(PlanItem(text=str(text), state=_read_state(state)) for state, text in items)
    except (ValueError, TypeError):
        return ()


def _read_state(state: object) -> PlanState:
    found: PlanState
    for found in get_args(PlanState):
        if found == state:
            return found
    raise ValueError("unknown state of a step")


def find(connection: Connection, *, session_id: SessionId, owner_id: PersonId) -> Plan:
    """Return the plan of a session; `owner_id` owns its conversation."""
    row = connection.execute(
        "SELECT plan FROM sessions WHERE id = :session_id"
        " AND conversation_id IN (SELECT id FROM conversations WHERE person_id = :owner_id)",
        {"session_id": session_id, "owner_id": owner_id},
    ).fetchone()
    return read_plan(row[0]) if row else ()


def find_of_turn(connection: Connection, *, turn_id: TurnId, owner_id: PersonId) -> Plan:
    """Return the plan of a turn's session; `owner_id` owns its conversation."""
    row = connection.execute(
        f"SELECT plan FROM sessions WHERE {_OF_TURN}", {"turn_id": turn_id, "owner_id": owner_id}
    ).fetchone()
    return read_plan(row[0]) if row else ()


def save(
    connection: Connection, *, turn_id: TurnId, owner_id: PersonId, plan: Sequence[PlanItem]
) -> None:
    """Replace the plan of a turn's session; `owner_id` owns its conversation."""
    stored = json.dumps([(item.state, item.text) for item in plan], ensure_ascii=False)
    connection.execute(
        f"UPDATE sessions SET plan = :plan WHERE {_OF_TURN}",
        {"plan": stored if plan else "", "turn_id": turn_id, "owner_id": owner_id},
    )


def show_plan(plan: Sequence[PlanItem]) -> str:
    """Write a plan as lines of text, as the model sees it."""
    return "\n".join(
        f"{number}. [{item.state}] {item.text}" for number, item in enumerate(plan, start=1)
    )


def find_current(plan: Sequence[PlanItem]) -> tuple[int, int, str]:
    """Return the number of the current step, the number of steps, and the text of the current one.

    The current step is the first active one, or else the first pending one. If none is left, the
    text is "".
    """
    for state in ("active", "pending"):
        for number, item in enumerate(plan, start=1):
            if item.state == state:
                return number, len(plan), item.text
    return len(plan), len(plan), ""
