"""The built-in tools, in the order in which the model sees them."""

from agent_core.memory.approval import Approval
from agent_core.memory.archive.inventory import Inventory
from agent_core.memory.archive.tool import ArchiveTool
from agent_core.memory.shared import SharedMemory
from agent_core.memory.tool.tool import MemoryTool
from agent_core.recall.rerank import Reranker
from agent_core.recall.tool import RecallTool
from agent_core.state.engine.database import Database
from agent_core.tools.contract import Tool
from agent_core.tools.send_file import SendFileTool


def private_tools(
    database: Database,
    memory: SharedMemory,
    approval: Approval,
    inventory: Inventory,
    reranker: Reranker | None = None,
) -> tuple[Tool, ...]:
    """The tools of a talk that nobody else reads; `reranker` helps recall, where it is on."""
    return (
        MemoryTool(memory, approval),
        RecallTool(database, reranker=reranker),
        ArchiveTool(database, inventory.forget_archive),
        SendFileTool(database),
    )


def room_tools(
    database: Database,
    memory: SharedMemory,
    approval: Approval,
    inventory: Inventory,
    reranker: Reranker | None = None,
) -> tuple[Tool, ...]:
    """The tools of a talk in a room: none that shows what its person keeps private."""
    return (
        MemoryTool(memory, approval, in_room=True),
        RecallTool(database, reranker=reranker),
        ArchiveTool(database, inventory.forget_archive, in_room=True),
        SendFileTool(database),
    )
