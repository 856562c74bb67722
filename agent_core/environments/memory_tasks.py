"""Small tasks for the memory; what is remembered in the end decides."""

import random
from dataclasses import dataclass

from agent_core.environments.contract import EnvironmentTask, Scene

_TOOLS = ("memory",)
_THINGS = {
    "bike": ("green", "red", "blue", "black"),
    "sister": ("Marta", "Ines", "Olga", "Lena"),
    "dentist": ("Dr. Weiss", "Dr. Klein", "Dr. Berger", "Dr. Novak"),
    "locker": ("12", "48", "77", "103"),
}
_OTHERS = ("Works nights.", "Likes short answers.", "Is allergic to nuts.", "Plays the cello.")


@dataclass(frozen=True, slots=True)
class MemoryTasks:
    """Save a fact, correct one, or leave the memory alone; see `TaskSet`."""

    name: str = "memory"
    needs_workspace: bool = False

    def make(self, seed: int) -> EnvironmentTask:
        """Make the task of a seed."""
        chance = random.Random(seed)  # noqa: S311 - the same task for the same seed
        thing = chance.choice(sorted(_THINGS))
        old, new = chance.sample(_THINGS[thing], 2)
        others = tuple(chance.sample(_OTHERS, 2))
        match seed % 3:
            case 0:
                prompt, known = f"Please remember: my {thing} is {new}.", others
            case 1:
                prompt = f"My {thing} is {new} now, no longer {old}. Please correct what you know."
                known = (*others, f"Their {thing} is {old}.")
            case _:
                prompt, known = f"Is {new} a nice word? Answer yes or no.", others
        is_change = seed % 3 != 2
        return EnvironmentTask(
            seed=seed,
            prompt=prompt,
            tools=_TOOLS,
            known=known,
            wanted={thing: new} if is_change else {},
            unwanted=(old,) if is_change else (new,),
        )

    async def judge(self, task: EnvironmentTask, scene: Scene) -> float:
        """Return 1 if the fact is there once, nothing untrue is, and nothing else was lost."""
        lists = await scene.read_memory()
        entries = [entry for one in lists.values() for entry in one]
        kept = [one for one in task.known if not any(word in one for word in task.unwanted)]
        if not set(kept) <= set(entries):
            return 0.0
        if any(word in entry for word in task.unwanted for entry in entries):
            return 0.0
        right = [
            sum(thing in entry and value in entry for entry in entries) == 1
            for thing, value in task.wanted.items()
        ]
        return float(all(right))
