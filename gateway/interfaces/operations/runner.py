"""Finds operations by name, and performs them without a gateway."""

import asyncio
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.errors import StoreBusy, StoreError
from agent_core.state.engine.database import Database, now
from gateway.config.paths import DATABASE, make_home
from gateway.errors import Declined, StartError
from gateway.interfaces.operations.contexts import HomeContext
from gateway.interfaces.operations.contract import Answer, Operation, OperationContext, read_text

if TYPE_CHECKING:
    from gateway.config.settings import Settings


async def back_up(context: OperationContext, asked: Answer) -> Answer:
    """Copy the database to a new file at an absolute path.

    Raises `Declined`, and `StoreError` if the copy can't be made.
    """
    target = Path(read_text(asked, "target"))
    if not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")
    await context.database.back_up(target)
    return {"target": str(target)}


_GROUPS: Mapping[str, tuple[str, str]] = {
    "people": ("people", "PEOPLE_OPERATIONS"),
    "tools": ("people", "PEOPLE_OPERATIONS"),
    "logins": ("logins", "LOGIN_OPERATIONS"),
    "memory": ("memory", "MEMORY_OPERATIONS"),
    "turns": ("turns", "TURN_OPERATIONS"),
    "jobs": ("jobs", "JOB_OPERATIONS"),
    "jobs.preview": ("job_previews", "PREVIEW_OPERATIONS"),
    "skills": ("skills", "SKILL_OPERATIONS"),
    "mcp": ("mcp", "MCP_OPERATIONS"),
    "imports": ("imports.operations", "IMPORT_OPERATIONS"),
    "approvals": ("approvals", "APPROVAL_OPERATIONS"),
    "tokens": ("tokens", "TOKEN_OPERATIONS"),
    "webhooks": ("webhooks.operations", "WEBHOOK_OPERATIONS"),
}
"""The module and the table of each group, by the part before the dot or by the full name.

A module is imported when one of its operations is performed, so that a list of people doesn't wait
for the agent.
"""


def find_operation(name: str) -> Operation | None:
    """Return an operation by its name on the control socket, or None if there is none."""
    if name == "backup":
        return back_up
    group = _GROUPS.get(name) or _GROUPS.get(name.partition(".")[0])
    if group is None:
        return None
    module = import_module(f"gateway.interfaces.operations.{group[0]}")
    table: Mapping[str, Operation] = getattr(module, group[1])
    return table.get(name)


def perform_here(
    home: Path,
    operation: str,
    asked: Answer,
    load_settings: "Callable[[], Settings] | None",
) -> Answer:
    """Open the database of a home and perform an operation on it.

    Raises `Declined`, `StartError`, and `StoreError` if the database can't be opened.
    """
    return asyncio.run(_perform_here(home, operation, asked, load_settings))


async def _perform_here(
    home: Path,
    operation: str,
    asked: Answer,
    load_settings: "Callable[[], Settings] | None",
) -> Answer:
    make_home(home)
    perform = find_operation(operation)
    if perform is None:
        raise ValueError(f"there is no operation {operation}")
    try:
        database = await Database.open(home / DATABASE)
    except StoreBusy as error:
        raise StartError(
            f"Talaria is just starting or stopping for {home}, or another command works on it."
            " Try again in a few seconds."
        ) from error
    try:
        return await perform(HomeContext(home, database, now, load_settings), asked)
    except StoreError as error:
        raise Declined(str(error)) from error
    finally:
        await database.close()
