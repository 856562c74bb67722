"""The task sets behind the interface of `verifiers`: our loop is its harness, our judge its reward.

`verifiers` and the extra `talaria[rl]` are needed. Each task set is a package of its own, because
`verifiers` finds them by the names of packages; see examples/environments.
"""

from collections.abc import Iterator
from typing import ClassVar

import verifiers.v1 as vf

from agent_core.environments.chat_model import ChatModel
from agent_core.environments.contract import TaskSet
from agent_core.environments.episode import open_stage
from agent_core.environments.sandbox import make_sandbox

_REWARD = "talaria_reward"


class SeededData(vf.TaskData):
    """A task on the wire: its seed makes all of it."""

    seed: int = 0


class SeededTasksConfig(vf.TasksetConfig):
    """`first` and `count` choose the seeds."""

    first: int = 0
    count: int = 100


class SeededTask(vf.Task[SeededData]):
    """A task of one of our task sets."""

    tasks: ClassVar[TaskSet]

    @vf.reward
    async def solved(self, trace: vf.Trace) -> float:
        """Return what our judge said right after the turn."""
        return float(trace.info.get(_REWARD, 0.0))


class TalariaHarnessConfig(vf.HarnessConfig):
    """`most_steps` are the answers of the model in an episode."""

    most_steps: int = 12


class TalariaHarness(vf.Harness[TalariaHarnessConfig]):
    """Our loop in this process; every model call goes through the endpoint of `verifiers`."""

    NEEDS_CONTAINER = False
    EXECUTES_CODE = False
    """Commands run in our own sandbox, and not in the runtime of `verifiers`."""
    tasks: ClassVar[TaskSet]

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Play an episode. A turn that fails is a failed program."""
        task = self.tasks.make(SeededData(**data.model_dump()).seed)
        model = ChatModel(endpoint, secret)
        try:
            async with open_stage(
                self.tasks, task, (ctx.model, model), make_sandbox, self.config.most_steps
            ) as stage:
                answer = await stage.ask()
                trace.info[_REWARD] = await stage.judge(self.tasks)
        finally:
            await model.close()
        failed = answer.ending == "failed"
        said = f"{answer.reason}: {answer.detail}" if failed else ""
        return vf.ProgramResult(exit_code=int(failed), stdout=answer.text, stderr=said)


def list_tasks(kind: type[SeededTask], config: SeededTasksConfig) -> Iterator[SeededTask]:
    """List the tasks of the chosen seeds."""
    for seed in range(config.first, config.first + config.count):
        task = kind.tasks.make(seed)
        yield kind(SeededData(seed=seed, id=f"{kind.tasks.name}-{seed}", prompt=task.prompt))
