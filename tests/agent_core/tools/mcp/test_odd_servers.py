"""Servers that restart, and servers that describe one of many things in a wrong form."""

import json
from collections.abc import Callable

import pytest
from aiohttp import web

from agent_core.tools.mcp.calls import CallHooks, RunningCall
from agent_core.tools.mcp.contract import McpServer
from agent_core.tools.mcp.supervisor import McpNotAsked
from tests.agent_core.tools.mcp.conftest import Open
from tests.agent_core.tools.mcp.hub_stage import OpenStage
from tests.emulators.server import LoopbackServer
from tests.tables import check_each

PLAIN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
TEXT = {"type": "string"}


class WebServer(LoopbackServer):
    """Speaks the older handshake by hand, with sessions that it forgets at a restart."""

    def __init__(self, refuse: Callable[[object], web.Response] | None = None) -> None:
        super().__init__()
        self.lists: dict[str, list[object]] = {"tools": [{"name": "work", "inputSchema": PLAIN}]}
        self.refuse = refuse
        self.sessions: set[str] = set()
        self.opened = 0
        self.calls: list[object] = []
        self.is_lame = False
        """True if no session is known for longer than its handshake."""

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/mcp", self.answer)
        app.router.add_route("*", "/mcp", self.deny)
        return app

    async def deny(self, request: web.Request) -> web.Response:
        return web.Response(status=405)

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        method, number = asked["method"], asked.get("id")
        if method == "initialize":
            self.opened += 1
            self.sessions.add(str(self.opened))
            result: object = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                "serverInfo": {"name": "web", "version": "1"},
            }
            headers = {"Mcp-Session-Id": str(self.opened)}
            reply = {"jsonrpc": "2.0", "id": number, "result": result}
            return web.json_response(reply, headers=headers)
        if method == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            return web.json_response({"jsonrpc": "2.0", "id": number, "error": error})
        if request.headers.get("Mcp-Session-Id") not in self.sessions:
            assert self.refuse is not None
            return self.refuse(number)
        if number is None:
            return web.Response(status=202)
        kind, _, verb = method.rpartition("/")
        if verb == "list":
            key = "resourceTemplates" if kind == "resources/templates" else kind
            result = {key: self.lists.get(key, [])}
        else:
            if self.is_lame:
                self.sessions.clear()
                return self.refuse(number) if self.refuse else web.Response(status=404)
            self.calls.append(asked["params"]["arguments"])
            result = {"content": [{"type": "text", "text": "done"}]}
        return web.json_response({"jsonrpc": "2.0", "id": number, "result": result})

    def config(self) -> McpServer:
        return McpServer(name="web", url=f"{self.url}/mcp", is_local=True, seconds=20)


def bare(status: int) -> Callable[[object], web.Response]:
    return lambda number: web.Response(status=status, text="Not Found")


def told(
    status: int, code: int, text: str, *, is_anonymous: bool = False
) -> Callable[..., web.Response]:
    def refuse(number: object) -> web.Response:
        error = {"code": code, "message": text}
        shown = None if is_anonymous else number
        return web.json_response({"jsonrpc": "2.0", "id": shown, "error": error}, status=status)

    return refuse


