"""The log of turns: each line names its turn, in tools, threads, failures and deliveries."""

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path

from adapters.errors import Rejected
from agent_core.state.conversations import turns
from agent_core.tools.contract import ToolContext, ToolResult
from gateway.app.logging import logging_to
from gateway.app.tables import LogSettings
from gateway.home import LOG
from tests.fakes.model import FakeModel, ask, call, say
from tests.fakes.tool import FakeTool
from tests.integration.harness import running

_log = logging.getLogger("gateway.test")


async def look(_: Mapping[str, object], __: ToolContext) -> ToolResult:
    _log.info("in a tool")
    await asyncio.to_thread(_log.info, "in a thread")
    return ToolResult(text="seen")


async def fail() -> None:
    raise RuntimeError("planned")


async def test_each_line_of_a_turn_names_it(tmp_path: Path) -> None:
    model = FakeModel(ask(call("look")), say("One."), [fail], say("Three."))
    settings = LogSettings(format="json")
    with logging_to(settings, tmp_path, hidden=[], to_stderr=False):
        async with running(tmp_path, model, tools=(FakeTool("look", look),)) as harness:
            await harness.chat.says("first")
            await harness.chat.sees_text("One.")
            await harness.at_rest()
            await harness.chat.says("second")
            await harness.chat.sees(2)
            await harness.at_rest()
            harness.chat.plan(Rejected("unwanted"))
            await harness.chat.says("third")
            await harness.until(lambda: not model.plays)
            await harness.at_rest()
            _log.info("outside")
            third, second, first = await harness.read(lambda c: turns.list_recent(c, limit=3))
    entries = [json.loads(line) for line in tmp_path.joinpath(LOG).read_text().splitlines()]
    named = {one["message"]: one.get("turn") for one in entries}
    assert (named["in a tool"], named["in a thread"]) == (first.id, first.id)
    assert named["outside"] is None
    broken = next(one for one in entries if "RuntimeError: planned" in one.get("traceback", ""))
    assert broken["turn"] == second.id
    refused = [one["turn"] for one in entries if "unwanted" in one["message"]]
    assert refused == [third.id]
