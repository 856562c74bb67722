"""A tool for the resources and prompts of a server."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal

from agent_core.errors import ToolArgumentError
from agent_core.tools.contract import Effect, ToolContext, ToolResult
from agent_core.tools.mcp.contract import Listing, McpServer
from agent_core.tools.mcp.listing import name_tool
from agent_core.tools.mcp.tool import FormAsker, Reach, ServerTool, describe
from agent_core.tools.policy.contract import Action
from agent_core.tools.readers.pool import ReaderPool
from agent_core.tools.schemas import make_object
from agent_core.transcript import ToolSpec

OfferKind = Literal["resource", "prompt"]
_NAMES: Mapping[OfferKind, str] = {"resource": "read_resource", "prompt": "get_prompt"}
_DESCRIPTIONS: Mapping[OfferKind, str] = {
    "resource": "Read a resource of the server {name}, such as a file or a record. Without `uri`,"
    " list them.",
    "prompt": "Get a prompt of the server {name}: instructions for a task that its person asked"
    " for. Without `name`, list them.",
}
_TEXT = {"type": "string"}
_SCHEMAS: Mapping[OfferKind, Mapping[str, object]] = {
    "resource": {"uri": _TEXT},
    "prompt": {"name": _TEXT, "arguments": {"type": "object", "additionalProperties": _TEXT}},
}


class OfferTool(ServerTool):
    """Reads the resources of a server, or gets its prompts."""

    effect: Effect = "read"

    def __init__(
        self,
        server: McpServer,
        kind: OfferKind,
        reach: Reach,
        readers: ReaderPool,
        asker: FormAsker | None = None,
    ) -> None:
        super().__init__(server, reach, readers, asker)
        self._kind = kind
        self.spec = ToolSpec(
            name=name_tool(server.name, _NAMES[kind]),
            description=describe(server, _DESCRIPTIONS[kind].format(name=server.name)),
            schema=json.dumps(make_object(**_SCHEMAS[kind])),
        )

    def list_actions(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> Sequence[Action]:
        """Declare a request by name, because a name may carry data to the server; () for a list."""
        return (self._make_action("run", _NAMES[self._kind], arguments),) if arguments else ()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Ask the server. Raises `ToolArgumentError`."""
        wanted = str(arguments.get("uri") or arguments.get("name") or "")
        if arguments and not wanted:
            raise ToolArgumentError("`name` is missing")
        given = arguments.get("arguments")
        values = {str(k): str(v) for k, v in given.items()} if isinstance(given, Mapping) else {}
        line = self._reach(context.person_id)
        asked = line.get(self._kind, wanted, values, self._make_hooks(context))
        return await self._finish(asked)


def name_command(server: str, prompt: str) -> str:
    """Return the command of a prompt; commands of chat apps can't contain dashes."""
    return f"{server}__{prompt}".replace("-", "_").lower()


def list_offers(
    server: McpServer,
    listing: Listing,
    reach: Reach,
    readers: ReaderPool,
    asker: FormAsker | None,
) -> list[OfferTool]:
    """Return the tools for a server's offers, unless it has tools for them itself."""
    taken = {name_tool(server.name, tool.name) for tool in listing.tools}
    kinds: tuple[OfferKind, ...] = ("resource", "prompt")
    found = [
        OfferTool(server, kind, reach, readers, asker) for kind in kinds if kind in listing.offers
    ]
    return [tool for tool in found if tool.spec.name not in taken]
