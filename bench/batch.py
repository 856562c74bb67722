"""A batch of tasks whose model waits two seconds: how near it comes to the ideal time."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_core.batch.run import BatchLimits, BatchRun
from agent_core.batch.task_file import read_task_file
from agent_core.library.ai_agent import AIAgent
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from bench.figures import Figure
from tests.fakes.model import say

_WAIT = 2.0
_AT_ONCE = 50


class SlowModel:
    """Answers "Done." after two seconds."""

    provider = "slow"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        await asyncio.sleep(_WAIT)
        for piece in say("Done."):
            assert isinstance(piece, TextDelta | ModelAnswer)
            yield piece

    async def check(self, model: str) -> None: ...

    async def close(self) -> None: ...


async def measure(tasks: int) -> list[Figure]:
    """Return the wall time of all tasks by the ideal one, and the tasks that are not done."""
    lines = (json.dumps({"prompt": f"Say done, number {number}."}) for number in range(tasks))
    data = "\n".join(lines).encode()
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        began, cpu = time.perf_counter(), time.process_time()
        async with AIAgent.open(Path(folder), model=("slow-1", SlowModel())) as agent:
            run = BatchRun(agent, None, BatchLimits(at_once=_AT_ONCE))
            await run.load(read_task_file(data, agent.tool_names, has_place=False))
            await run.run()
            done = sum(one.state == "done" and len(one.attempts) == 1 for one in run.records)
        took, spent = time.perf_counter() - began, time.process_time() - cpu
    name = f"{tasks:,} tasks, {_AT_ONCE} at once"
    ideal = tasks / _AT_ONCE * _WAIT
    return [
        Figure(name=f"{name}, by the ideal {ideal:g} s", unit="x", value=took / ideal, at_most=1.3),
        Figure(name=f"{name}, lost or twice", unit="", value=tasks - done, at_most=0),
        Figure(name=f"{name}, CPU of a task", unit="ms", value=spent / tasks * 1000),
    ]
