"""Episodes: reset, step and reward; equal for equal seeds, apart from each other, and judged."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_core.environments.contract import TaskSet
from agent_core.environments.episode import Environment, play_all
from agent_core.environments.memory_tasks import MemoryTasks
from agent_core.environments.terminal_tasks import TerminalTasks
from agent_core.execution.contract import Backend
from agent_core.models.contract import ModelAnswer, ModelRequest
from agent_core.transcript import Message, TextPart
from tests.agent_core.execution.backends import make_local, needs_bubblewrap
from tests.fakes.model import call, finish

DONE = finish(TextPart(text="Done."))
SOLUTIONS = {
    "sorted as plain text": "LC_ALL=C sort -u names.txt > out.txt",
    "Add up the column": "tail -n +2 bills.csv | cut -d, -f2 | paste -sd+ | bc > sum.txt"
    " || awk -F, 'NR>1{s+=$2} END{print s}' bills.csv > sum.txt",
    "names a key": "grep -rhoE 'key-[0-9]+' notes > key.txt;"
    " basename $(grep -rlE 'key-[0-9]+' notes) > file.txt",
}


def make_backend(folder: Path) -> Backend:
    return make_local(folder)


def has_result(request: ModelRequest) -> bool:
    return any(one.role == "tool" for one in request.messages)


async def solve_terminal(request: ModelRequest) -> ModelAnswer:
    """A scripted policy that knows the three kinds of tasks."""
    if has_result(request):
        return DONE
    words = request.messages[0].text
    command = next(shell for part, shell in SOLUTIONS.items() if part in words)
    return finish(call("terminal", json.dumps({"command": command})), stop="tools")


async def solve_memory(request: ModelRequest) -> ModelAnswer:
    """A scripted policy that saves, corrects, or leaves the memory alone."""
    words = request.messages[0].text
    if has_result(request) or "nice word" in words:
        return finish(TextPart(text="Yes."))
    if found := re.search(r"My (\w+) is (.+) now, no longer (.+)\. Please", words):
        change = {"action": "replace", "old": found[3], "text": f"Their {found[1]} is {found[2]}."}
    else:
        saved = re.search(r"my (\w+) is (.+)\.$", words)
        assert saved
        change = {"action": "add", "text": f"Their {saved[1]} is {saved[2]}."}
    arguments = json.dumps({**change, "target": "user"})
    return finish(call("memory", arguments), stop="tools")


async def do_nothing(request: ModelRequest) -> ModelAnswer:
    return DONE


def show(requests: Sequence[ModelRequest]) -> str:
    return repr([(one.system, one.tools, one.messages) for one in requests])


async def play_once(tasks: TaskSet, seed: int) -> tuple[list[ModelRequest], float]:
    environment = Environment(tasks, make_backend=make_backend)
    policy = solve_terminal if tasks.needs_workspace else solve_memory
    seen, reward = list[ModelRequest](), 0.0
    observation: ModelRequest | None = await environment.reset(seed)
    while observation:
        seen.append(observation)
        end = await environment.step((await policy(observation)).message)
        observation, reward = end.observation, end.reward
    await environment.close()
    return seen, reward


async def test_a_policy_that_knows_the_memory_gets_every_reward() -> None:
    played = await play_all(lambda: Environment(MemoryTasks()), range(9), solve_memory)
    assert [one.reward for one in played] == [1.0] * 9, played
    idle = await play_all(lambda: Environment(MemoryTasks()), range(9), do_nothing)
    assert [one.reward for one in idle] == [0.0, 0.0, 1.0] * 3


@needs_bubblewrap
@pytest.mark.process
async def test_a_policy_that_knows_the_shell_gets_every_reward() -> None:
    def make() -> Environment:
        return Environment(TerminalTasks(), make_backend=make_backend)

    played = await play_all(make, range(6), solve_terminal, at_once=3)
    assert [one.reward for one in played] == [1.0] * 6, played
    idle = await play_all(make, range(3), do_nothing)
    assert [one.reward for one in idle] == [0.0] * 3


@pytest.mark.parametrize("seed", [0, 1, 2])
async def test_equal_seeds_give_equal_episodes(seed: int) -> None:
    first, second = await play_once(MemoryTasks(), seed), await play_once(MemoryTasks(), seed)
    assert show(first[0]) == show(second[0])
    assert first[1] == second[1] == 1.0
    other = await play_once(MemoryTasks(), seed + 3)
    assert show(first[0]) != show(other[0])


@needs_bubblewrap
@pytest.mark.process
async def test_equal_seeds_give_equal_episodes_in_the_sandbox() -> None:
    first, second = await play_once(TerminalTasks(), 2), await play_once(TerminalTasks(), 2)
    assert show(first[0]) == show(second[0])


async def test_a_crashed_episode_is_one_failed_episode() -> None:
    async def crash(request: ModelRequest) -> ModelAnswer:
        if "no longer" in request.messages[0].text:
            raise ZeroDivisionError("a bug in the policy")
        return await solve_memory(request)

    played = await play_all(lambda: Environment(MemoryTasks()), range(6), crash, at_once=6)
    assert [one.reward for one in played] == [1.0, 0.0, 1.0] * 2
    assert [one.fault for one in played if one.fault] == [
        "ZeroDivisionError: a bug in the policy"
    ] * 2


async def test_a_policy_without_end_is_stopped() -> None:
    async def go_on(request: ModelRequest) -> ModelAnswer:
        number = len(request.messages)
        change = {"action": "add", "target": "user", "text": f"Fact {number}."}
        return finish(call("memory", json.dumps(change), f"c{number}"), stop="tools")

    def make() -> Environment:
        return Environment(MemoryTasks(), most_steps=3)

    played = await play_all(make, [0], go_on)
    assert (played[0].fault, played[0].reward) == ("", 0.0)
    assert played[0].steps <= 8


async def test_a_wrong_memory_gets_nothing() -> None:
    async def forget(request: ModelRequest) -> ModelAnswer:
        if has_result(request):
            return DONE
        found = re.search(r"^- (.*)$", request.system.partition("USER.md")[2], re.MULTILINE)
        assert found
        change = {"action": "remove", "target": "user", "old": found[1]}
        return finish(call("memory", json.dumps(change)), stop="tools")

    played = await play_all(lambda: Environment(MemoryTasks()), [2], forget)
    assert played[0].reward == 0.0


async def test_a_step_without_an_episode_is_a_mistake() -> None:
    environment = Environment(MemoryTasks())
    with pytest.raises(RuntimeError, match="begin one with reset"):
        await environment.step(Message(role="assistant", parts=()))
    with pytest.raises(ValueError, match="needs a place for commands"):
        await Environment(TerminalTasks()).reset(1)
