"""A batch in this process, with a model whose answers are a function of the task's words."""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

from agent_core.batch.records import TaskRecord
from agent_core.batch.run import BatchLimits, BatchRun
from agent_core.batch.task_file import read_task_file
from agent_core.errors import ModelError
from agent_core.execution.contract import Backend
from agent_core.library.ai_agent import AIAgent
from agent_core.library.options import AgentOptions
from agent_core.models.catalog import Price, Prices
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from tests.fakes.model import Play

Answers = Callable[[str, ModelRequest], Play]


class Talker:
    """A model whose answer is a function of the task's words."""

    provider = "talker"

    def __init__(self, answer: Answers) -> None:
        self.answer, self.requests = answer, list[ModelRequest]()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.requests.append(request)
        words = next(one.text for one in request.messages if one.role == "user")
        for piece in self.answer(words, request):
            if isinstance(piece, ModelError):
                raise piece
            if isinstance(piece, TextDelta | ModelAnswer):
                yield piece
            else:
                await piece()

    async def check(self, model: str) -> None: ...

    async def close(self) -> None: ...


def write(*tasks: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, tasks)).encode()


async def run_batch(
    folder: Path,
    answer: Answers,
    data: bytes,
    *,
    limits: BatchLimits | None = None,
    backend: Backend | None = None,
    meanwhile: Callable[[BatchRun], None] = lambda _: None,
) -> tuple[Sequence[TaskRecord], BatchRun, Talker]:
    model = Talker(answer)
    options = AgentOptions(
        backend=backend,
        patience=0.0,
        prices=Prices(own={"fake-1": Price(input=1_000_000, output=1_000_000)}),
    )
    async with AIAgent.open(folder, model=("fake-1", model), options=options) as agent:
        run = BatchRun(agent, backend, limits or BatchLimits(), show=meanwhile)
        found = read_task_file(data, agent.tool_names, has_place=backend is not None)
        await run.load(found)
        await run.run()
        return run.records, run, model
