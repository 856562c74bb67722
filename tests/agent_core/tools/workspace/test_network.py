"""What the model learns of the network of its commands."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.execution.local import LocalBackend, find_bubblewrap
from agent_core.state.engine.database import Database
from agent_core.tools.contract import ToolResult
from agent_core.tools.network.proxy import AllowedHosts, SandboxProxy
from agent_core.tools.policy.verdicts import Rule
from tests.agent_core.execution.backends import LIMITS, needs_bubblewrap
from tests.agent_core.tools.workspace.desk import Desk

SENTENCE = "[Network: evil.test is not on the allow list of the sandbox.]"
ASK = (
    "exec 3<> /dev/tcp/127.0.0.1/3128;"
    " printf 'CONNECT evil.test:443 HTTP/1.1\\r\\n\\r\\n' >&3; read -r line <&3"
)

pytestmark = [needs_bubblewrap, pytest.mark.process]


@pytest.fixture
async def open_desk(database: Database, tmp_path: Path) -> AsyncIterator[Desk]:
    network = SandboxProxy(("anna",), AllowedHosts(("good.test",)))
    places = tmp_path / "workspaces"
    backend = LocalBackend(places, LIMITS, program=find_bubblewrap() or "", network=network)
    rules = (Rule(effect="allow", tool="*"),)
    desk = Desk(database, tmp_path, backend, rules=rules)
    yield desk
    await desk.background.close()


async def call_nothing(*_: object) -> ToolResult:
    raise AssertionError("the code calls no tool")


async def test_a_command_shows_what_its_network_refused(open_desk: Desk) -> None:
    assert await open_desk.say("terminal", command=ASK) == f"[No output.]\n{SENTENCE}"


async def test_code_shows_it_too(open_desk: Desk) -> None:
    code = f"import subprocess\nsubprocess.run(['/bin/bash', '-c', {ASK!r}])"
    tool = next(one for one in open_desk.tools if one.spec.name == "execute_code")
    context = replace(open_desk.context(), call_tool=call_nothing)
    assert SENTENCE in (await tool.run({"code": code}, context)).text


async def test_a_command_in_the_background_writes_it_into_its_output(open_desk: Desk) -> None:
    await open_desk.say("terminal", command=ASK, background=True)
    assert SENTENCE in await open_desk.say("process", action="wait", id="p1")
    assert SENTENCE in await open_desk.say("read_file", path=".processes/p1.log")


async def test_the_shell_keeps_no_way_to_the_network(open_desk: Desk) -> None:
    said = await open_desk.say("terminal", command="export KEPT=1; echo $https_proxy")
    assert said == "http://127.0.0.1:3128"
    said = await open_desk.say(
        "terminal", command="echo $KEPT $HTTPS_PROXY; tr '\\0' '\\n' < .shell/1"
    )
    assert said.startswith("1 http://127.0.0.1:3128\n")
    assert said.count("3128") == 1


async def test_a_file_that_commands_obey_needs_a_yes_where_they_have_a_network(
    open_desk: Desk, desk: Desk
) -> None:
    """Programs run what a start file or a setting names, so writing one runs any command."""
    asking = Desk(open_desk.database, open_desk.place.parents[1], open_desk.backend)
    for path in (".shell/1", ".git/config", ".curlrc", "a/.npmrc", ".vscode/x", "a.pth"):
        written = await asking.say("write_file", path=path, content="x")
        patched = await asking.say("patch", path=path, old="a", new="b")
        assert "`write_file` was not run" in written
        assert "`patch` was not run" in patched
    assert not (asking.place / ".shell").exists()
    assert not (await asking.use("write_file", path="a.txt", content="x")).is_error
    assert not (await desk.use("write_file", path=".git/config", content="x")).is_error
