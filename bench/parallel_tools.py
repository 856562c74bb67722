"""Tools of one answer at the same time: eight that take a second each."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_core.tools.contract import ToolContext, ToolResult
from bench.figures import Figure
from tests.fakes.model import FakeModel, call, finish, say
from tests.fakes.tool import FakeTool
from tests.integration.harness import running

_CALLS = 8


async def measure() -> list[Figure]:
    """Return the time from the first tool's start to the last one's end."""
    moments: list[float] = []

    async def wait(_: Mapping[str, object], context: ToolContext) -> ToolResult:
        moments.append(time.perf_counter())
        await asyncio.sleep(1.0)
        moments.append(time.perf_counter())
        return ToolResult(text=f"{context.call_id} is done")

    model = FakeModel()
    model.plays += [
        [finish(*(call("wait", call_id=f"c{number}") for number in range(_CALLS)), stop="tools")],
        say("All done."),
    ]
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        async with running(Path(folder), model, tools=(FakeTool("wait", wait),)) as harness:
            await harness.chat.says("go")
            await harness.chat.sees_text("All done.")
            await harness.at_rest()
    return [
        Figure(
            name=f"{_CALLS} tools of a second each",
            unit="s",
            value=max(moments) - min(moments),
            at_most=1.3,
        )
    ]
