"""A tool that pays."""

import asyncio
from collections.abc import Mapping

from agent_core.tools.contract import ToolContext, ToolResult
from tests.fakes.tool import FakeTool


class Payment(FakeTool):
    """Pays once approved; a second payment would do harm."""

    def __init__(self) -> None:
        super().__init__("pay", self._pay, effect="unsafe")
        self.reached, self.go = asyncio.Event(), asyncio.Event()
        self.go.set()

    def describe(self, arguments: Mapping[str, object]) -> str:
        return f"Pay {arguments.get('amount')} to {arguments.get('to')}?"

    async def _pay(self, arguments: Mapping[str, object], _: ToolContext) -> ToolResult:
        self.reached.set()
        await self.go.wait()
        return ToolResult(text=f"Paid {arguments['amount']}.")
