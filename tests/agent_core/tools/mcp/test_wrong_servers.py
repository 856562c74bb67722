"""Servers that do not speak MCP: one sentence says so, at once where it can be known."""

import asyncio
import sys
from pathlib import Path

import anyio
import pytest
from aiohttp import web
from mcp.shared.message import SessionMessage

from agent_core.tools.mcp.contract import McpServer, McpUnavailable
from agent_core.tools.mcp.transports.streams import LimitedStream, StreamLink, Unreadable
from tests.agent_core.tools.mcp.conftest import Open
from tests.emulators.server import LoopbackServer
from tests.patience import PATIENCE

NEWER = "speaks version 2099-01-01 of MCP, which Talaria doesn't know"
NONE = "gave an answer that is not MCP"
CUT = '{"jsonrpc": "2.0", "id": 1, "result": {'
NO_METHOD = {"code": -32601, "message": "Method not found"}
PROGRAM = """\
import json, sys
first, mends = {first!r}, {mends!r}
if mends:
    print(first, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {{"jsonrpc": "2.0", "id": asked["id"], "error": {no_method!r}}}
    if asked["method"] == "initialize":
        about = {{"name": "odd", "version": "1"}}
        found = {{"protocolVersion": {version!r}, "capabilities": {{}}, "serverInfo": about}}
        answer = {{"jsonrpc": "2.0", "id": asked["id"], "result": found}}
    print(first if first and not mends else json.dumps(answer), flush=True)
"""


def write_program(
    folder: Path, first: str = "", *, version: object = "2025-06-18", mends: bool = False
) -> McpServer:
    """Return a program that says `first` for each answer, or only once before it `mends`."""
    script = folder / "odd_server.py"
    script.write_text(
        PROGRAM.format(first=first, mends=mends, no_method=NO_METHOD, version=version)
    )
    return McpServer(name="odd", argv=(sys.executable, str(script)), is_sandboxed=False)


class OddServer(LoopbackServer):
    """Answers each request over HTTP with the same bytes."""

    def __init__(self, body: str, kind: str = "application/json") -> None:
        super().__init__()
        self.body, self.kind = body, kind

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/mcp", self.answer)
        return app

    async def answer(self, request: web.Request) -> web.Response:
        asked = await request.json()
        text = self.body.replace("ID", str(asked.get("id")))
        return web.Response(text=text, content_type=self.kind)


async def refuse(open_server: Open, server: McpServer) -> str:
    """Return why a session could not be opened."""
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(McpUnavailable) as caught:
            async with open_server(server):
                pass
    said = str(caught.value)
    assert "\n" not in said
    assert "pydantic" not in said
    return said


@pytest.mark.process
async def test_a_program_that_is_none_is_named(tmp_path: Path, open_server: Open) -> None:
    assert await refuse(open_server, write_program(tmp_path, version="2099-01-01")) == NEWER
    assert await refuse(open_server, write_program(tmp_path, version=7)) == NONE
    assert await refuse(open_server, write_program(tmp_path, CUT)) == (
        f"does not speak MCP; it said: {CUT}"
    )


async def test_a_program_that_says_other_words_is_quoted() -> None:
    for words in ("Welcome to the weather shell.", "null", '{"level": 30, "msg": "ready"}'):
        link = StreamLink()
        sent, read = anyio.create_memory_object_stream[SessionMessage | Exception](2)
        async with sent, LimitedStream(read, link, patience=0.05) as stream:
            await sent.send(Unreadable(words))
            await sent.send(Unreadable("more"))
            assert [str(item) async for item in stream] == [words, "more"]
        assert link.fault == f"does not speak MCP; it said: {words}"


@pytest.mark.process
async def test_a_program_may_greet_before_it_speaks(tmp_path: Path, open_server: Open) -> None:
    server = write_program(tmp_path, "Welcome!", mends=True)
    async with asyncio.timeout(PATIENCE), open_server(server) as session:
        assert session.protocol == "2025-06-18"


@pytest.mark.parametrize(
    ("body", "kind", "reason"),
    [
        (CUT, "application/json", NONE),
        ("null", "application/json", NONE),
        ("event: message\ndata: {\n\n", "text/event-stream", NONE),
        ("<html>Welcome</html>", "text/html", "text/html; charset=utf-8; check that it is an MCP"),
        ("", "text/plain", "check that it is an MCP server"),
        (
            (
                '{"jsonrpc": "2.0", "id": ID, "result": {"protocolVersion": "2099-01-01",'
                ' "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}}'
            ),
            "application/json",
            NEWER,
        ),
    ],
)
async def test_an_address_that_is_none_is_named(
    body: str, kind: str, reason: str, open_server: Open
) -> None:
    async with OddServer(body, kind) as web_server:
        server = McpServer(name="odd", url=f"{web_server.url}/mcp", is_local=True)
        assert reason in await refuse(open_server, server)
