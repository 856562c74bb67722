"""The registry of operations of the command line."""

from collections.abc import Mapping
from pathlib import Path

from gateway.errors import Declined
from gateway.interfaces.operations.approvals import APPROVAL_OPERATIONS
from gateway.interfaces.operations.contract import Answer, Operation, OperationContext, read_text
from gateway.interfaces.operations.imports import IMPORT_OPERATIONS
from gateway.interfaces.operations.job_previews import preview
from gateway.interfaces.operations.jobs import JOB_OPERATIONS
from gateway.interfaces.operations.logins import LOGIN_OPERATIONS
from gateway.interfaces.operations.mcp import MCP_OPERATIONS
from gateway.interfaces.operations.memory import MEMORY_OPERATIONS
from gateway.interfaces.operations.people import PEOPLE_OPERATIONS
from gateway.interfaces.operations.skills import SKILL_OPERATIONS
from gateway.interfaces.operations.tokens import TOKEN_OPERATIONS
from gateway.interfaces.operations.turns import TURN_OPERATIONS
from gateway.interfaces.operations.webhooks import WEBHOOK_OPERATIONS


async def back_up(context: OperationContext, asked: Answer) -> Answer:
    """Copy the database to a new file at an absolute path.

    Raises `Declined`, and `StoreError` if the copy can't be made.
    """
    target = Path(read_text(asked, "target"))
    if not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")
    await context.database.back_up(target)
    return {"target": str(target)}


OPERATIONS: Mapping[str, Operation] = {
    "backup": back_up,
    **PEOPLE_OPERATIONS,
    **LOGIN_OPERATIONS,
    **MEMORY_OPERATIONS,
    **TURN_OPERATIONS,
    **JOB_OPERATIONS,
    "jobs.preview": preview,
    **SKILL_OPERATIONS,
    **MCP_OPERATIONS,
    **IMPORT_OPERATIONS,
    **APPROVAL_OPERATIONS,
    **TOKEN_OPERATIONS,
    **WEBHOOK_OPERATIONS,
}
"""By the names of the control socket."""
