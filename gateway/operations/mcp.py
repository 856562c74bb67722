"""Operations on MCP servers: list, accept and forget their tools."""

from collections.abc import Mapping

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, mcp_accounts, owners
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.mcp_accounts import McpAccount
from agent_core.tools.mcp.pins import accept_tools, forget_server, read_pins
from agent_core.tools.mcp.token_files import make_key
from gateway.errors import Declined
from gateway.operations.contract import (
    Answer,
    Operation,
    OperationContext,
    find_person,
    read_text,
)

_ACTOR = "house"


async def list_accepted(context: OperationContext, asked: Answer) -> Answer:
    """Return the accepted tools of servers, with the hashes of their descriptions."""
    names = asked.get("servers")
    if not isinstance(names, list):
        raise Declined("The servers are missing.")
    found = await context.database.read(
        lambda connection: {str(name): read_pins(connection, str(name)) for name in names}
    )
    return {
        name: {tool: list(digests) for tool, digests in pins.accepted.items()}
        for name, pins in found.items()
    }


async def accept(context: OperationContext, asked: Answer) -> Answer:
    """Accept tools of a server, by hashes of the descriptions that the owner saw. Raises
    `Declined`.
    """
    server, digests = read_text(asked, "server"), asked.get("digests")
    if not isinstance(digests, dict) or not all(isinstance(one, list) for one in digests.values()):
        raise Declined("The digests are missing.")

    def work(connection: Connection) -> None:
        accept_tools(connection, server, digests, adds=asked.get("adds") is True)
        _record(connection, "mcp.accept", server, context.now())

    await context.database.write("mcp.accept", work)
    return {"server": server, "count": len(digests)}


async def open_account(context: OperationContext, asked: Answer) -> Answer:
    """Return the key of the account with which the command line signs in at a server.

    It is that of the named person, or of the only owner; without any owner, it is "". The server
    counts as signed in once `mcp.signed_in` follows. Raises `Declined`.
    """
    server, slug, is_shared = read_text(asked, "server"), asked.get("person"), asked.get("shared")

    def work(connection: Connection) -> McpAccount | None:
        known = owners.list_all(connection)
        if not slug and len(known) > 1:
            raise Declined("There are several owners; say whose account it is with --as SLUG.")
        person = find_person(connection, str(slug)) if slug else next(iter(known), None)
        if person is None:
            return None
        present = mcp_accounts.find_shared(connection, server=server) if is_shared else None
        return present or mcp_accounts.add(
            connection,
            person_id=person.id,
            server=server,
            key=make_key(),
            is_shared=is_shared is True,
        )

    account = await context.database.write("mcp.account", work)
    return {"key": account.key, "person": account.person_id} if account else {"key": ""}


async def note_signed_in(context: OperationContext, asked: Answer) -> Answer:
    """Note which tools an account saw at its server. Raises `Declined`."""
    key, listing, person = read_text(asked, "key"), read_text(asked, "listing"), asked.get("person")
    if not isinstance(person, int):
        raise Declined("The person is missing.")

    def work(connection: Connection) -> None:
        mcp_accounts.note_listing(
            connection, person_id=PersonId(person), key=key, listing=listing, now=context.now()
        )

    await context.database.write("mcp.listing", work)
    return {}


async def forget(context: OperationContext, asked: Answer) -> Answer:
    """Forget which tools of a server were accepted, and end all sign-ins there.

    Raises `Declined` and `OSError`.
    """
    server = read_text(asked, "server")

    def work(connection: Connection) -> None:
        forget_server(connection, server)
        _record(connection, "mcp.remove", server, context.now())

    await context.database.write("mcp.forget", work)
    await context.erasing.end_sign_ins()
    return {"server": server}


OPERATIONS: Mapping[str, Operation] = {
    "mcp.list": list_accepted,
    "mcp.accept": accept,
    "mcp.account": open_account,
    "mcp.signed_in": note_signed_in,
    "mcp.forget": forget,
}
"""The operations, by their names on the control socket."""


def _record(connection: Connection, action: str, server: str, now: int) -> None:
    deed = AuditEntry(person_id=None, actor=_ACTOR, action=action, detail=server, created_at=now)
    audit.record(connection, deed)
