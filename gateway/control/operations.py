"""What can be asked of a house from the command line; each operation stands here once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent_core.ids import TurnId
from agent_core.state import dead_letters, messages, outbox, people, turns, usage
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.turns import Turn
from gateway import identity, wording
from gateway.errors import Declined

Answer = Mapping[str, Any]
"""What JSON can hold."""

_MOST_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What operations work on: a running house, or a database opened beside it."""

    database: Database
    now: Callable[[], int]
    owe: Callable[[Sequence[OutboxRow]], None]
    """Deliver what was written into the outbox, if there is anybody who can."""
    forget_people: Callable[[], None]
    """People have changed; whoever keeps them in mind has to read them afresh."""


async def list_people(desk: Desk, _: Answer) -> Answer:
    """Everybody who may talk, with their accounts."""

    def look(connection: Connection) -> list[dict[str, Any]]:
        return [
            {
                "name": person.name,
                "role": person.role,
                "folder": person.slug,
                "accounts": [
                    f"{account.platform}:{account.user_id}"
                    for account in people.list_accounts(connection, person_id=person.id)
                ],
            }
            for person in people.list_all(connection)
        ]

    return {"people": await desk.database.read(look)}


async def make_claim_code(desk: Desk, _: Answer) -> Answer:
    """A new code to claim the bot with; the ones before it are no longer good."""
    now = desk.now()
    code = await desk.database.write(
        "people.code", lambda connection: identity.new_claim_code(connection, now=now)
    )
    return {"code": code}


async def approve(desk: Desk, asked: Answer) -> Answer:
    """Let in whoever was shown this pairing code, and welcome them. Raises `Declined`."""
    code, now = _text(asked, "code"), desk.now()

    def work(connection: Connection) -> tuple[str, OutboxRow] | None:
        approved = identity.approve(connection, code, now)
        if approved is None:
            return None
        debt = Debt(platform=approved.platform, chat=approved.chat, body=wording.WELCOME)
        return approved.name, outbox.owe(connection, debt, now=now)

    done = await desk.database.write("people.approve", work)
    if done is None:
        raise Declined(wording.CODE_UNKNOWN)
    name, welcome = done
    desk.forget_people()
    desk.owe([welcome])
    return {"name": name}


async def list_turns(desk: Desk, asked: Answer) -> Answer:
    """The newest turns of everybody, newest first."""
    limit = _limit(asked)

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
    limit = _limit(asked)
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


async def back_up(desk: Desk, asked: Answer) -> Answer:
    """Copy the database to a new file, of which the absolute path is given.

    Raises `Declined`, and `StoreError` if the copy can't be made.
    """
    target = Path(_text(asked, "target"))
    if not target.is_absolute():
        raise Declined(f"{target} is not a whole path.")
    await desk.database.back_up(target)
    return {"target": str(target)}


Operation = Callable[[Desk, Answer], Awaitable[Answer]]

OPERATIONS: Mapping[str, Operation] = {
    "people.list": list_people,
    "people.claim": make_claim_code,
    "people.approve": approve,
    "turns.list": list_turns,
    "turns.show": show_turn,
    "turns.undelivered": list_undelivered,
    "backup": back_up,
}
"""By the names under which the control socket knows them."""


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


def _text(asked: Answer, key: str) -> str:
    value = asked.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Declined(f"The {key} is missing.")
    return value


def _limit(asked: Answer) -> int:
    limit = asked.get("limit")
    if not isinstance(limit, int) or not 1 <= limit <= _MOST_LISTED:
        raise Declined(f"The limit has to be a number from 1 to {_MOST_LISTED}.")
    return limit
