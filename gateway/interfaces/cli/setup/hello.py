"""Waits for the owner's first message on a chat platform."""

import asyncio

from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from gateway.app.gateway import Gateway
from gateway.people.admission import UNATTENDED

_POLL = 0.5
"""Seconds between two checks for the owner's account."""


async def wait_for_hello(gateway: Gateway) -> None:
    """Wait until an owner has an account on a chat platform, and say so."""
    while not (  # noqa: ASYNC110 - the account may be made by another process, too
        found := await gateway.database.read(_find_account)
    ):
        await asyncio.sleep(_POLL)
    name, platform = found
    print(
        f"\nHello, {name}! {platform.capitalize()} is connected. Send your bot a message.\n"
        "Talaria runs until you press Ctrl-C here. `talaria service install` keeps it running.",
        flush=True,
    )


def _find_account(connection: Connection) -> tuple[str, str] | None:
    owners = [person for person in people.list_all(connection) if person.role == "owner"]
    for owner in owners:
        for account in people.list_accounts(connection, person_id=owner.id):
            if account.platform not in UNATTENDED:
                return owner.name, account.platform
    return None
