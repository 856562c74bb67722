"""Read the tools that a server lists: bound them, make them safe to show, and hash them."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from agent_core.tools.mcp.contract import MOST_TOOLS, ForeignTool, Listing, McpServer
from agent_core.tools.mcp.schema import reduce_schema
from agent_core.transcript import flatten

_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_MOST_NAME = 64
"""Characters of a name that models accept."""
_DESCRIPTION = 1000
_LONGEST = 60_000
"""Characters of a tool's whole description and schema."""

_MOST_KEPT = 1_000_000
"""Characters of the tools that are kept for an account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTool:
    """A tool as a server sent it."""

    name: str
    description: str
    schema: Mapping[str, object]
    is_destructive: bool = False
    fault: str = ""


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


def combine(digests: Mapping[str, Sequence[str]]) -> str:
    """Return a short digest of several tools, made from their digests."""
    return _digest(sorted((name, list(found)) for name, found in digests.items()))[:12]


def dump_listing(listing: Listing) -> str:
    """Return a list of tools as JSON. Tools beyond a megabyte are left out."""
    kept, size = [], 0
    for tool in listing.tools:
        size += len(tool.description) + len(tool.schema)
        if size <= _MOST_KEPT:
            kept.append(tool)
    left_out = listing.left_out + len(listing.tools) - len(kept)
    return json.dumps(asdict(replace(listing, tools=tuple(kept), left_out=left_out)))


def load_listing(text: str) -> Listing:
    """Return the list of tools that `dump_listing` wrote; an empty one for an empty text."""
    if not text:
        return Listing()
    found = json.loads(text)
    return Listing(
        tools=tuple(ForeignTool(**tool) for tool in found["tools"]),
        left_out=found["left_out"],
        offers=tuple(found["offers"]),
        prompts=tuple(found["prompts"]),
    )


def join_listings(listings: Sequence[Listing]) -> Listing:
    """Join what several accounts saw; a tool that differs among them appears in each form."""
    tools = {(tool.name, tool.digest): tool for one in listings for tool in one.tools}
    return Listing(
        tools=tuple(tools.values()),
        left_out=max((one.left_out for one in listings), default=0),
        offers=tuple(dict.fromkeys(offer for one in listings for offer in one.offers)),
        prompts=tuple(dict.fromkeys(prompt for one in listings for prompt in one.prompts)),
    )


def _read(server: McpServer, raw: RawTool) -> ForeignTool:
    content = [raw.name, raw.description, raw.schema, raw.is_destructive]
    tool = ForeignTool(
        name=raw.name if _NAME.fullmatch(raw.name) else flatten(raw.name, _MOST_NAME),
        description=flatten(raw.description, _DESCRIPTION),
        schema="",
        digest=_digest(content),
        is_destructive=raw.is_destructive,
    )
    if raw.fault:
        return replace(tool, fault=raw.fault)
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
