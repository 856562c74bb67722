"""The agent: its prompts, models, memory, tools and database. It knows no chat platform.

Programs import the names of the library from here; see docs/library.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_core.library.ai_agent import AIAgent, Answer
    from agent_core.library.memory_store import MemoryStore
    from agent_core.library.options import AgentOptions
    from agent_core.library.session_db import SessionDB

__all__ = ["AIAgent", "AgentOptions", "Answer", "MemoryStore", "SessionDB"]


def __getattr__(name: str) -> Any:
    """Import a name of the library when a program first asks for it: parts load nothing else."""
    if name not in __all__:
        raise AttributeError(name)
    from agent_core.library import names  # noqa: PLC0415 - the start of the gateway needs no library

    return getattr(names, name)
