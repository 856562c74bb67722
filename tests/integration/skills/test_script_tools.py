"""A skill's script in a conversation: the model calls it, and its use counts as it went."""

import json
from pathlib import Path

import pytest

from agent_core.execution.local import find_bubblewrap
from agent_core.skills.usage import list_records
from tests.agent_core.execution.tally_skill import TALLY, write
from tests.fakes.model import Play, ask, call, say
from tests.integration.harness import running
from tests.integration.jobs_support import greet, greeted

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not find_bubblewrap(), reason="bubblewrap is not installed"),
]


async def test_the_model_finds_and_calls_a_script(tmp_path: Path) -> None:
    write(tmp_path, {"add.py": TALLY}, "  tools: add\n")
    search = ask(call("tool_search", '{"query": "add up prices"}'))
    given = {"name": "skill__tally__add", "arguments": {"prices": [1.5, 2]}}
    use = ask(call("use_tool", json.dumps(given), "c2"))
    model = greeted(search, use, say("It is 3.50."))
    async with running(tmp_path, model, TALARIA_TOOLS__BACKEND="local") as harness:
        await greet(harness)
        await harness.chat.says("add up 1.50 and 2")
        await harness.chat.sees_text("It is 3.50.")
        await harness.at_rest()
        found, result = (str(model.requests[number].messages[-1]) for number in (2, 3))
        assert "skill__tally__add" in found
        assert "Add up prices." in found
        assert '"total": 3.5' in result.replace("\\", "")
        known = {one.row.name: one for one in await harness.read(list_records)}
        assert (known["tally"].row.uses, known["tally"].tally.successes) == (1, 1)


BROKEN = """def main(prices: list[float]):
    return sum(prices) / len(prices)
"""
RUN = "python3 .skills/tally/scripts/add.py {} | tail -n 5"
DIVIDE = "import sys\nprint(sum(map(float, sys.argv[1:])) / len(sys.argv[1:]))\n"


def use_tool(prices: list[float], number: int) -> Play:
    given = {"name": "skill__tally__add", "arguments": {"prices": prices}}
    return ask(call("use_tool", json.dumps(given), f"c{number}"))


def run_in_terminal(words: str, number: int) -> Play:
    return ask(call("terminal", json.dumps({"command": RUN.format(words)}), f"c{number}"))


READ = ask(call("skill_view", '{"name": "tally"}', "c0"))


@pytest.mark.parametrize(
    ("script", "plays", "expected"),
    [
        (BROKEN, [use_tool([], 1)], (0, 1)),
        (BROKEN, [use_tool([], 1), use_tool([1], 2)], (1, 0)),
        (BROKEN, [use_tool([1], 1), use_tool([], 2)], (0, 1)),
        (DIVIDE, [READ, run_in_terminal("", 1)], (0, 1)),
        (DIVIDE, [READ, run_in_terminal("4 2", 1)], (1, 0)),
    ],
)
async def test_a_script_that_fails_is_a_failed_use_although_the_turn_is_answered(
    tmp_path: Path, script: str, plays: list[Play], expected: tuple[int, int]
) -> None:
    write(tmp_path, {"add.py": script}, "  tools: add\n")
    search = ask(call("tool_search", '{"query": "a script of the skill tally"}'))
    model = greeted(search, *plays, say("That did not work."), say("Thanks to you."))
    async with running(tmp_path, model, TALARIA_TOOLS__BACKEND="local") as harness:
        await greet(harness)
        await harness.chat.says("add up")
        await harness.chat.sees_text("That did not work.")
        await harness.at_rest()
        await harness.chat.says("👍")  # praise makes no script whole
        await harness.chat.sees_text("Thanks to you.")
        await harness.at_rest()
        known = {one.row.name: one for one in await harness.read(list_records)}
        assert (known["tally"].tally.successes, known["tally"].tally.failures) == expected
