"""A turn with the tools of digests in its hand, and a small web to gather from."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from agent_core.digest.formatting import SOURCES
from agent_core.digest.tools import DigestOptions, make_gather_tool
from agent_core.ids import CallId, TurnId
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.pictures.chart_tool import ChartTool
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_turn
from tests.agent_core.tools.contexts import make_context
from tests.databases import open_database
from tests.emulators.sources import Sources

ZONE = "Europe/Berlin"
NOW = int(datetime.fromisoformat("2026-11-23T08:00:00+01:00").timestamp() * 1000)
"""A Monday morning in Berlin."""


class Desk:
    """One turn on that Monday. `home` is where calendar files lie."""

    def __init__(
        self, database: Database, home: Path, dialogue: Dialogue, context: ToolContext
    ) -> None:
        self.database = database
        self.home = home
        self.dialogue = dialogue
        self.context = context
        self.kit = DigestOptions(
            home=home,
            zone=ZONE,
            github_url="",
            github_token="",
            allow_hosts=("127.0.0.1", "localhost"),
        )
        self.in_room = False

    async def call(self, name: str, arguments: object, call_id: str = "c1") -> ToolResult:
        gather = make_gather_tool(self.database, self.kit, in_room=self.in_room)
        box = Toolbox([gather, ChartTool(self.database, self.kit.readers, self.home / "fonts")])
        call = ToolCallPart(call_id=CallId(call_id), name=name, arguments=json.dumps(arguments))
        return await box.run(call, replace(self.context, call_id=call.call_id))

    async def gather(self, *sources: dict[str, str], **more: object) -> str:
        """Gather in a job whose text names the addresses."""
        named = ", ".join(source.get("at", "") for source in sources)
        self.context = replace(self.context, evidence=f"My digest of {named}.")
        return (await self.call("gather", {"sources": sources, **more})).text

    def put(self, name: str, text: str, folder: str = "") -> None:
        """A calendar file."""
        path = self.home / SOURCES / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    async def given(self) -> list[tuple[str, str, bytes]]:
        """Name, media type and bytes of what goes out."""
        return await self.database.read(
            lambda c: [
                (one.name, stored.media_type, stored.data)
                for one in files.list_of_turn(c, turn_id=self.context.turn_id)
                if (stored := files.find(c, key=one.key))
            ]
        )


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = await open_database(tmp_path / "state.db")

    def begin(connection: Connection) -> tuple[Person, Dialogue, TurnId]:
        person = people.insert(connection, slug="ann", name="Ann", role="owner", now=0)
        dialogue = add_dialogue(connection, person, key="job:1:1", kind="job")
        return person, dialogue, TurnId(add_turn(connection, dialogue, now=NOW))

    person, dialogue, turn = await database.write("begin", begin)
    place = {"conversation_id": dialogue.conversation.id, "scope": dialogue.conversation.scope}
    context = make_context(person.id, slug=person.slug, turn_id=turn, now=NOW, **place)
    yield Desk(database, tmp_path, dialogue, context)
    await database.close()


@pytest.fixture
async def web() -> AsyncIterator[Sources]:
    async with Sources() as sources:
        yield sources
