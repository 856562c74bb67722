"""The built-in tools, in the order in which the model sees them."""

from agent_core.execution.contract import Backend
from agent_core.memory.approval import Approval
from agent_core.memory.archive.archive_tool import ArchiveTool
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.memory_tool import MemoryTool
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.memory.shared import SharedMemory
from agent_core.state.engine.database import Database
from agent_core.tools.contract import Tool
from agent_core.tools.send_file import SendFileTool


def private_tools(
    database: Database,
    memory: SharedMemory,
    approval: Approval,
    inventory: Inventory,
    backend: Backend | None,
) -> tuple[Tool, ...]:
    """The tools of a private conversation. A `backend` lets `send_file` send workspace files."""
    return (
        MemoryTool(memory, approval),
        RecallTool(database),
        ArchiveTool(database, inventory.forget_archive),
        SendFileTool(database, backend),
    )


def room_tools(
    database: Database,
    memory: SharedMemory,
    approval: Approval,
    inventory: Inventory,
) -> tuple[Tool, ...]:
    """The tools of a room's conversation; none shows private data of a person."""
    return (
        MemoryTool(memory, approval, in_room=True),
        RecallTool(database),
        ArchiveTool(database, inventory.forget_archive, in_room=True),
        SendFileTool(database),
    )
