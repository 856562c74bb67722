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
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.mcp_types import (
    AcceptedServer,
    AcceptedTools,
    AcceptTools,
    ListAccepted,
    NamedServer,
    Noted,
    OpenAccount,
    OpenedAccount,
    ServerTools,
    SignedIn,
    ToolDigests,
)
from gateway.operations.wire import typed

_ACTOR = "house"


async def list_accepted(context: OperationContext, asked: ListAccepted) -> AcceptedTools:
    """Return the accepted tools of servers, with the hashes of their descriptions."""

    def look(connection: Connection) -> AcceptedTools:
        found = {name: read_pins(connection, name).accepted for name in asked.servers}
        return AcceptedTools(
            servers=tuple(
                ServerTools(
                    server=name,
                    tools=tuple(
                        ToolDigests(tool=tool, digests=tuple(digests))
                        for tool, digests in accepted.items()
                    ),
                )
                for name, accepted in found.items()
            )
        )

    return await context.database.read(look)


async def accept(context: OperationContext, asked: AcceptTools) -> AcceptedServer:
    """Accept tools of a server, by hashes of the descriptions that the owner saw."""
    server, digests = asked.server, {one.tool: one.digests for one in asked.tools}

    def work(connection: Connection) -> None:
        accept_tools(connection, server, digests, adds=asked.adds)
        _record(connection, "mcp.accept", server, context.now())

    await context.database.write("mcp.accept", work)
    return AcceptedServer(server=server, count=len(digests))


async def open_account(context: OperationContext, asked: OpenAccount) -> OpenedAccount:
    """Return the key of the account with which the command line signs in at a server.

    The server counts as signed in once `mcp.signed_in` follows. Raises `Declined`.
    """

    def work(connection: Connection) -> McpAccount | None:
        known = owners.list_all(connection)
        if not asked.person and len(known) > 1:
            raise Declined("There are several owners; say whose account it is with --as SLUG.")
        person = find_person(connection, asked.person) if asked.person else next(iter(known), None)
        if person is None:
            return None
        present = (
            mcp_accounts.find_shared(connection, server=asked.server) if asked.shared else None
        )
        return present or mcp_accounts.add(
            connection,
            person_id=person.id,
            server=asked.server,
            key=make_key(),
            is_shared=asked.shared,
        )

    account = await context.database.write("mcp.account", work)
    if account is None:
        return OpenedAccount(key="")
    return OpenedAccount(key=account.key, person=account.person_id)


async def note_signed_in(context: OperationContext, asked: SignedIn) -> Noted:
    """Note which tools an account saw at its server."""

    def work(connection: Connection) -> None:
        mcp_accounts.note_listing(
            connection,
            person_id=PersonId(asked.person),
            key=asked.key,
            listing=asked.listing,
            now=context.now(),
        )

    await context.database.write("mcp.listing", work)
    return Noted()


async def forget(context: OperationContext, asked: NamedServer) -> NamedServer:
    """Forget which tools of a server were accepted, and end all sign-ins there.

    Raises `OSError`.
    """

    def work(connection: Connection) -> None:
        forget_server(connection, asked.server)
        _record(connection, "mcp.remove", asked.server, context.now())

    await context.database.write("mcp.forget", work)
    await context.erasing.end_sign_ins()
    return asked


OPERATIONS: Mapping[str, Operation] = {
    "mcp.list": typed(list_accepted),
    "mcp.accept": typed(accept),
    "mcp.account": typed(open_account),
    "mcp.signed_in": typed(note_signed_in),
    "mcp.forget": typed(forget),
}
"""The operations, by their names on the control socket."""


def _record(connection: Connection, action: str, server: str, now: int) -> None:
    deed = AuditEntry(person_id=None, actor=_ACTOR, action=action, detail=server, created_at=now)
    audit.record(connection, deed)
