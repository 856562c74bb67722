"""A skill's script in a conversation: the model finds it, calls it, and its use is counted."""

import json
from pathlib import Path

import pytest

from agent_core.execution.local import find_bubblewrap
from agent_core.skills.usage import list_records
from tests.agent_core.execution.tally_skill import TALLY, write
from tests.fakes.model import ask, call, say
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
