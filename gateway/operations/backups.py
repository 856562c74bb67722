"""Copies the database while it is open."""

from collections.abc import Mapping
from pathlib import Path

from gateway.errors import Declined
from gateway.operations.backup_types import CopiedDatabase, CopyDatabase
from gateway.operations.contract import Operation, OperationContext
from gateway.operations.wire import typed


async def back_up(context: OperationContext, asked: CopyDatabase) -> CopiedDatabase:
    """Copy the database to a new file at an absolute path.

    Raises `Declined`, and `StoreError` if the copy can't be made.
    """
    target = Path(asked.target)
    if not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")
    await context.database.back_up(target)
    return CopiedDatabase(target=str(target))


OPERATIONS: Mapping[str, Operation] = {"backup": typed(back_up)}
