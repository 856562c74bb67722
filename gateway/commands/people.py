"""Commands about the accounts of one person: link, accounts, unlink."""

from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Account, Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.people import identity, linking
from gateway.people.merging import Leaving
from gateway.texts import general as wording
from gateway.texts import people as people_texts
from gateway.texts.people import quote_name

_KEEP = "keep"


async def _link(call: Call, house: House) -> Reply:
    sent = linking.read(call.platform, call.message, call.argument)

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        words, rows = house.linking.take(connection, sent, _find_person(connection, call), call.now)
        return words, list(rows)

    return Reply(effect=effect)


async def _accounts(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=people_texts.ACCOUNTS_IN_ROOM)
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
        return Reply(text=people_texts.ACCOUNTS_IN_ROOM)

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        person = _find_person(connection, call) or call.person
        accounts = _list_accounts(connection, person)
        found = _choose(accounts, call.argument)
        if len(found) != 1:
            why = people_texts.UNLINK_SEVERAL if found else people_texts.UNLINK_UNKNOWN
            how = why if call.argument else people_texts.UNLINK_HOW
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
        people_texts.AccountLine(
            account=account,
            is_here=(account.platform, account.user_id)
            == (call.platform, call.message.sender.user_id),
            is_let_in=house.identity.is_let_in(account),
        )
        for account in accounts
    ]
    return people_texts.list_accounts(lines, zone=call.zone, left=left)


ACCOUNT_COMMANDS = (
    SlashCommand(name="link", summary="Add another account of yours", run=_link),
    SlashCommand(name="accounts", summary="Which accounts are you", run=_accounts),
    SlashCommand(name="unlink", summary="Make an account a person of its own", run=_unlink),
)


async def _whoami(call: Call, house: House) -> Reply:
    accounts = await house.database.read(
        lambda c: people.list_accounts(c, person_id=call.person.id)
    )
    names = [
        f"{account.platform}:{account.user_id}"
        for account in accounts
        # Where others read along an account tells nothing of those elsewhere.
        if call.message.address.is_direct
        or (account.platform, account.user_id) == (call.platform, call.message.sender.user_id)
    ]
    return Reply(text=wording.describe_person(call.person.name, call.person.role, names, call.zone))


async def _approve(call: Call, _: House) -> Reply:
    if not call.argument:
        return Reply(text=wording.CODE_MISSING.format(command="approve"))

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        approved = identity.approve(connection, call.argument, call.now)
        if approved is None:
            return wording.CODE_UNKNOWN, []
        outgoing = NewOutboxMessage(
            platform=approved.platform, chat=approved.chat, body=wording.WELCOME
        )
        welcome = outbox.enqueue(connection, outgoing, now=call.now)
        return wording.APPROVED.format(name=quote_name(approved.name)), [welcome]

    return Reply(effect=effect)


COMMANDS = (
    SlashCommand(name="whoami", summary="Who you are to me", run=_whoami),
    SlashCommand(
        name="approve", summary="Let somebody in by their code", run=_approve, owner_only=True
    ),
)
