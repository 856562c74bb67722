"""A database of its own for every test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await Database.open(tmp_path / "state.db")
    yield database
    await database.close()
