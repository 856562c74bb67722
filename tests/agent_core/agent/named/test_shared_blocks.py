"""The blocks of a team: every member sees a change at its next step, and may make one."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_core.memory.edits_within_limits import Edit
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import NewBlock
from agent_core.state.memory.ledger import Origin
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.transcript import TextPart
from tests.agent_core.agent.bench import Bench
from tests.agent_core.agent.named.agent_folders import make_message_tool, write
from tests.fakes.model import Play, ask, call, say
from tests.fakes.tool import FakeTool
from tests.patience import PATIENCE


async def make_block(bench: Bench, label: str) -> None:
    def work(connection: Connection) -> None:
        new = NewBlock(label=label, slug=label, description="", limit=1000, made_by=bench.person.id)
        block = blocks.insert(connection, new, now=bench.time)
        blocks.share(connection, block_id=block.id, person_id=bench.person.id)

    bench.blocks.expect_blocks()
    await bench.database.write("test.block", work)


async def change(bench: Bench, action: str, text: str = "", old: str = "") -> None:
    """Change the block `desk` as somebody else would."""
    seen = await bench.blocks.look(bench.person.id, bench.time)
    shared = next(one for one in seen if one.target == "block:desk")
    edit = Edit(action=action, target="memory", text=text, old=old)  # type: ignore[arg-type]
    await bench.blocks.change(shared, [edit], Origin(actor="house", now=bench.time))


def note(text: str, target: str = "block:desk", call_id: str = "m1") -> Play:
    given = {"action": "add", "target": target, "text": text}
    return ask(call("memory", json.dumps(given), call_id))


def give(**arguments: object) -> Play:
    return ask(call("message_agent", json.dumps(arguments), "c1"))


def changing(bench: Bench, *deeds: tuple[str, str, str]) -> FakeTool:
    """A tool during which somebody else changes the block."""
    left = list(deeds)

    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        await change(bench, *left.pop(0))
        return ToolResult(text="looked")

    return FakeTool("look", act)


def facts(bench: Bench, number: int) -> str:
    """The facts that are the newest message of a request."""
    (part,) = bench.model.requests[number].messages[-1].parts
    assert isinstance(part, TextPart)
    return part.text


@pytest.fixture
async def home(bench: Bench) -> Path:
    bench.hire()
    await make_block(bench, "desk")
    await make_block(bench, "other")
    for name in ("writer", "checker"):
        write(bench.home, name, 'tools = ["look", "memory"]\nblocks = []')
    place = bench.home / "teams"
    place.mkdir()
    (place / "desk.toml").write_text(
        'manager = "round_robin"\nmembers = ["writer", "checker"]\nblocks = ["desk"]\nrounds = 1\n'
    )
    return bench.home


def hire(bench: Bench, *helper: FakeTool) -> None:
    shared = bench.blocks
    bench.hire(make_message_tool(bench.home), helper=helper)
    shared.expect_blocks()
    bench.blocks.expect_blocks()


async def test_a_member_notes_something_and_the_next_one_reads_it(bench: Bench, home: Path) -> None:
    hire(bench, FakeTool("look"))
    team = give(mode="team", to="desk", text="Go")
    await bench.ask("go", team, note("The title is Tea"), say("Noted."), say("Seen."), say("Done."))
    checker = bench.model.requests[3]
    assert checker.system.startswith("You are checker.")
    assert "The title is Tea" in checker.system


async def test_two_members_note_something_at_once_and_nothing_is_lost(
    bench: Bench, home: Path
) -> None:
    both = asyncio.Barrier(2)

    async def meet(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        async with asyncio.timeout(PATIENCE):
            await both.wait()
        return ToolResult(text="looked")

    hire(bench, FakeTool("look", meet))
    (home / "teams" / "desk.toml").write_text(
        'manager = "free"\nmembers = ["writer", "checker"]\nblocks = ["desk"]\nrounds = 1\n'
    )
    await bench.ask(
        "go",
        give(mode="team", to="desk", text="Go"),
        ask(call("look")),
        ask(call("look")),
        note("The title is Tea"),
        note("It has two pages"),
        say("Noted."),
        say("Noted, too."),
        say("Done."),
    )
    seen = await bench.blocks.look(bench.person.id, bench.time)
    (entries,) = (one.entries for one in seen if one.target == "block:desk")
    assert sorted(entries) == ["It has two pages", "The title is Tea"]


async def test_a_running_member_sees_a_change_at_its_next_step(bench: Bench, home: Path) -> None:
    hire(bench, changing(bench, ("add", "The title is Tea", ""), ("add", "It has two pages", "")))
    await bench.ask(
        "go",
        give(mode="ask", to="writer", text="Look twice"),
        ask(call("look", "{}", "l1")),
        ask(call("look", "{}", "l2")),
        say("Seen."),
        say("Done."),
    )
    assert facts(bench, 2) == '<facts>\nNew in block:desk: ["The title is Tea"]\n</facts>'
    assert facts(bench, 3) == '<facts>\nNew in block:desk: ["It has two pages"]\n</facts>'


async def test_a_replaced_entry_is_shown_with_the_whole_block_once(
    bench: Bench, home: Path
) -> None:
    await change(bench, "add", "The title is Tea")
    hire(bench, changing(bench, ("replace", "The title is Coffee", "Tea"), ("add", "Two", "")))
    await bench.ask(
        "go",
        give(mode="ask", to="writer", text="Look twice"),
        ask(call("look", "{}", "l1")),
        ask(call("look", "{}", "l2")),
        say("Seen."),
        say("Done."),
    )
    assert "The title is Tea" in bench.model.requests[1].system
    assert 'Now, instead of block:desk in your prompt: ["The title is Coffee"]' in facts(bench, 2)
    assert 'New in block:desk: ["Two"]' in facts(bench, 3)


async def test_an_asked_member_changes_only_the_blocks_of_its_team(
    bench: Bench, home: Path
) -> None:
    hire(bench, FakeTool("look"))
    await bench.ask(
        "go",
        give(mode="ask", to="writer", text="Note it"),
        note("They like tea", "user"),
        note("A secret", "block:other", "m2"),
        note("The title is Tea", call_id="m3"),
        say("Noted."),
        say("Done."),
    )
    said = [one.messages[-1].parts[-1] for one in bench.model.requests[2:5]]
    texts = [getattr(one, "text", "") for one in said]
    assert "can change only the blocks of its team: `block:desk`" in texts[0]
    assert "There is no `block:other` here." in texts[1]
    seen = await bench.blocks.look(bench.person.id, bench.time)
    entries = {one.target: one.entries for one in seen}
    assert (entries["block:desk"], entries["block:other"]) == (("The title is Tea",), ())


async def test_an_agent_that_left_its_team_sees_its_block_no_more(bench: Bench, home: Path) -> None:
    await change(bench, "add", "The title is Tea")
    (home / "teams" / "desk.toml").write_text(
        'manager = "round_robin"\nmembers = ["checker", "nobody"]\nblocks = ["desk"]\n'
    )
    hire(bench, FakeTool("look"))
    await bench.ask("go", give(mode="ask", to="writer", text="Look"), say("No."), say("Done."))
    assert "The title is Tea" not in bench.model.requests[1].system
