"""Commands about the accounts of one person: link, accounts, unlink."""

from agent_core.state import people
from agent_core.state.database import Connection
from agent_core.state.outbox import OutboxRow
from agent_core.state.people import Account, Person
from gateway import linking
from gateway import wording_people as wording
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.joining import Leaving

_KEEP = "keep"


async def _link(call: Call, house: House) -> Reply:
    sent = linking.read(call.platform, call.message, call.argument)

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        words, rows = house.linking.take(connection, sent, _find_person(connection, call), call.now)
        return words, list(rows)

    return Reply(effect=effect)


async def _accounts(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=wording.ACCOUNTS_IN_ROOM)
    joining = house.linking.joining

    def keep(connection: Connection) -> tuple[str, list[OutboxRow]]:
        person = _find_person(connection, call) or call.person
        words, _ = joining.keep(connection, person, f"accounts:{call.inbox_id}", call.now)
        return words, []

    if call.argument.casefold() == _KEEP:
        return Reply(effect=keep)

    def look(connection: Connection) -> tuple[list[Account], int]:
        accounts = _list_accounts(connection, call.person)
        return accounts, joining.count_left(connection, call.person)

    accounts, left = await house.database.read(look)
    return Reply(text=_show(call, house, accounts, left))


async def _unlink(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=wording.ACCOUNTS_IN_ROOM)

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        person = _find_person(connection, call) or call.person
        accounts = _list_accounts(connection, person)
        found = _choose(accounts, call.argument)
        if len(found) != 1:
            why = wording.UNLINK_SEVERAL if found else wording.UNLINK_UNKNOWN
            how = why if call.argument else wording.UNLINK_HOW
            return f"{how}\n{_show(call, house, accounts)}", []
        leaving = Leaving(account=found[0], is_let_in=house.identity.is_let_in(found[0]))
        return house.linking.joining.unlink(connection, person, leaving, call.now)

    return Reply(effect=effect)


def _find_person(connection: Connection, call: Call) -> Person | None:
    """Who the account is now; it may have become somebody else since the message came."""
    return people.find_by_account(
        connection, platform=call.platform, user_id=call.message.sender.user_id
    )


def _list_accounts(connection: Connection, person: Person) -> list[Account]:
    """A person's accounts in the order of their numbers: those that were joined come last."""
    accounts = people.list_accounts(connection, person_id=person.id)
    return sorted(accounts, key=lambda account: account.came_from is not None)


def _choose(accounts: list[Account], wanted: str) -> list[Account]:
    """The accounts that words name: by number, by platform, or as platform:id."""
    if wanted.isdecimal() and 0 < int(wanted) <= len(accounts):
        return [accounts[int(wanted) - 1]]
    word = wanted.casefold()
    return [
        account
        for account in accounts
        if word in (account.platform, f"{account.platform}:{account.user_id}".casefold())
    ]


def _show(call: Call, house: House, accounts: list[Account], left: int = 0) -> str:
    lines = [
        wording.AccountLine(
            account=account,
            is_here=(account.platform, account.user_id)
            == (call.platform, call.message.sender.user_id),
            is_let_in=house.identity.is_let_in(account),
        )
        for account in accounts
    ]
    return wording.list_accounts(lines, zone=call.zone, left=left)


COMMANDS = (
    SlashCommand(name="link", summary="Add another account of yours", run=_link),
    SlashCommand(name="accounts", summary="Which accounts are you", run=_accounts),
    SlashCommand(name="unlink", summary="Make an account a person of its own", run=_unlink),
)
