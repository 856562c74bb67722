"""The tools that are not in the prompt: how the model finds and calls them."""

import difflib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.errors import ToolArgumentError
from agent_core.tools.contract import Declaration, Effect, Tool, ToolContext, ToolResult
from agent_core.tools.schemas import make_schema
from agent_core.tools.selection.built_in import PROMPT_TOOLS, RARE_TOOLS
from agent_core.tools.selection.ranking import WordIndex
from agent_core.tools.selection.renamed_calls import renew
from agent_core.transcript import ToolCallPart, ToolSpec, UntrustedSource, flatten, make_source

MOST_IN_PROMPT = 18
SEARCH_TOOL, USE_TOOL = "tool_search", "use_tool"
_MOST_FOUND = 8
_MOST_SCHEMAS = 3
"""Tools whose schemas a search shows; each further match is one line with its name."""
_LONGEST_LINE = 160
_LONGEST_SCHEMA = 6_000
_CLOSENESS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """The tools that a search can find: Talaria's own, then tools of other sources."""

    own: tuple[Tool, ...]
    foreign: tuple[Tool, ...] = ()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool."""
        return (*self.own, *self.foreign)


ListTools = Callable[[ToolContext], Awaitable[Catalog]]
"""Lists the tools that the person of a call may use now. Raises `StoreError`."""


def order_for_prompt(
    tools: Sequence[Tool], *, has_sources: bool, hides_rare: bool
) -> tuple[list[Tool], list[Tool]]:
    """Split tools into those in the prompt, in their order there, and those found by search.

    All are in the prompt if there is room, none is rare, and no tool comes from another source.
    """
    rank_of = {name: number for number, name in enumerate(PROMPT_TOOLS)}
    ordered = sorted(tools, key=lambda tool: rank_of.get(tool.spec.name, len(rank_of)))
    usual = [tool for tool in ordered if not (hides_rare and tool.spec.name in RARE_TOOLS)]
    if len(usual) == len(tools) <= MOST_IN_PROMPT and not has_sources:
        return ordered, []
    shown = usual[: MOST_IN_PROMPT - 2]
    return shown, [tool for tool in ordered if tool not in shown]


def unwrap(call: ToolCallPart) -> ToolCallPart:
    """Return the call inside a `use_tool` call, and calls of old tools as those of the present.

    Returns any other call unchanged, and a malformed one, so that its fault can be reported.
    """
    if call.name != USE_TOOL:
        return renew(call)
    try:
        given = json.loads(call.arguments)
        name, arguments = given["name"], given.get("arguments", {})
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return call
    if not isinstance(name, str) or not isinstance(arguments, dict) or name == USE_TOOL:
        return call
    return renew(replace(call, name=name, arguments=json.dumps(arguments, ensure_ascii=False)))


def rank(query: str, tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools that match a query, best first, by BM25 over names and descriptions."""
    index = WordIndex([(tool.spec.name, tool.spec.description) for tool in tools])
    return [tools[number] for number in index.rank(query)]


def suggest(name: str, names: Sequence[str]) -> str:
    """Suggest known names similar to an unknown one, as a question; "" if none is similar."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=_CLOSENESS)
    if not near:
        return ""
    return f" Did you mean {' or '.join(f'`{one}`' for one in near)}?"


def make_search_tools(hidden: Sequence[str], list_tools: ListTools) -> tuple[Tool, Tool]:
    """Make `tool_search` and `use_tool`. `hidden` are Talaria's own tools that the search finds."""
    return _SearchTool(hidden, list_tools), _UseTool()


class _SearchTool:
    """The `tool_search` tool."""

    effect: Effect = "read"
    declaration = Declaration(cost="free")

    def __init__(self, hidden: Sequence[str], list_tools: ListTools) -> None:
        self._list_tools = list_tools
        named = f" {', '.join(hidden)}, and" if hidden else ""
        self.spec = ToolSpec(
            name=SEARCH_TOOL,
            description=(
                f"Find tools that are not in this list:{named} those of connected servers. Search"
                " before you say that you can't do something; not for what a tool in this list"
                ' does. The query is in English. Example: {"query": "send a file"}'
            ),
            schema=make_schema(("query",), query={"type": "string"}),
        )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Search. Raises `StoreError`."""
        query = str(arguments["query"])
        catalog = await self._list_tools(context)
        tools = catalog.tools
        found = rank(query, tools)[:_MOST_FOUND]
        if not found:
            names = ", ".join(tool.spec.name for tool in tools) or "none"
            return ToolResult(
                text=f"No tool fits `{flatten(query, _LONGEST_LINE)}`. There are: {names}.",
                sources=_list_sources(tools, catalog),
            )
        shown = [_show(tool.spec) for tool in found[:_MOST_SCHEMAS]]
        more = [_show_line(tool.spec) for tool in found[_MOST_SCHEMAS:]]
        if more:
            shown.append("\n".join(["Others; search for a name to see its schema:", *more]))
        return ToolResult(text="\n\n".join(shown), sources=_list_sources(found, catalog))


class _UseTool:
    """The `use_tool` tool. The loop replaces it by the call inside; see `unwrap`."""

    effect: Effect = "read"
    declaration = Declaration(cost="free")
    spec = ToolSpec(
        name=USE_TOOL,
        description=(
            f"Call a tool that `{SEARCH_TOOL}` found, with the arguments that it showed. Tools in"
            " this list are called directly."
        ),
        schema=make_schema(
            ("name", "arguments"), name={"type": "string"}, arguments={"type": "object"}
        ),
    )

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Refuse the call: only a call of `use_tool` to itself reaches this method.

        Raises `ToolArgumentError`.
        """
        raise ToolArgumentError(f"`name` must be a tool that `{SEARCH_TOOL}` found")


def _list_sources(found: Sequence[Tool], catalog: Catalog) -> tuple[UntrustedSource, ...]:
    """List the sources of tools' descriptions, without Talaria itself."""
    foreign = [tool.spec.name for tool in catalog.foreign if tool in found]
    return tuple(dict.fromkeys(make_source("mcp", name.partition("__")[0]) for name in foreign))


def _show(spec: ToolSpec) -> str:
    schema = spec.schema
    if len(schema) > _LONGEST_SCHEMA:
        schema = "too long to show; call it, and read what it lacks"
    return f"## {spec.name}\n{spec.description}\nArguments: {schema}"


def _show_line(spec: ToolSpec) -> str:
    return f"- {spec.name}: {flatten(spec.description, _LONGEST_LINE)}"
