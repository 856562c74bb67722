"""Operations on approvals: list and revoke permissions of tools to act without a question."""

from collections.abc import Mapping
from typing import Any

from agent_core.ids import ApprovalId
from agent_core.state.conversations import approvals
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.tools.policy.shapes import describe_shape
from gateway.errors import Declined
from gateway.operations.contract import Answer, Operation, OperationContext


async def list_approvals(context: OperationContext, _: Answer) -> Answer:
    """List the tool calls that each person has approved in advance, oldest first."""

    def look(connection: Connection) -> list[dict[str, Any]]:
        return [
            {
                "number": one.id,
                "folder": person.slug,
                "shape": describe_shape(one.shape),
                "scope": one.scope,
                "at": one.created_at,
            }
            for person in people.list_all(connection)
            for one in approvals.list_of(connection, person_id=person.id)
        ]

    return {"approvals": await context.database.read(look)}


async def revoke(context: OperationContext, asked: Answer) -> Answer:
    """Revoke an approval by its number, and record that. Raises `Declined`."""
    number, now = asked.get("number"), context.now()
    if not isinstance(number, int):
        raise Declined("Give the number of an approval.")

    def work(connection: Connection) -> tuple[str, str]:
        for person in people.list_all(connection):
            shape = approvals.revoke(
                connection, person_id=person.id, approval_id=ApprovalId(number)
            )
            if shape:
                deed = AuditEntry(
                    person_id=person.id,
                    actor="house",
                    action="approval.revoke",
                    detail=shape,
                    created_at=now,
                )
                audit.record(connection, deed)
                return person.slug, describe_shape(shape)
        raise Declined(f"There is no approval {number}; `talaria approvals list` lists them.")

    folder, shape = await context.database.write("approvals.revoke", work)
    return {"folder": folder, "shape": shape}


OPERATIONS: Mapping[str, Operation] = {
    "approvals.list": list_approvals,
    "approvals.revoke": revoke,
}
"""The operations, by their names on the control socket."""
