"""A fresh database, and an agent on it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people, rooms
from tests.agent_core.agent.bench import Bench
from tests.databases import open_database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    yield opened
    await opened.close()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    database = await open_database(tmp_path / "state.db")

    def work(connection: Connection) -> Bench:
        ann = people.insert(connection, slug="ann", name="Ann", role="owner", now=0)
        dialogue = sessions.ensure_conversation(
            connection,
            sessions.NewConversation(
                key="direct:1", kind="direct", person_id=ann.id, is_direct=True
            ),
            now=0,
        )
        den = rooms.insert(
            connection, platform="telegram", chat_id="9", title="Den", slug="den", now=0
        )
        place = {"kind": "room", "is_direct": False, "room_id": den.id}
        room = sessions.ensure_conversation(
            connection,
            sessions.NewConversation(key="room:1", person_id=ann.id, **place),
            now=0,
        )
        shared = sessions.ensure_conversation(
            connection,
            sessions.NewConversation(key="room:all", person_id=den.person_id, **place),
            now=0,
        )
        return Bench(
            home=tmp_path,
            database=database,
            person=ann,
            dialogue=dialogue,
            room=room,
            shared=shared,
            den=den,
        )

    yield await database.write("rows", work)
    await database.close()
