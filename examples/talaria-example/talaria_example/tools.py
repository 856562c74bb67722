"""A tool: rolls dice."""

import json
import secrets
from collections.abc import Mapping, Sequence

from agent_core.tools.contract import Declaration, Effect, Tool, ToolContext, ToolResult
from agent_core.transcript import ToolSpec

TALARIA_API = 1


class DiceTool:
    """Rolls dice."""

    effect: Effect = "read"
    declaration = Declaration(cost="free")

    def __init__(self, sides: int) -> None:
        self._sides = sides
        self.spec = ToolSpec(
            name="roll_dice",
            description=f"Roll dice with {sides} sides each.",
            schema=json.dumps(
                {
                    "type": "object",
                    "properties": {"count": {"type": "integer", "minimum": 1, "maximum": 20}},
                    "required": ["count"],
                    "additionalProperties": False,
                }
            ),
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Roll the dice."""
        rolled = [secrets.randbelow(self._sides) + 1 for _ in range(int(str(arguments["count"])))]
        return ToolResult(text=f"Rolled {', '.join(map(str, rolled))}: {sum(rolled)} in all.")


def create(options: Mapping[str, str]) -> Sequence[Tool]:
    """Create the tools. Raises `ValueError` with a sentence on an invalid option."""
    sides = options.get("sides", "6")
    if not sides.isdecimal() or int(sides) < 2:
        raise ValueError(f"sides is {sides}; it has to be a number of at least 2")
    return [DiceTool(int(sides))]
