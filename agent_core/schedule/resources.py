"""What a house can lend to its jobs: models, tools and skills, each by its name; pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.ids import RunId
from agent_core.state.jobs.jobs import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTurn:
    """The run that a turn is. Empty means as usual: the `model` that thinks, all `tools`.
    `skills` are those that it begins with.

    `micro_dollars` is what is left of the most that the job may cost in a day; None is no limit.
    """

    run_id: RunId
    model: str = ""
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    micro_dollars: int | None = None


def no_skill(name: str) -> str:
    """Of a house without skills: why a job can't have one."""
    return f"there is no skill {name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResources:
    """`tools` are those of a job whose words one person reads, `room_tools` those of a room's.

    `fault_of_skill` says why a skill can't be had, "" if it can.
    """

    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    room_tools: tuple[str, ...] = ()
    fault_of_skill: Callable[[str], str] = no_skill


def find_fault(options: Options, means: JobResources, *, in_room: bool) -> str:
    """What a job asks for and can't have, with what there is; "" if it can have all of it."""
    if options.model and options.model not in means.models:
        return f"there is no model {options.model} here{_offer(means.models)}"
    tools = means.room_tools if in_room else means.tools
    for name in options.tools:
        if name not in tools:
            where = "for jobs of a room" if in_room else "for jobs"
            return f"there is no tool {name} {where}{_offer(tools)}"
    for name in options.skills:
        if fault := means.fault_of_skill(name):
            return fault
    return ""


def _offer(names: Sequence[str]) -> str:
    return f"; there is {', '.join(names)}" if names else ""
