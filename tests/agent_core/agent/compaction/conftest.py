"""A database of its own for every test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database
from tests.databases import open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(tmp_path / "state.db")
    yield database
    await database.close()
