"""A person's own accounts: how and when each was linked, and how to unlink one."""

from functools import partial
from http import HTTPStatus

from starlette.responses import Response

from agent_core.tools.clock import ReaderClock
from gateway.interfaces.pages.rendering import render_note
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import accounts as operations
from gateway.operations.account_types import ListAccounts, ListedAccount, UnlinkAccount
from gateway.texts import people as texts


def describe_account(account: ListedAccount, clock: ReaderClock) -> str:
    """Describe how and when the person got an account."""
    since = clock.show_day(account.since)
    linked = clock.show_day(account.linked_at) if account.linked_at else ""
    return texts.describe_admission(account.how, since, is_linked=account.is_linked, linked=linked)


async def show_own(look: Look) -> Fields:
    """Read the accounts of the person."""
    clock = look.viewer.clock
    return {
        "p": texts,
        "accounts": [(one, describe_account(one, clock)) for one in await _list(look)],
    }


async def ask_unlink(look: Look) -> Fields:
    """Read the account that the person wants to unlink. Raises `Missing`."""
    return {"p": texts, "account": await _find(look)}


async def unlink(look: Look) -> Response:
    """Unlink an account, with everything that began there. Raises `Missing` and `Declined`."""
    asked = UnlinkAccount(person=look.person.slug, number=(await _find(look)).number)
    done = await operations.unlink(look.context, asked)
    # The person's logins have ended with the account: a redirect would lead nowhere.
    return render_note(look.request, partial(texts.describe_unlinked, done), HTTPStatus.OK)


async def _list(look: Look) -> tuple[ListedAccount, ...]:
    asked = ListAccounts(person=look.person.slug)
    return (await operations.list_accounts(look.context, asked)).accounts


async def _find(look: Look) -> ListedAccount:
    number = look.find_id("account")
    for account in await _list(look):
        if account.number == number:
            return account
    raise Missing
