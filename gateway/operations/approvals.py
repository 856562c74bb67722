"""Operations on approvals: list and revoke permissions of tools to act without a question."""

from collections.abc import Mapping

from agent_core.ids import ApprovalId, PersonId
from agent_core.state.conversations import approvals
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.tools.policy.shapes import describe_shape
from gateway.errors import Declined
from gateway.operations.approval_types import (
    ListedApproval,
    ListedApprovals,
    RevokeApproval,
    RevokedApproval,
)
from gateway.operations.contract import Operation, OperationContext
from gateway.operations.people_types import Nothing
from gateway.operations.wire import typed


async def list_approvals(context: OperationContext, _: Nothing) -> ListedApprovals:
    """List the tool calls that each person has approved in advance, oldest first."""

    def look(connection: Connection) -> tuple[ListedApproval, ...]:
        return tuple(
            ListedApproval(
                number=one.id,
                folder=person.slug,
                shape=describe_shape(one.shape),
                scope=one.scope,
                at=one.created_at,
            )
            for person in people.list_all(connection)
            for one in approvals.list_of(connection, person_id=person.id)
        )

    return ListedApprovals(approvals=await context.database.read(look))


def take_back(
    connection: Connection, person_id: PersonId, number: int, *, actor: str, now: int
) -> str:
    """Revoke an approval of a person, and record it; return its shape, "" if there is none."""
    shape = approvals.revoke(connection, person_id=person_id, approval_id=ApprovalId(number))
    if shape:
        deed = AuditEntry(
            person_id=person_id,
            actor=actor,
            action="approval.revoke",
            detail=shape,
            created_at=now,
        )
        audit.record(connection, deed)
    return shape or ""


async def revoke(context: OperationContext, asked: RevokeApproval) -> RevokedApproval:
    """Revoke an approval by its number, and record that. Raises `Declined`."""
    number, now = asked.number, context.now()

    def work(connection: Connection) -> RevokedApproval:
        for person in people.list_all(connection):
            if shape := take_back(connection, person.id, number, actor="house", now=now):
                return RevokedApproval(folder=person.slug, shape=describe_shape(shape))
        raise Declined(f"There is no approval {number}; `talaria approvals list` lists them.")

    return await context.database.write("approvals.revoke", work)


OPERATIONS: Mapping[str, Operation] = {
    "approvals.list": typed(list_approvals),
    "approvals.revoke": typed(revoke),
}
"""The operations, by their names on the control socket."""
