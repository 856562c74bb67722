"""Performs an operation directly on the database of a home without a gateway."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.errors import StoreBusy, StoreError
from agent_core.state.engine.database import Database, now
from gateway.errors import Declined, StartError
from gateway.home import DATABASE, make_home
from gateway.interfaces.contexts import HomeContext
from gateway.operations.contract import Answer
from gateway.operations.registry import find_operation

if TYPE_CHECKING:
    from gateway.app.settings import Settings


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
