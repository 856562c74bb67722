"""Letta's own library reads our agent files, and we read what it writes.

It is not among the dependencies: `make try-letta` installs it. See `tests/libraries`.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_core.agent.named.agent_files import AgentChange
from agent_core.agent.named.editor import Author
from agent_core.agent.named.file_transfer import export_agent, import_agent
from agent_core.tools.selection.call_rules import CallRule
from tests.agent_core.agent.bench import Bench
from tests.agent_core.agent.named.editing import make_editor

SCRIPT = Path(__file__).parents[3] / "libraries" / "letta_library.py"
PYTHON = Path(os.environ.get("LETTA_PYTHON", "/nowhere"))
TOOLS = {
    "web_search": "web_search",
    "web_fetch": "fetch_webpage",
    "execute_code": "run_code",
    "recall": "conversation_search",
    "archive": "archival_memory_insert",
    "memory": "memory",
    "read_file": "open_files",
    "search_files": "grep_files",
    "message_agent": "send_message_to_agent_async",
}
"""Tools, and how Letta names the tool that does the same."""

RULES = (
    "constrain_child_tools web_search",
    "exit_loop archival_memory_insert",
    "max_count_per_step web_search",
    "parent_last_tool web_search",
    "required_before_exit conversation_search",
    "run_first conversation_search",
)


@pytest.mark.process
@pytest.mark.thorough
@pytest.mark.skipif(not PYTHON.exists(), reason="`make try-letta` installs Letta's library")
async def test_letta_reads_our_file_and_we_read_what_it_writes(
    bench: Bench, tmp_path: Path
) -> None:
    editor, owner = make_editor(bench), Author()
    data = (Path(__file__).parent / "letta" / "present.af").read_bytes()
    await import_agent(editor, data, bench.person.id, owner, name="anna")
    rules = (
        CallRule(tool="recall", must_run_first=True, must_run_before_end=True),
        CallRule(tool="web_search", most_per_turn=3, then_only=("web_fetch",)),
        CallRule(tool="web_fetch", only_after=("web_search",)),
        CallRule(tool="archive", ends_turn=True),
    )
    change = AgentChange(soul="You help.", tools=tuple(TOOLS), tags=("shop",), rules=rules)
    editor.files.change("anna", change)
    paths = [tmp_path / name for name in ("in.af", "out.af", "own.af")]
    paths[0].write_bytes(await export_agent(editor, "anna", bench.person.id))
    held = await let_letta_read(tmp_path, paths)
    assert set(TOOLS.values()) <= set(held.pop("tools"))
    assert set(RULES) <= set(held.pop("rules")), "Letta adds its usual rules to its own tools"
    assert held == {
        "name": "anna",
        "system": "You help.",
        "tags": ["shop"],
        "blocks": {"human": "Name: Ada\n\nLives in Graz", "persona": "I am patient."},
        "messages": len(json.loads(paths[0].read_text())["agents"][0]["messages"]),
    }

    again = await import_agent(
        editor, paths[1].read_bytes(), bench.person.id, owner, name="anna-again"
    )
    assert (again.messages, again.left_out) == (6, ())
    first, second = (editor.files.agents.find(name) for name in ("anna", "anna-again"))
    assert (first.tools, first.rules, first.tags) == (second.tools, second.rules, second.tags)

    born = await import_agent(editor, paths[2].read_bytes(), bench.person.id, owner)
    assert (born.name, born.blocks, born.messages) == ("born-in-letta", ("born-in-letta-human",), 2)
    assert "memory" in (editor.files.agents.find("born-in-letta").tools or ())


async def let_letta_read(home: Path, paths: list[Path]) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        str(PYTHON),
        str(SCRIPT),
        str(home),
        *map(str, paths),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "LETTA_DIR": str(home / ".letta")},
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()[-3000:]
    held: dict[str, Any] = json.loads(out.decode().strip().splitlines()[-1])
    return held
