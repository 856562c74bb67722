"""An environment: `reset` makes a task from a seed, `step` plays one answer of the policy."""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_core.agent.budget import Limits
from agent_core.environments.contract import EnvironmentTask, Memory, TaskSet
from agent_core.environments.policy_model import PolicyModel
from agent_core.errors import CoreError, WorkspaceError
from agent_core.execution.contract import Backend
from agent_core.library.ai_agent import AIAgent, Answer
from agent_core.library.options import AgentOptions
from agent_core.models.contract import Model, ModelAnswer, ModelRequest, Usage
from agent_core.transcript import Message

_MODEL = "policy-1"
_PLAYER = "player"
_START = 1_767_225_600_000
"""2026-01-01 00:00 UTC, in milliseconds: in every episode, the time begins here."""
_MOST_BYTES = 1_000_000
_log = logging.getLogger(__name__)

MakeBackend = Callable[[Path], Backend]
"""Makes the place for commands of an episode below its folder."""
Policy = Callable[[ModelRequest], Awaitable[ModelAnswer]]
"""Answers a request. What it raises fails the episode, and no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """Says what a step led to: the next request for the policy, or the end with the reward.

    `fault` says why an episode broke; its reward is 0.
    """

    observation: ModelRequest | None
    reward: float = 0.0
    fault: str = ""

    @property
    def is_over(self) -> bool:
        """True at the end of the episode."""
        return self.observation is None


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeResult:
    """Says how an episode ended. `steps` are the answers of the policy."""

    seed: int
    reward: float
    steps: int
    fault: str = ""


class Clock:
    """A clock that moves by a second with each look, so that equal episodes see equal times."""

    def __init__(self) -> None:
        self._now = _START

    def __call__(self) -> int:
        """Return the time in milliseconds since the epoch."""
        self._now += 1000
        return self._now


class PlayedScene:
    """Shows what is left of an episode; see `Scene`."""

    def __init__(self, agent: AIAgent, backend: Backend | None) -> None:
        self._agent = agent
        self._backend = backend

    async def read_file(self, path: str) -> str | None:
        """Return the text of a file in the workspace."""
        person, _ = await self._agent.find_person(_PLAYER)
        if self._backend is None:
            return None
        try:
            found = await self._backend.read_file(person.slug, path, _MOST_BYTES)
        except WorkspaceError:
            return None
        return found.data.decode(errors="replace")

    async def read_memory(self) -> Memory:
        """Return what the assistant remembers."""
        memory = await self._agent.memory(person=_PLAYER)
        return {"memory": await memory.read("memory"), "user": await memory.read("user")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """An assistant in a folder of its own, made ready for one task."""

    task: EnvironmentTask
    agent: AIAgent
    backend: Backend | None

    async def ask(self) -> Answer:
        """Let the assistant do the task. Raises what `AIAgent.run_conversation` raises."""
        return await self.agent.run_conversation(self.task.prompt, person=_PLAYER)

    async def judge(self, tasks: TaskSet) -> float:
        """Return the reward for what is left."""
        return await tasks.judge(self.task, PlayedScene(self.agent, self.backend))


@asynccontextmanager
async def open_stage(
    tasks: TaskSet,
    task: EnvironmentTask,
    model: tuple[str, Model],
    make_backend: MakeBackend | None,
    most_steps: int,
) -> AsyncIterator[Stage]:
    """Open an assistant in a new folder, which is deleted in the end.

    Raises `CoreError` and `OSError`, and `ValueError` without a backend that the tasks need.
    """
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="talaria-rl-")))
        backend = None
        if tasks.needs_workspace:
            if make_backend is None:
                raise ValueError(f"The task set {tasks.name} needs a place for commands.")
            backend = make_backend(folder)
            stack.push_async_callback(backend.close)
        options = AgentOptions(
            backend=backend,
            limits=Limits(steps=most_steps, tokens=0, micro_dollars=0, seconds=0),
            patience=0.0,
            now=Clock(),
        )
        agent = await stack.enter_async_context(AIAgent.open(folder, model=model, options=options))
        person, _ = await agent.find_person(_PLAYER, tools=task.tools)
        if backend:
            for path, text in task.files.items():
                await backend.write_file(person.slug, path, text.encode())
        memory = await agent.memory(person=_PLAYER)
        for entry in task.known:
            await memory.add("user", entry)
        yield Stage(task=task, agent=agent, backend=backend)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Episode:
    """An episode under way."""

    stage: Stage
    model: PolicyModel
    turn: asyncio.Task[Answer]
    stack: AsyncExitStack


class Environment:
    """A task set to be played by a policy, one episode after the other.

    `reset` begins an episode and `step` goes on; several environments play beside each other.
    """

    def __init__(
        self, tasks: TaskSet, *, make_backend: MakeBackend | None = None, most_steps: int = 12
    ) -> None:
        """`most_steps` are the answers of the policy in an episode."""
        self._tasks = tasks
        self._make_backend = make_backend
        self._most_steps = most_steps
        self._episode: _Episode | None = None

    async def reset(self, seed: int) -> ModelRequest:
        """Begin the episode of a seed, and return the first request for the policy.

        Equal seeds and answers give equal requests. Raises `CoreError`, `OSError` and `ValueError`.
        """
        await self.close()
        model, task = PolicyModel(), self._tasks.make(seed)
        async with AsyncExitStack() as stack:
            stage = await stack.enter_async_context(
                open_stage(self._tasks, task, (_MODEL, model), self._make_backend, self._most_steps)
            )
            turn = asyncio.create_task(stage.ask())
            self._episode = _Episode(stage=stage, model=model, turn=turn, stack=stack.pop_all())
        first = await self._wait(self._episode)
        if first.observation is None:
            raise CoreError(first.fault or "the episode ended before the policy was asked")
        return first.observation

    async def step(self, answer: Message) -> StepResult:
        """Play an answer of the policy: its words, or its tool calls.

        Raises `RuntimeError` without an episode that runs.
        """
        episode = self._episode
        if episode is None or episode.turn.done():
            raise RuntimeError("the episode is over; begin one with reset")
        episode.model.answers.put_nowait(
            ModelAnswer(
                message=answer,
                stop="tools" if answer.calls else "end",
                usage=Usage(input_tokens=0, output_tokens=0),
                model=_MODEL,
            )
        )
        return await self._wait(episode)

    async def close(self) -> None:
        """End the episode, if one runs, and delete what it left."""
        episode, self._episode = self._episode, None
        if episode is None:
            return
        episode.turn.cancel()
        await asyncio.wait((episode.turn,))
        await episode.stack.aclose()

    async def _wait(self, episode: _Episode) -> StepResult:
        """Wait for the next request, or for the end and its reward."""
        asking = asyncio.create_task(episode.model.requests.get())
        await asyncio.wait((asking, episode.turn), return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return StepResult(observation=asking.result())
        asking.cancel()
        if error := episode.turn.exception():
            _log.error("the episode of seed %d broke", episode.stage.task.seed, exc_info=error)
            return StepResult(observation=None, fault=f"{type(error).__name__}: {error}")
        return StepResult(observation=None, reward=await episode.stage.judge(self._tasks))


async def play_all(
    make: Callable[[], Environment], seeds: Iterable[int], policy: Policy, *, at_once: int = 4
) -> Sequence[EpisodeResult]:
    """Play an episode for each seed, several at once; the results have the order of the seeds.

    An episode that breaks is one failed episode.
    """
    places = asyncio.Semaphore(at_once)

    async def play(seed: int) -> EpisodeResult:
        async with places:
            environment, steps = make(), 0
            try:
                observation: ModelRequest | None = await environment.reset(seed)
                end = StepResult(observation=None)
                while observation:
                    end = await environment.step((await policy(observation)).message)
                    observation, steps = end.observation, steps + 1
            except Exception as error:  # a bulkhead: a broken episode is one failed episode
                _log.exception("the episode of seed %d broke", seed)
                end = StepResult(observation=None, fault=f"{type(error).__name__}: {error}")
            finally:
                await environment.close()
            return EpisodeResult(seed=seed, reward=end.reward, steps=steps, fault=end.fault)

    return await asyncio.gather(*map(play, seeds))
