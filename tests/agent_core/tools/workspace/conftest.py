"""A desk in a real sandbox, with the rows of its person."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.state.engine.database import Connection, Database
from tests.agent_core.execution.backends import make_local
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.agent_core.tools.workspace.desk import Desk
from tests.databases import open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(tmp_path / "state.db")

    def work(connection: Connection) -> None:
        for slug in ("anna", "ben"):
            dialogue = add_dialogue(connection, add_person(connection, slug))
            add_turn(connection, dialogue)

    await database.write("test", work)
    yield database
    await database.close()


@pytest.fixture
async def desk(database: Database, tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(database, tmp_path, make_local(tmp_path))
    yield desk
    await desk.background.close()
