"""Operations on a person's accounts: list them, and unlink one."""

from collections.abc import Callable, Mapping, Sequence

from agent_core.state.engine.database import Connection
from agent_core.state.people import account_links, audit, people
from agent_core.state.people.people import Account, Person
from agent_core.state.queues.outbox import OutboxRow
from gateway.errors import Mistaken
from gateway.operations.account_types import (
    AccountList,
    How,
    ListAccounts,
    ListedAccount,
    UnlinkAccount,
)
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.wire import typed
from gateway.people.merging import UnlinkRequest
from gateway.texts.people import UNLINK_UNKNOWN, Unlinked

_ENTRANCES: Mapping[audit.Entrance, How] = {"people.join": "invitation", "claim": "claim"}


async def list_accounts(context: OperationContext, asked: ListAccounts) -> AccountList:
    """List the accounts of a person in the order of their numbers in a chat. Raises `Mistaken`."""

    def look(connection: Connection) -> AccountList:
        person = find_person(connection, asked.person)
        return AccountList(accounts=describe_own(connection, person, context.is_admitted))

    return await context.database.read(look)


def describe_own(
    connection: Connection, person: Person, is_admitted: Callable[[Account], bool]
) -> tuple[ListedAccount, ...]:
    """Return the accounts of a person as an answer, linked ones last."""
    joined = account_links.list_joined(connection, person_id=person.id)
    entrances = audit.list_entrances(connection, person_id=person.id)
    own = list_own(connection, person)
    unadmitted: How = "link" if any(map(is_admitted, own)) else "out"

    def tell(one: Account) -> How:
        if not is_admitted(one):
            return unadmitted
        entrance = entrances.get((one.platform, one.user_id))
        return _ENTRANCES[entrance] if entrance and one.admitted_by == "code" else one.admitted_by

    return tuple(
        ListedAccount(
            number=one.id,
            platform=one.platform,
            user_id=one.user_id,
            name=one.display_name,
            how=tell(one),
            since=one.created_at,
            is_linked=one.came_from is not None,
            linked_at=joined.get((one.platform, one.user_id)),
        )
        for one in own
    )


def list_own(connection: Connection, person: Person) -> list[Account]:
    """List a person's accounts in the order of their numbers in a chat, linked ones last."""
    accounts = people.list_accounts(connection, person_id=person.id)
    return sorted(accounts, key=lambda account: account.came_from is not None)


async def unlink(context: OperationContext, asked: UnlinkAccount) -> Unlinked:
    """Unlink an account, with everything that began there. Raises `Declined` and `Mistaken`."""
    now = context.now()

    def work(connection: Connection) -> tuple[Unlinked, Sequence[OutboxRow]]:
        person = find_person(connection, asked.person)
        account = next(
            (one for one in list_own(connection, person) if one.id == asked.number), None
        )
        if account is None:
            raise Mistaken(UNLINK_UNKNOWN())
        leaving = UnlinkRequest(account=account, is_admitted=context.is_admitted(account))
        return context.merging.unlink(connection, person, leaving, now)

    done, rows = await context.database.write("accounts.unlink", work)
    context.enqueue(rows)
    context.forget_known()
    context.scheduling.wake()
    return done


OPERATIONS: Mapping[str, Operation] = {
    "accounts.list": typed(list_accounts),
    "accounts.unlink": typed(unlink),
}
"""The operations, by their names on the control socket."""
