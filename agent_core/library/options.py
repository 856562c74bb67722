"""Options that a program may set for its assistant."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_core.agent.budget import Limits
from agent_core.execution.contract import Backend
from agent_core.models.catalog import Prices
from agent_core.state.engine.database import now as read_clock
from agent_core.tools.contract import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Holds the options that most programs leave as they are.

    `tools` are tools of the program beside memory and search. With a `backend`, the assistant also
    works with files and commands, each person in a workspace of their own. `instructions` replace
    `SOUL.md`. `patience` is how long a turn waits for a model that does not answer, and `commands`
    the longest time of a command, both in seconds; without patience, a turn ends at once. `now`
    returns the time in milliseconds since the epoch.
    """

    tools: Sequence[Tool] = ()
    backend: Backend | None = None
    instructions: str = ""
    limits: Limits = field(
        default_factory=lambda: Limits(steps=50, tokens=0, micro_dollars=0, seconds=900.0)
    )
    patience: float = 60.0
    max_output_tokens: int = 8000
    commands: int = 60
    prices: Prices = field(default_factory=Prices)
    now: Callable[[], int] = read_clock