REFUSALS = {
    "a bare 404": bare(404),
    "a 410": bare(410),
    "404 with the code of a time-out": told(404, -32001, "Session not found"),
    "404 without the id": told(404, -32001, "Session not found", is_anonymous=True),
    "404 of the Python SDK": told(404, -32600, "Session not found"),
    "400 of the TypeScript example": told(400, -32000, "Bad Request: No valid session ID provided"),
    "400 of a new transport": told(400, -32000, "Bad Request: Server not initialized"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_call_after_a_restart_is_answered_once_in_one_new_session(
    refusal: str, stage: OpenStage
) -> None:
    async with WebServer(REFUSALS[refusal]) as server, stage(server.config()) as hub:
        await hub.ready("web")
        connection = hub.servers._connections["web"]
        server.sessions.clear()
        for number in (1, 2):
            outcome = await connection.call("work", {"a": str(number)})
            assert (outcome.text, outcome.is_error) == ("done", False)
        assert server.calls == [{"a": "1"}, {"a": "2"}]
        assert server.opened == 2


async def test_a_server_that_forgets_each_session_is_asked_twice(stage: OpenStage) -> None:
    async with WebServer(bare(404)) as server, stage(server.config()) as hub:
        await hub.ready("web")
        server.is_lame = True
        with pytest.raises(McpNotAsked, match="has restarted"):
            await hub.servers._connections["web"].call("work", {"a": "1"})


ODD_TOOLS: list[tuple[object, str, str]] = [
    ({"name": "odd", "inputSchema": TEXT}, "odd", "its arguments are no object"),
    ({"name": "odd"}, "odd", "it has no schema of its arguments"),
    ({"name": "odd", "inputSchema": None}, "odd", "it has no schema of its arguments"),
    ({"name": "odd", "inputSchema": [PLAIN]}, "odd", "it has no schema of its arguments"),
    ({"name": 5, "inputSchema": PLAIN}, "unnamed", "it has no name"),
    ("work", "unnamed", "it has no name"),
    ({"name": "odd", "inputSchema": {"anyOf": [TEXT, TEXT]}}, "odd", "its arguments are no object"),
    ({"name": "odd", "inputSchema": {**PLAIN, "required": True}}, "odd", ""),
    ({"name": "odd", "inputSchema": {"properties": {"a": {**TEXT, "required": True}}}}, "odd", ""),
    ({"name": "odd", "inputSchema": PLAIN, "required": ["b"]}, "odd", ""),
    ({"name": "odd", "inputSchema": {"anyOf": [PLAIN, PLAIN]}}, "odd", ""),
    ({"name": "odd", "inputSchema": {**PLAIN, "oneOf": [{"required": ["a"]}]}}, "odd", ""),
    ({"name": "odd", "inputSchema": {**PLAIN, "type": ["object", "null"]}}, "odd", ""),
    ({"name": "odd", "inputSchema": {}}, "odd", ""),
    ({"name": "odd", "inputSchema": PLAIN, "description": 5, "annotations": "x"}, "odd", ""),
]  # fmt: skip


async def test_one_odd_tool_hides_no_other(open_server: Open) -> None:
    async with WebServer() as server:
        good: list[object] = [{"name": f"good{one}", "inputSchema": PLAIN} for one in range(14)]
        found = []
        for odd, _, _ in ODD_TOOLS:
            server.lists["tools"] = [*good[:7], odd, *good[7:]]
            async with open_server(server.config()) as session:
                found.append((await session.list_tools()).tools)

    def check(number: int) -> None:
        tools, (_, name, fault) = {one.name: one for one in found[number]}, ODD_TOOLS[number]
        assert sum(not tool.fault for key, tool in tools.items() if key.startswith("good")) == 14
        assert tools[name].fault == fault
        shown = json.loads(tools[name].schema or "{}")
        assert not {"anyOf", "oneOf", "allOf"} & set(shown)  # Anthropic refuses them at the top
        assert fault or shown["type"] == "object"

    check_each(range(len(ODD_TOOLS)), check)


async def test_one_odd_prompt_or_resource_hides_no_other(open_server: Open) -> None:
    why = "(can't be used: the server describes it in a wrong form)"
    async with WebServer() as server:
        server.lists["prompts"] = [
            {"name": "good"},
            {"name": "odd", "arguments": {"a": 1}},
            {"name": 5},
            "x",
        ]
        server.lists["resources"] = [
            {"uri": "file:///a", "name": "good"},
            {"uri": "file:///b"},
            {"name": "none"},
        ]
        server.lists["resourceTemplates"] = [{"uriTemplate": "f://{x}", "name": 7}]
        async with open_server(server.config()) as session:
            assert (await session.list_tools()).prompts == ("good",)
            running = RunningCall(CallHooks(), 20)
            prompts = (await session.get("prompt", "", {}, running)).text
            assert prompts.splitlines() == [
                "good(): ",
                f"odd {why}(): ",
                f"unnamed {why}(): ",
                f"unnamed {why}(): ",
            ]
            resources = (await session.get("resource", "", {}, running)).text
            assert resources.splitlines() == [
                "file:///a: good",
                f"file:///b: file:///b {why}",
                f"none:: none {why}",
                f"f://{{x}}: f://{{x}} {why}",
            ]
