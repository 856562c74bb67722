"""A tool that runs as long as the test wants."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec
from tests.journeys.stage import PATIENCE


@dataclass
class Oven:
    """A tool that runs as long as the test wants."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    spec = ToolSpec(
        name="bake",
        description="Bake something.",
        schema='{"type":"object","properties":{},"additionalProperties":false}',
    )
    effect: Effect = "read"
    declaration = Declaration()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Wait for the test."""
        async with asyncio.timeout(PATIENCE):
            await self.done.wait()
        return ToolResult(text="Baked.")
