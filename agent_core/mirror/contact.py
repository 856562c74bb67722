"""An outside memory together with what has to be known to speak with it."""

from dataclasses import dataclass

from agent_core.memory.contract import MemoryProvider
from agent_core.mirror.condition import Condition
from agent_core.mirror.names import Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One provider, the names it knows, and how it fares."""

    provider: MemoryProvider
    names: Names
    condition: Condition
