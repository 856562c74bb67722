"""A turn whose command is lost with its sandbox goes on, and the model learns what happened."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.transcript import ToolResultPart
from tests.agent_core.execution.accounts import open_account
from tests.emulators.modal import TOKEN
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.harness import running
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow]

ON = {
    "TALARIA_TOOLS__BACKEND": "modal",
    "MODAL_TOKEN_ID": TOKEN[0],
    "MODAL_TOKEN_SECRET": TOKEN[1],
}


def run(command: str) -> list[object]:
    """An answer that runs a command."""
    return [*ask(call("terminal", json.dumps({"command": command})))]


async def test_a_lost_sandbox_is_an_error_in_its_turn_and_the_next_command_works(
    tmp_path: Path,
) -> None:
    model = FakeModel(
        run("touch kept"),  # type: ignore[arg-type]
        run("touch begun; sleep 600"),  # type: ignore[arg-type]
        run("ls"),  # type: ignore[arg-type]
        say("It was lost, and I looked again."),
    )
    async with (
        open_account("modal", tmp_path / "sandboxes") as account,
        running(tmp_path / "home", model, **ON) as harness,
    ):
        await harness.chat.says("build it")
        async with asyncio.timeout(PATIENCE):
            while not any((place / "begun").exists() for place in account.list_workspaces()):
                await asyncio.sleep(0.01)
        await account.lose()
        await harness.chat.sees_text("It was lost, and I looked again.")
        await harness.at_rest()
    lost, listed = (
        part
        for request in model.requests[2:]
        for part in request.messages[-1].parts
        if isinstance(part, ToolResultPart)
    )
    assert lost.is_error
    assert lost.text.startswith("`terminal` failed: the command was lost (")
    assert lost.text.endswith("look before you repeat it.")
    assert (listed.text, listed.is_error) == ("kept", False)
    assert account.list_awake() == []
