"""A tool that acts as the test says, and records its calls."""

from collections.abc import Awaitable, Callable, Mapping

from agent_core.tools.contract import Cost, Declaration, Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec

ANY_OBJECT = '{"type":"object"}'

Act = Callable[[Mapping[str, object], ToolContext], Awaitable[ToolResult]]


class FakeTool:
    """A tool with any name, effect and price."""

    def __init__(
        self,
        name: str,
        act: Act | None = None,
        *,
        effect: Effect = "read",
        cost: Cost = "time",
        schema: str = ANY_OBJECT,
    ) -> None:
        self.spec = ToolSpec(name=name, description=f"does {name}", schema=schema)
        self.effect: Effect = effect
        self.declaration = Declaration(cost=cost)
        self.asked: list[tuple[Mapping[str, object], ToolContext]] = []
        self.running = 0
        self._act = act

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        self.asked.append((arguments, context))
        self.running += 1
        try:
            if self._act:
                return await self._act(arguments, context)
            return ToolResult(text=f"{self.spec.name} done {len(self.asked)}")
        finally:
            self.running -= 1


def gives(result: ToolResult) -> Act:
    async def act(arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        return result

    return act
