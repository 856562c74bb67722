"""Where allowed hosts are the wall, Always lasts beyond outputs, without a network."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.texts import approvals
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.accounts import count, enrol
from tests.integration.harness import running
from tests.integration.model_requests import results

pytestmark = [pytest.mark.process, needs_bubblewrap]

SETTINGS: dict[str, Any] = {
    "TALARIA_TOOLS__BACKEND": "local",
    "TALARIA_TOOLS__NETWORK_PEOPLE": "*",
    "TALARIA_TOOLS__NETWORK_HOSTS": "allowed.example",
}
SCRIPT = "import os\nprint('has a proxy' if 'http_proxy' in os.environ else 'has none of it')\n"


def run(number: int, command: str = "python3 look.py") -> Play:
    return ask(call("terminal", json.dumps({"command": command}), f"c{number}"))


async def test_always_lasts_beyond_outputs_without_a_network(tmp_path: Path) -> None:
    workspace = tmp_path / "workspaces" / "ana"
    workspace.mkdir(parents=True)
    (workspace / "look.py").write_text(SCRIPT)
    model = FakeModel(run(1), say("First."), run(2), say("Second."))
    async with running(tmp_path, model, chat=FakeChat(), **SETTINGS) as harness:
        await enrol(harness, "1", "Ana", owner=True)
        chat = harness.chat
        await chat.says("run it")
        await chat.until(lambda: bool(chat.shown) and approvals.ALWAYS() in chat.shown[-1].labels)
        assert "to the allowed addresses" in chat.shown[-1].text
        assert "this runs without network access" in chat.shown[-1].text
        await chat.press(approvals.ALWAYS())
        await chat.sees_text("First.")
        assert "has a proxy" in results(model)[-1]
        await harness.at_rest()
        asked = await count(harness, "questions")
        await chat.says("and again")
        await chat.sees_text("Second.")
        assert "has none of it" in results(model)[-1]
        assert "It had no network" in results(model)[-1]
        assert await count(harness, "questions") == asked


async def test_an_output_that_only_says_how_it_went_is_no_text_of_others(tmp_path: Path) -> None:
    (tmp_path / "workspaces" / "ana").mkdir(parents=True)
    note = json.dumps({"action": "add", "target": "memory", "text": "Owns a red car."})
    save = ask(call("memory", note, "m1"))
    model = FakeModel(run(1, "echo OK"), save, say("Saved."), run(2, "echo be kind"))
    model.plays += [ask(call("memory", note.replace("red", "blue"), "m2")), say("Proposed.")]
    async with running(tmp_path, model, chat=FakeChat(), TALARIA_TOOLS__BACKEND="local") as harness:
        await enrol(harness, "1", "Ana", owner=True)
        await harness.chat.says("try it")
        await harness.chat.sees_text("Saved.")
        await harness.at_rest()
        assert await count(harness, "ledger", "actor LIKE 'turn:%'") == 1
        await harness.chat.says("and that")
        await harness.chat.sees_text("Proposed.")
        await harness.at_rest()
        assert await count(harness, "ledger", "actor LIKE 'turn:%'") == 1
