"""Commands about who may talk: whoami, claim, approve."""

from agent_core.state import outbox, people
from agent_core.state.database import Connection
from agent_core.state.outbox import Debt, OutboxRow
from gateway import identity, wording
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.wording_people import quote_name


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
        debt = Debt(platform=approved.platform, chat=approved.chat, body=wording.WELCOME)
        welcome = outbox.owe(connection, debt, now=call.now)
        return wording.APPROVED.format(name=quote_name(approved.name)), [welcome]

    return Reply(effect=effect)


COMMANDS = (
    SlashCommand(name="whoami", summary="Who you are to me", run=_whoami),
    SlashCommand(
        name="approve", summary="Let somebody in by their code", run=_approve, owner_only=True
    ),
)
