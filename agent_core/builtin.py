"""The built-in tools, in the order in which the model sees them."""

from agent_core.memory.store import MemoryStore
from agent_core.memory.tool import MemoryTool
from agent_core.recall.tool import RecallTool
from agent_core.state.database import Database
from agent_core.tools.contract import Tool


def builtin_tools(database: Database, memory: MemoryStore) -> tuple[Tool, ...]:
    """Every tool that comes with Talaria."""
    return (MemoryTool(memory), RecallTool(database))
