"""A batch in a process of its own, which kills itself at a moment that the test chose.

`python -m tests.agent_core.batch.player FOLDER TASKS DIE_AT SEED`: each task calls the tool `mark`
once, which writes a line into FOLDER/marks, and then answers.
"""

import asyncio
import json
import os
import random
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

from agent_core.batch.run import BatchLimits, BatchRun
from agent_core.batch.task_file import read_task_file
from agent_core.library.ai_agent import AIAgent
from agent_core.library.options import AgentOptions
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.tools.contract import ToolContext, ToolResult
from tests.fakes.model import ask, call, say
from tests.fakes.tool import FakeTool

MARKS, CALLS = "marks", "calls"


class Death:
    """Ends the process a little after the chosen event, on another thread: at any instruction."""

    def __init__(self, at: int, seed: int) -> None:
        self._left = at
        self._delay = random.Random(seed).uniform(0, 0.004)

    def pass_by(self) -> None:
        self._left -= 1
        if self._left == 0:
            threading.Timer(self._delay, os.kill, (os.getpid(), signal.SIGKILL)).start()


class Marker:
    """A model that calls `mark` with the words of its task, and then says that it is done."""

    provider = "marker"

    def __init__(self, folder: Path, death: Death) -> None:
        self._folder, self._death = folder, death

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self._death.pass_by()
        await asyncio.sleep(0.001)
        words = next(one.text for one in request.messages if one.role == "user")
        is_marked = any(one.role == "tool" for one in request.messages)
        write_line(self._folder / CALLS, f"{words} {is_marked}")
        play = say("Done.") if is_marked else ask(call("mark", json.dumps({"words": words})))
        for piece in play:
            assert isinstance(piece, TextDelta | ModelAnswer)
            yield piece
        self._death.pass_by()

    async def check(self, model: str) -> None: ...

    async def close(self) -> None: ...


def write_line(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(f"{line}\n")


async def main(folder: Path, data: bytes, at: int, seed: int) -> None:
    death = Death(at, seed)

    async def mark(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        death.pass_by()
        write_line(folder / MARKS, str(arguments["words"]))
        return ToolResult(text="Marked.")

    options = AgentOptions(tools=(FakeTool("mark", mark, effect="unsafe"),))
    model = ("marker-1", Marker(folder, death))
    async with AIAgent.open(folder, model=model, options=options) as agent:
        run = BatchRun(agent, None, BatchLimits(at_once=4))
        await run.load(read_task_file(data, agent.tool_names, has_place=False))
        await run.run()


if __name__ == "__main__":
    asyncio.run(
        main(Path(sys.argv[1]), Path(sys.argv[2]).read_bytes(), int(sys.argv[3]), int(sys.argv[4]))
    )
