"""Files that a turn makes for its person."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.ids import CallId
from agent_core.state.conversations import files
from agent_core.state.engine.database import Database
from agent_core.tools.answer_files import MOST_FILES
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.send_file import MOST_BYTES, SendFileTool
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart
from tests.agent_core.tools.contexts import begin_turn
from tests.databases import open_database


class Desk:
    """One turn with the tool in its hand."""

    def __init__(self, database: Database, context: ToolContext) -> None:
        self.database = database
        self.context = context
        self.toolbox = Toolbox([SendFileTool(database)])

    async def call(self, arguments: object, call_id: str = "c1") -> ToolResult:
        call = ToolCallPart(
            call_id=CallId(call_id), name="send_file", arguments=json.dumps(arguments)
        )
        return await self.toolbox.run(call, replace(self.context, call_id=call.call_id))

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
    _, context = await begin_turn(database, now=5)
    yield Desk(database, context)
    await database.close()


async def test_a_file_waits_for_the_answer(desk: Desk) -> None:
    result = await desk.call({"name": "plan.md", "text": "# Süß\n"})
    assert not result.is_error
    assert result.text == "plan.md (8 bytes) goes out with your answer."
    assert await desk.given() == [("plan.md", "text/markdown", "# Süß\n".encode())]


async def test_the_kind_goes_by_the_ending(desk: Desk) -> None:
    for number, name in enumerate(("a.CSV", "b.json", "c.py", "d")):
        await desk.call({"name": name, "text": name}, f"c{number}")
    kinds = [media_type for _, media_type, _ in await desk.given()]
    assert kinds == ["text/csv", "application/json", "text/plain", "text/plain"]


async def test_a_call_that_is_made_again_after_a_crash_gives_one_file(desk: Desk) -> None:
    first = await desk.call({"name": "a.txt", "text": "x"})
    assert await desk.call({"name": "a.txt", "text": "x"}) == first
    assert len(await desk.given()) == 1


@pytest.mark.parametrize(
    "name", ["", " ", "..", "../etc/passwd", "a\\b.txt", "a\nb", "evil\u202etxt.exe", "x" * 101]
)
async def test_a_name_is_no_path_and_hides_nothing(desk: Desk, name: str) -> None:
    result = await desk.call({"name": name, "text": "x"})
    assert result.is_error
    assert "`name`" in result.text
    assert await desk.given() == []


@pytest.mark.parametrize("text", ["", "x" * (MOST_BYTES + 1), "ä" * (MOST_BYTES // 2 + 1)])
async def test_nothing_and_too_much_are_refused(desk: Desk, text: str) -> None:
    assert (await desk.call({"name": "a.txt", "text": text})).is_error
    assert await desk.given() == []


async def test_the_largest_text_goes(desk: Desk) -> None:
    assert not (await desk.call({"name": "a.txt", "text": "x" * MOST_BYTES})).is_error


async def test_an_answer_carries_so_many_files_and_no_more(desk: Desk) -> None:
    for number in range(MOST_FILES):
        made = await desk.call({"name": f"{number}.txt", "text": str(number)}, f"c{number}")
        assert not made.is_error
    again = await desk.call({"name": "0.txt", "text": "0"}, "c0")
    assert not again.is_error, "a repeat of a call that was made counts as that call"
    more = await desk.call({"name": "more.txt", "text": "x"}, "more")
    assert more.is_error
    assert "at most 10 files" in more.text
    assert len(await desk.given()) == MOST_FILES


async def test_it_costs_few_tokens_of_every_prompt(desk: Desk) -> None:
    spec = desk.toolbox.specs[0]
    assert len(spec.name) + len(spec.description) + len(spec.schema) < 400
