"""Operations on MCP servers: list, accept and forget their tools."""

from collections.abc import Mapping

from agent_core.state.engine.database import Connection
from agent_core.state.people import audit
from agent_core.state.people.audit import AuditEntry
from agent_core.tools.mcp import accept_tools, forget_server, read_pins
from gateway.errors import Declined
from gateway.interfaces.operations.contract import (
    Answer,
    Operation,
    OperationContext,
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
    return {name: dict(pins.accepted) for name, pins in found.items()}


async def accept(context: OperationContext, asked: Answer) -> Answer:
    """Accept tools of a server, by hashes of the descriptions that the owner saw. Raises
    `Declined`.
    """
    server, digests = read_text(asked, "server"), asked.get("digests")
    if not isinstance(digests, dict) or not all(isinstance(one, str) for one in digests.values()):
        raise Declined("The digests are missing.")

    def work(connection: Connection) -> None:
        accept_tools(connection, server, digests)
        _record(connection, "mcp.accept", server, context.now())

    await context.database.write("mcp.accept", work)
    return {"server": server, "count": len(digests)}


async def forget(context: OperationContext, asked: Answer) -> Answer:
    """Forget which tools of a server were accepted. Raises `Declined`."""
    server = read_text(asked, "server")

    def work(connection: Connection) -> None:
        forget_server(connection, server)
        _record(connection, "mcp.remove", server, context.now())

    await context.database.write("mcp.forget", work)
    return {"server": server}


MCP_OPERATIONS: Mapping[str, Operation] = {
    "mcp.list": list_accepted,
    "mcp.accept": accept,
    "mcp.forget": forget,
}
"""The operations, by their names on the control socket."""


def _record(connection: Connection, action: str, server: str, now: int) -> None:
    deed = AuditEntry(person_id=None, actor=_ACTOR, action=action, detail=server, created_at=now)
    audit.record(connection, deed)
