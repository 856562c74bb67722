"""Read the tools that a server lists: bound them, make them safe to show, and hash them."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.tools.mcp.contract import MOST_TOOLS, ForeignTool, Listing, McpServer
from agent_core.tools.mcp.schema import reduce_schema
from agent_core.transcript import flatten

_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_MOST_NAME = 64
"""Characters of a name that models accept."""
_DESCRIPTION = 1000
_LONGEST = 60_000
"""Characters of a tool's whole description and schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTool:
    """A tool as a server sent it."""

    name: str
    description: str
    schema: Mapping[str, object]
    is_destructive: bool = False


def read_listing(server: McpServer, raw: Sequence[RawTool]) -> Listing:
    """Keep the tools that the owner wants, up to the limit; an unusable tool carries its fault."""
    wanted = [one for one in raw if server.wants(one.name)]
    tools: dict[str, ForeignTool] = {}
    for one in wanted[:MOST_TOOLS]:
        tool = _read(server, one)
        shown = name_tool(server.name, tool.name)
        if shown in tools:
            tool = replace(tool, fault="another tool of the server has the same name")
            shown = f"{shown} {tool.digest}"
        tools[shown] = tool
    return Listing(tools=tuple(tools.values()), left_out=max(0, len(wanted) - MOST_TOOLS))


def place_of(server: str) -> str:
    """Return the place of the actions of a server's tools."""
    return f"mcp:{server}"


def name_tool(server: str, tool: str) -> str:
    """Return the name of a tool for a model."""
    return f"{server}__{re.sub(r'[./]', '_', tool)}"


def combine(digests: Mapping[str, str]) -> str:
    """Return a short digest of several tools, made from their digests."""
    return _digest(sorted(digests.items()))[:12]


def _read(server: McpServer, raw: RawTool) -> ForeignTool:
    content = [raw.name, raw.description, raw.schema, raw.is_destructive]
    tool = ForeignTool(
        name=raw.name if _NAME.fullmatch(raw.name) else flatten(raw.name, _MOST_NAME),
        description=flatten(raw.description, _DESCRIPTION),
        schema="",
        digest=_digest(content),
        is_destructive=raw.is_destructive,
    )
    if not _NAME.fullmatch(raw.name) or len(name_tool(server.name, raw.name)) > _MOST_NAME:
        return replace(tool, fault="its name is too long, or has characters that models refuse")
    if len(json.dumps(content)) > _LONGEST:
        return replace(tool, fault="its description or schema is too long")
    try:
        return replace(tool, schema=reduce_schema(raw.schema))
    except (ValueError, RecursionError) as error:
        return replace(tool, fault=str(error))


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
