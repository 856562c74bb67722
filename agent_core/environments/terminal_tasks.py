"""Small tasks in a terminal; the files that are left decide."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from agent_core.environments.contract import EnvironmentTask, Scene

_TOOLS = ("terminal", "read_file", "write_file")
_NAMES = ("ada", "ben", "cleo", "dora", "emil", "fay", "gus", "hedy", "ivo", "jana")


def _make_sorting(chance: random.Random, seed: int) -> EnvironmentTask:
    words = [f"{chance.choice(_NAMES)} {chance.randint(1, 99)}" for _ in range(8)]
    return EnvironmentTask(
        seed=seed,
        prompt=(
            "The file names.txt has one line per person. Write its lines to out.txt, sorted as"
            " plain text, each different line once."
        ),
        tools=_TOOLS,
        files={"names.txt": "\n".join(words) + "\n"},
        wanted={"out.txt": "\n".join(sorted(set(words)))},
    )


def _make_sum(chance: random.Random, seed: int) -> EnvironmentTask:
    rows = [(chance.choice(_NAMES), chance.randint(1, 500)) for _ in range(6)]
    lines = ["name,amount", *(f"{name},{amount}" for name, amount in rows)]
    return EnvironmentTask(
        seed=seed,
        prompt=(
            "Add up the column amount of bills.csv. Write the sum, only the number, to sum.txt."
        ),
        tools=_TOOLS,
        files={"bills.csv": "\n".join(lines) + "\n"},
        wanted={"sum.txt": str(sum(amount for _, amount in rows))},
    )


def _make_search(chance: random.Random, seed: int) -> EnvironmentTask:
    names = chance.sample(_NAMES, 5)
    key = f"key-{chance.randint(1000, 9999)}"
    holder = chance.choice(names)
    files = {
        f"notes/{name}.txt": f"Notes of {name}.\n" + (f"The key is {key}.\n" * (name == holder))
        for name in names
    }
    return EnvironmentTask(
        seed=seed,
        prompt=(
            "One file below notes/ names a key such as key-1234. Write the key to key.txt, and the"
            " name of that file without its folder to file.txt."
        ),
        tools=_TOOLS,
        files=files,
        wanted={"key.txt": key, "file.txt": f"{holder}.txt"},
    )


_KINDS: tuple[Callable[[random.Random, int], EnvironmentTask], ...] = (
    _make_sorting,
    _make_sum,
    _make_search,
)


@dataclass(frozen=True, slots=True)
class TerminalTasks:
    """Sort lines, add up a column, or find a file; see `TaskSet`."""

    name: str = "terminal"
    needs_workspace: bool = True

    def make(self, seed: int) -> EnvironmentTask:
        """Make the task of a seed."""
        chance = random.Random(seed)  # noqa: S311 - the same task for the same seed
        return _KINDS[seed % len(_KINDS)](chance, seed)

    async def judge(self, task: EnvironmentTask, scene: Scene) -> float:
        """Return the share of the wanted files that are right, but for white space around them."""
        found = [await scene.read_file(path) for path in task.wanted]
        pairs = zip(found, task.wanted.values(), strict=True)
        right = sum(text is not None and text.strip() == wanted for text, wanted in pairs)
        return right / len(task.wanted)
