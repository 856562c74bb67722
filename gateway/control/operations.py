"""What can be asked of a house from the command line; each operation stands here once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_core.state import outbox, people
from agent_core.state.database import Connection
from agent_core.state.outbox import Debt, OutboxRow
from gateway import identity, wording
from gateway.control.contract import Answer, Desk, Operation, read_text
from gateway.control.turn_operations import TURN_OPERATIONS
from gateway.errors import Declined


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
    code, now = read_text(asked, "code"), desk.now()

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


async def back_up(desk: Desk, asked: Answer) -> Answer:
    """Copy the database to a new file, of which the absolute path is given.

    Raises `Declined`, and `StoreError` if the copy can't be made.
    """
    target = Path(read_text(asked, "target"))
    if not target.is_absolute():
        raise Declined(f"{target} is not a whole path.")
    await desk.database.back_up(target)
    return {"target": str(target)}


OPERATIONS: Mapping[str, Operation] = {
    "people.list": list_people,
    "people.claim": make_claim_code,
    "people.approve": approve,
    "backup": back_up,
    **TURN_OPERATIONS,
}
"""By the names under which the control socket knows them."""
