"""A person's own accounts: how and when each was linked, and how to unlink one."""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus

from starlette.responses import Response

from agent_core.state.engine.database import Connection
from agent_core.state.people import account_links, people
from agent_core.state.people.people import Account
from agent_core.tools.clock import ReaderClock
from gateway.interfaces.pages.rendering import render_note
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.outbound.questions import AnswerOutcome
from gateway.people.identity import Identity
from gateway.people.merging import UnlinkRequest
from gateway.texts import people as texts

Joined = Mapping[tuple[str, str], int]
"""When accounts were linked, by platform and user id."""


def describe_account(
    account: Account, joined: Joined, identity: Identity, clock: ReaderClock
) -> str:
    """Describe how and when the person got an account."""
    since = clock.show_day(account.created_at)
    how = account.admitted_by if identity.is_admitted(account) else "link"
    linked_at = joined.get((account.platform, account.user_id))
    linked = clock.show_day(linked_at) if linked_at else ""
    return texts.describe_admission(how, since, is_linked=bool(account.came_from), linked=linked)


async def show_own(look: Look) -> Fields:
    """Read the accounts of the person."""

    def work(connection: Connection) -> tuple[list[Account], Joined]:
        accounts = people.list_accounts(connection, person_id=look.person.id)
        return accounts, account_links.list_joined(connection, person_id=look.person.id)

    accounts, joined = await look.gateway.database.read(work)
    identity, clock = look.gateway.identity, look.viewer.clock
    return {
        "p": texts,
        "accounts": [(one, describe_account(one, joined, identity, clock)) for one in accounts],
    }


async def ask_unlink(look: Look) -> Fields:
    """Read the account that the person wants to unlink. Raises `Missing`."""
    return {"p": texts, "account": await look.gateway.database.read(partial(_find, look=look))}


async def unlink(look: Look) -> Response:
    """Unlink an account, with everything that began there. Raises `Missing`."""
    gateway = look.gateway

    def work(connection: Connection) -> AnswerOutcome:
        account = _find(connection, look)
        leaving = UnlinkRequest(account=account, is_admitted=gateway.identity.is_admitted(account))
        return gateway.merging.unlink(connection, look.person, leaving, gateway.now())

    done = await gateway.database.write("pages.unlink", work)
    gateway.dispatcher.enqueue(done.rows)
    gateway.forget_known()
    gateway.wake_jobs()
    # The person's logins have ended with the account: a redirect would lead nowhere.
    return render_note(look.request, lambda: done.words, HTTPStatus.OK)


def _find(connection: Connection, look: Look) -> Account:
    number = look.request.path_params["account"]
    for account in people.list_accounts(connection, person_id=look.person.id):
        if account.id == number:
            return account
    raise Missing
