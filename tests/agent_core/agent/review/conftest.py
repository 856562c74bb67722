"""A person with a conversation of their own."""

from pathlib import Path

import pytest

from agent_core.state.conversations.sessions import name_direct
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import NewAccount
from tests.agent_core.agent.review.rig import Rig
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person


@pytest.fixture
async def rig(database: Database, tmp_path: Path) -> Rig:
    def work(connection: Connection) -> Dialogue:
        person = add_person(connection)
        account = NewAccount(
            platform="telegram", user_id="7", display_name="Ann", admitted_by="list"
        )
        people.attach_account(connection, account, person_id=person.id, now=0)
        return add_dialogue(connection, person, key=name_direct(person.id))

    return Rig(database, tmp_path, await database.write("rows", work))
