"""The servers that the makers of MCP publish on npm.

They are installed once into a folder outside of the repository: MCP_TEST_NPM, or
`talaria-mcp-npm` in the cache of the user. `.ci/run` does that where npm works.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.execution.local import find_bubblewrap
from agent_core.tools.mcp.calls import CallHooks, RunningCall
from agent_core.tools.mcp.contract import McpServer
from agent_core.tools.mcp.forms import Form, FormAnswer, PageLink
from tests.agent_core.tools.mcp.conftest import Open, call
from tests.agent_core.tools.mcp.npm_folder import FOLDER

PROGRAMS = FOLDER / "node_modules" / "@modelcontextprotocol"
pytestmark = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("node"), reason="node is not installed"),
    pytest.mark.skipif(not find_bubblewrap(), reason="bubblewrap is not installed"),
    pytest.mark.skipif(not PROGRAMS.is_dir(), reason=f"{FOLDER} has no servers from npm"),
]


def npm_server(name: str, *words: str, writable: tuple[Path, ...] = ()) -> McpServer:
    return McpServer(
        name=name,
        argv=("node", str(PROGRAMS / f"server-{name}" / "dist" / "index.js"), *words),
        readable=(FOLDER,),
        writable=writable,
    )


async def test_everything(open_server: Open) -> None:
    async with open_server(npm_server("everything")) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert len(tools) >= 10
        assert all(not tool.fault for tool in tools.values())
        assert (await call(session, "echo", {"message": "hi"})).text == "Echo: hi"
        picture = await call(session, "get-tiny-image", {})
        assert "image/png" in picture.text
        wrong = await call(session, "get-sum", {"a": "one"})
        assert wrong.is_error


async def test_everything_reports_asks_and_offers(open_server: Open) -> None:
    notes: list[str] = []

    async def ask(question: Form | PageLink, number: int) -> FormAnswer:
        assert isinstance(question, Form)
        assert "name" in {one.name for one in question.fields}
        return FormAnswer(action="accept", content={"name": "Ada"})

    hooks = CallHooks(note=notes.append, ask=ask)
    async with open_server(npm_server("everything")) as session:
        await call(session, "trigger-long-running-operation", {"duration": 0.1, "steps": 2}, hooks)
        asked = await call(session, "trigger-elicitation-request", {}, hooks)
        running = RunningCall(hooks, 20)
        resources = await session.get("resource", "", {}, running)
        uri = resources.text.split(": ")[0]
        read = await session.get("resource", uri, {}, running)
        prompt = await session.get("prompt", "args-prompt", {"city": "Oslo"}, running)
    assert notes[-1] == "2/2"
    assert "Ada" in asked.text
    assert len(read.text) > 100
    assert prompt.text == "user: What's weather in Oslo?"


async def test_everything_gets_no_environment(
    open_server: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-private")
    async with open_server(npm_server("everything")) as session:
        found = await call(session, "get-env", {})
    assert "sk-private" not in found.text


async def test_filesystem(open_server: Open, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("buy milk")
    (tmp_path / "private.txt").write_text("private")
    server = npm_server("filesystem", str(notes), writable=(notes,))
    async with open_server(server) as session:
        read = await call(session, "read_text_file", {"path": str(notes / "a.txt")})
        assert "buy milk" in read.text
        refused = await call(session, "read_text_file", {"path": str(tmp_path / "private.txt")})
        assert refused.is_error
        await call(session, "write_file", {"path": str(notes / "b.txt"), "content": "done"})
    assert (notes / "b.txt").read_text() == "done"


async def test_memory(open_server: Open) -> None:
    # Its own folder, which the sandbox shows as the workspace, is the only one that it may write.
    server = replace(npm_server("memory"), environ={"MEMORY_FILE_PATH": "/workspace/graph.json"})
    async with open_server(server) as session:
        entity = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
        made = await call(session, "create_entities", {"entities": [entity]})
        assert not made.is_error, made.text
        found = await call(session, "search_nodes", {"query": "tea"})
    graph: Mapping[str, object] = json.loads(found.text)
    assert "Ada" in json.dumps(graph)
