"""What sets a turn that a job wants apart from one that a person asked for."""

from dataclasses import dataclass

from agent_core.ids import RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """The run that a turn is. Empty means as usual: the `model` that thinks, all `tools`.
    `skills` are those that it begins with.

    `micro_dollars` is what is left of the most that the job may cost in a day; None is no limit.
    """

    run_id: RunId
    model: str = ""
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    micro_dollars: int | None = None
