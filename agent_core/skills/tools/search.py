"""The `skills_search` tool: finds skills by their purpose."""

from collections.abc import Mapping

from agent_core.skills.tools.directory import FIND_TOOL, LONGEST_LINE, SkillDirectory
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.selection.built_in import SKILL_TOOL
from agent_core.transcript import ToolSpec, escape, flatten, make_source

_MOST_FOUND = 10


class SkillsSearchTool:
    """The `skills_search` tool."""

    effect: Effect = "read"
    declaration = Declaration(cost="free")
    spec = ToolSpec(
        name=FIND_TOOL,
        description=(
            "Find a skill, which says how a kind of work is done, by a few English words on the"
            f" work; `{SKILL_TOOL}` then reads it. Not for facts or for the web."
        ),
        schema=make_schema(("query",), query={"type": "string", "minLength": 1}),
    )

    def __init__(self, directory: SkillDirectory) -> None:
        self._directory = directory

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Search. Raises `SkillBroken` if the folder of skills is unreadable."""
        await self._directory.refresh()
        found = self._directory.search(str(arguments["query"]))[:_MOST_FOUND]
        if not found:
            return ToolResult(text="No skill fits. Try other words, or do it without one.")
        foreign = [one.name for one in found if not self._directory.is_trusted(one.name)]
        lines = [
            f"- {one.name}{' (of others)' if one.name in foreign else ''}:"
            f" {escape(flatten(one.description, LONGEST_LINE))}"
            for one in found
        ]
        sources = tuple(make_source("skill", name) for name in foreign)
        return ToolResult(text="\n".join(lines), sources=sources)
