"""A database that the engine itself has made."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    database = await Database.open(path)
    yield database
    await database.close()
