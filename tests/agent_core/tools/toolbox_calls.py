"""Calls of a toolbox in Ada's turn."""

from agent_core.ids import CallId, ConversationId, TurnId
from agent_core.tools.contract import ToolContext, ToolResult
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart
from tests.agent_core.tools.contexts import make_context

CONTEXT = make_context(
    slug="ada", conversation_id=ConversationId(2), scope="p1", turn_id=TurnId(3), now=1_000
)


async def run(
    toolbox: Toolbox, name: str = "look", arguments: str = "{}", context: ToolContext = CONTEXT
) -> ToolResult:
    return await toolbox.run(
        ToolCallPart(call_id=CallId("c1"), name=name, arguments=arguments), context
    )
