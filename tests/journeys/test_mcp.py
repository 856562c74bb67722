"""An owner adds an MCP server on the command line and accepts its tools in a chat."""

import asyncio
import sys
from pathlib import Path

import pytest

from agent_core.execution.local import find_bubblewrap
from gateway.app.mcp_file import add_mcp_server
from gateway.app.timings import Timings
from gateway.turns.presenter import PresenterTimings
from tests.agent_core.tools.mcp.conftest import HERE, PREFIXES
from tests.emulators.telegram_cast import ANNA, BEN
from tests.integration.processes import Done, talaria
from tests.journeys.accounts import Account
from tests.journeys.stage import Harness, Stage, call, calls, heard, results

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not find_bubblewrap(), reason="bubblewrap is not installed"),
]
READABLE = [word for path in (*PREFIXES, HERE) for word in ("--readable", str(path))]
SHOWN = Timings(display=PresenterTimings(first_status=0.05))
SERVER = (sys.executable, str(HERE / "sdk_server.py"))


async def run(home: Path, *words: str) -> Done:
    return await asyncio.to_thread(talaria, home, "mcp", *words)


async def test_an_owner_accepts_the_tools_of_a_server_in_a_chat(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        assert "No MCP server" in await harness.ask(ANNA, "/mcp")
        table = {
            "command": SERVER[0],
            "args": list(SERVER[1:]),
            "readable": [str(path) for path in (*PREFIXES, HERE)],
        }
        add_mcp_server(stage.home, "python", table, {})
        await harness.sees(ANNA, "The MCP server “python” offers tools that need your approval")
        assert "new tools need your approval" in await harness.ask(ANNA, "/mcp")
        shown = await harness.ask(ANNA, "/mcp python")
        assert "Add two numbers." in shown
        assert "Accept its tools only if you trust the server." in shown
        await harness.press(stage.account("telegram", ANNA), "Accept")
        await harness.sees(ANNA, "Accepted. I can now use the tools of “python”.")
        assert "tools in use" in await harness.ask(ANNA, "/mcp")
        told = await harness.ask(ANNA, "/undo")
        undone = "For the tools of “python”, what was accepted before counts again."
        assert told == f"↩ Taken back. {undone}"
        assert "new tools need your approval" in await harness.ask(ANNA, "/mcp")
        await harness.press(stage.account("telegram", ANNA), "Bring it back")
        assert "tools in use" in await harness.ask(ANNA, "/mcp")
    listed = await run(stage.home, "list")
    assert "Tools accepted: add, " in listed.out


async def test_the_assistant_uses_an_accepted_server(stage: Stage) -> None:
    """It finds a tool, shows how far it is, and passes on what the server asks."""
    async with stage.open():
        pass  # creates the database
    added = await run(stage.home, "add", "python", "--yes", "--local", *READABLE, "--", *SERVER)
    assert added.code == 0, added.err
    async with stage.open(timings=SHOWN) as harness:
        anna = stage.account("telegram", ANNA)
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        while "python: connected" not in await harness.ask(ANNA, "/mcp"):
            await asyncio.sleep(0.1)
        await find_and_use(harness, anna)
        await show_progress(harness, anna)
        await answer_its_questions(harness, anna)


async def use(harness: Harness, anna: Account, tool: str, *answers: str, **given: object) -> None:
    """Let the assistant use a tool, with the consent of Anna."""
    words = {"name": f"python__{tool}", "arguments": given}
    harness.stage.plan(calls({"type": "tool_use", "name": "use_tool", "input": words}), *answers)
    await harness.notes(anna.says("use it"))
    await harness.asks(anna, "Once")
    await harness.notes(anna.holds("Once")())


async def find_and_use(harness: Harness, anna: Account) -> None:
    harness.stage.plan(calls(call("tool_search", query="add numbers")))
    await use(harness, anna, "add", "It is five.", a=2, b=3)
    await harness.sees(ANNA, "It is five.")
    found, used = map(results, harness.stage.turns[-2:])
    assert "python__add" in found[0]
    assert used == ["5"]


async def show_progress(harness: Harness, anna: Account) -> None:
    await use(harness, anna, "graze")
    await harness.sees(ANNA, "python: 1/2 sheep")
    await harness.ask(ANNA, "/stop")


async def answer_its_questions(harness: Harness, anna: Account) -> None:
    stage = harness.stage
    assert "/python__review" in await harness.ask(ANNA, "/mcp")
    refused = await harness.ask(ANNA, "/mcp login python")
    assert refused.startswith("You can't sign in to python yet.")
    stage.plan("I'll look at it.")
    assert await harness.ask(ANNA, "/python__review x = 1") == "I'll look at it."
    assert "Follow the prompt “review” of the MCP server “python”" in heard(stage.turns[-1])[-1]
    await use(harness, anna, "book", "It is booked.")
    await harness.asks(anna, "Answer it")
    shown = await harness.sees(ANNA, "The service “python” asks: Where to?")
    assert "It wants to know: City, Nights, and A quiet room?" in shown.text
    await harness.notes(anna.holds("Answer it")())
    await harness.sees(ANNA, "The service “python” asks for: City")
    await harness.notes(anna.says("Oslo"))
    await harness.asks(anna, "Keep 2")
    await harness.notes(anna.says("three"))
    await harness.until(lambda: asks_for_nights(stage) == 2)
    await harness.notes(anna.says("3"))
    await harness.asks(anna, "Keep Yes")
    await harness.press(anna, "No")
    await harness.sees(ANNA, "It is booked.")
    assert results(stage.turns[-1]) == ["accept Trip(city='Oslo', nights=3, is_quiet=False)"]


def asks_for_nights(stage: Stage) -> int:
    said = [message.text for message in stage.telegram.messages(ANNA)]
    return sum("The service “python” asks for: Nights" in text for text in said)


async def test_only_owners_manage_servers(stage: Stage) -> None:
    async with stage.open() as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        assert "MCP" not in await harness.ask(BEN, "/mcp")


async def test_the_command_line_adds_tests_and_removes(stage: Stage) -> None:
    async with stage.open():
        pass  # creates the database
    first = await run(stage.home, "add", "first", *READABLE, "--", *SERVER)
    assert "first speaks MCP 2026-07-28" in first.out, first.err
    assert "`talaria mcp accept first` accepts them" in first.out
    added = await run(stage.home, "add", "python", "--yes", *READABLE, "--", *SERVER)
    assert added.code == 0, added.err
    assert "Accepted." in added.out
    tested = await run(stage.home, "test", "python")
    assert tested.code == 0
    assert "(new)" not in tested.out
    wrong = await run(stage.home, "test", "pyton")
    assert (wrong.code, "did you mean python?" in wrong.err) == (2, True)
    broken = await run(stage.home, "add", "broken", "--", "no-such-program")
    assert broken.code == 1
    assert "can't be started: the sandbox has no program `no-such-program`" in broken.err
    assert (await run(stage.home, "remove", "python")).code == 0
    assert "python:" not in (await run(stage.home, "list")).out


async def test_hung_and_hostile_servers_hold_up_no_other_conversation(stage: Stage) -> None:
    async with stage.open():
        pass  # creates the database
    script = str(HERE / "hostile_server.py")
    hang = ("add", "hang", "--yes", "--local", *READABLE, "--", sys.executable, script, "hang")
    added = await run(stage.home, *hang)
    assert added.code == 0, added.err
    for how in ("babble", "restless"):
        table = {
            "command": sys.executable,
            "args": [script, how],
            "readable": [str(path) for path in (*PREFIXES, HERE)],
        }
        add_mcp_server(stage.home, how, table, {})
    async with stage.open() as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        while "hang: connected" not in await harness.ask(ANNA, "/mcp"):
            await asyncio.sleep(0.1)
        use = {"name": "hang__work", "arguments": {}}
        stage.plan(calls({"type": "tool_use", "name": "use_tool", "input": use}))
        anna = stage.account("telegram", ANNA)
        await harness.notes(stage.telegram.says(ANNA, "work"))
        await harness.asks(anna, "Once")
        await harness.notes(anna.holds("Once")())
        while not await harness.count("steps", "name = 'hang__work' AND outcome IS NULL"):
            await asyncio.sleep(0.01)
        for number in range(5):
            await stage.telegram.says(BEN, f"hello {number}")
            await harness.sees(BEN, f"echo: hello {number}")
        assert await harness.count("turns", "state = 'running'") == 1, "Anna still waits"
        await harness.ask(ANNA, "/stop")
        assert await harness.count("turns", "state = 'running'") == 0
