"""A turn in a direct conversation, with tools in its hand."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent_core.ids import CallId
from agent_core.state.engine.database import Database
from agent_core.tools.contract import Tool, ToolContext, ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart
from tests.agent_core.state.rows import Dialogue, add_turn
from tests.agent_core.tools.contexts import begin_turn
from tests.databases import open_database


@dataclass
class Desk:
    """One turn that calls tools."""

    database: Database
    dialogue: Dialogue
    context: ToolContext
    shown: list[tuple[int, int, str]] = field(default_factory=list)

    async def call(self, tool: Tool, arguments: object, call_id: str = "c1") -> ToolResult:
        call = ToolCallPart(
            call_id=CallId(call_id), name=tool.spec.name, arguments=json.dumps(arguments)
        )

        def show(number: int, total: int, title: str) -> None:
            self.shown.append((number, total, title))

        context = replace(self.context, call_id=call.call_id, show_plan=show)
        return await Toolbox([tool]).run(call, context)

    async def begin_turn(self) -> None:
        """Let the next calls be those of another turn."""
        turn = await self.database.write("turn", lambda c: add_turn(c, self.dialogue))
        self.context = replace(self.context, turn_id=turn)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    database = await open_database(tmp_path / "state.db")
    dialogue, context = await begin_turn(database, now=5)
    yield Desk(database, dialogue, context)
    await database.close()
