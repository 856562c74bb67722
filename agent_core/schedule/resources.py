"""The models, tools and skills that jobs may use. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_core.ids import RunId
from agent_core.state.jobs.jobs import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTurn:
    """The job run behind a turn.

    Empty `model` and `tools` mean the defaults. `skills` are preloaded. `micro_dollars` is the rest
    of the job's daily quota; None means no limit.
    """

    run_id: RunId
    title: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    micro_dollars: int | None = None
    agent: str = ""
    """The named agent that does the job; "" for the assistant itself."""


def no_skill(name: str) -> str:
    """Refuse any skill, for a deployment without skills."""
    return f"there is no skill {name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResources:
    """The names of resources. `tools` are for jobs of one person, `room_tools` for jobs of a room.

    `fault_of_skill` explains why a skill is unavailable; "" if it is available. `is_priced` takes a
    model, or "" for the default model.
    """

    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    room_tools: tuple[str, ...] = ()
    fault_of_skill: Callable[[str], str] = no_skill
    is_priced: Callable[[str], bool] = lambda model: True


def find_unpriced(options: Options, means: JobResources) -> str:
    """Explain why a daily limit in dollars can't be enforced; "" if it can."""
    if not options.day_micro_dollars or means.is_priced(options.model):
        return ""
    model = f"of {options.model}" if options.model else "of the model"
    return (
        f"the price {model} is unknown, so a daily limit in dollars can't be kept; an owner can set"
        " the price in cost.prices"
    )


def find_fault(options: Options, means: JobResources, *, in_room: bool) -> str:
    """Explain the first unavailable resource of a job; "" if all are available."""
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
