"""The tools of an outside memory, as the agent has them: each call knows whose it is."""

import asyncio
from collections.abc import Mapping

from agent_core.errors import OutsideAway
from agent_core.memory.contract import OutsideTool
from agent_core.mirror.contact import Contact
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec


class OutsideAsking:
    """One tool. It speaks of the person who asks, in talks that are theirs alone."""

    effect: Effect = "read"
    is_cheap = False

    def __init__(self, tool: OutsideTool, contact: Contact) -> None:
        self._tool = tool
        self._names = contact.names
        self._condition = contact.condition

    @property
    def spec(self) -> ToolSpec:
        """How the provider presents it."""
        return self._tool.spec

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Ask it. Raises `OutsideError`."""
        if context.keeper is None or context.keeper.person_id != context.person_id:
            return ToolResult(text="There is no outside memory here.", is_error=True)
        if not self._condition.is_well:
            raise OutsideAway("the outside memory can't be reached now; go on without it")
        who = self._names.name_person(context.person_id)
        try:
            async with asyncio.timeout(self._tool.seconds):
                text = await self._tool.run(who, arguments)
        except TimeoutError as error:
            raise OutsideAway("the outside memory took too long; go on without it") from error
        return ToolResult(text=text or "It knows nothing about that.")
