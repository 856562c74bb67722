"""Copies the database while it is open."""

from collections.abc import Mapping
from pathlib import Path

from gateway.errors import Declined
from gateway.operations.contract import Answer, Operation, OperationContext, read_text


async def back_up(context: OperationContext, asked: Answer) -> Answer:
    """Copy the database to a new file at an absolute path.

    Raises `Declined`, and `StoreError` if the copy can't be made.
    """
    target = Path(read_text(asked, "target"))
    if not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")
    await context.database.back_up(target)
    return {"target": str(target)}


OPERATIONS: Mapping[str, Operation] = {"backup": back_up}
