"""A person's own accounts: how and when each was linked, and how to unlink one."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.responses import Response

from agent_core.localization import format_date
from agent_core.state.engine.database import Connection
from agent_core.state.people import account_links, people
from agent_core.state.people.people import Account
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.clock import local_time
from gateway.interfaces.pages.rendering import render
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.people.identity import Identity
from gateway.people.merging import UnlinkRequest
from gateway.texts import people as texts

Joined = Mapping[tuple[str, str], int]
"""When accounts were linked, by platform and user id."""


def describe_account(account: Account, joined: Joined, identity: Identity, zone: str) -> str:
    """Describe how and when the person got an account."""
    since = format_date(local_time(account.created_at, zone))
    how = account.admitted_by if identity.is_admitted(account) else "link"
    linked_at = joined.get((account.platform, account.user_id))
    linked = format_date(local_time(linked_at, zone)) if linked_at else ""
    return texts.describe_admission(how, since, is_linked=bool(account.came_from), linked=linked)


async def show_own(look: Look) -> Fields:
    """Read the accounts of the person."""

    def work(connection: Connection) -> tuple[list[Account], Joined]:
        accounts = people.list_accounts(connection, person_id=look.person.id)
        return accounts, account_links.list_joined(connection, person_id=look.person.id)

    accounts, joined = await look.gateway.database.read(work)
    identity, zone = look.gateway.identity, look.viewer.zone
    return {
        "p": texts,
        "accounts": [(one, describe_account(one, joined, identity, zone)) for one in accounts],
    }


async def ask_unlink(look: Look) -> Fields:
    """Read the account that the person wants to unlink. Raises `Missing`."""
    return {"p": texts, "account": await look.gateway.database.read(partial(_find, look=look))}


async def unlink(look: Look) -> Response:
    """Unlink an account, with everything that began there. Raises `Missing`."""
    gateway = look.gateway

    def work(connection: Connection) -> tuple[str, list[OutboxRow]]:
        account = _find(connection, look)
        leaving = UnlinkRequest(account=account, is_admitted=gateway.identity.is_admitted(account))
        return gateway.merging.unlink(connection, look.person, leaving, gateway.now())

    words, rows = await gateway.database.write("pages.unlink", work)
    gateway.dispatcher.enqueue(rows)
    gateway.forget_known()
    gateway.wake_jobs()
    shown: dict[str, Any] = {"note": lambda: words}
    return render(look.request, look.viewer, "note.html", **shown)


def _find(connection: Connection, look: Look) -> Account:
    number = look.request.path_params["account"]
    for account in people.list_accounts(connection, person_id=look.person.id):
        if account.id == number:
            return account
    raise Missing
