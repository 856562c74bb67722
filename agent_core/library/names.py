"""The public names of the library, which `agent_core` passes on."""

from agent_core.library.ai_agent import AIAgent, Answer
from agent_core.library.memory_store import MemoryStore
from agent_core.library.options import AgentOptions
from agent_core.library.session_db import SessionDB

__all__ = ["AIAgent", "AgentOptions", "Answer", "MemoryStore", "SessionDB"]
