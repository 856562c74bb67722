"""The conformance suite of MCP, which is an npm package, against Talaria's MCP server.

The suite names tools that only a test server has. Those that return text stand in for a person's
own; the page's server, the token, the endpoint and what it answers are the gateway's.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from pathlib import Path
from typing import cast

import aiohttp
import pytest
from aiohttp import web

from agent_core.tools.contract import ToolResult
from agent_core.transcript import ToolSpec
from gateway.app.settings import load
from gateway.interfaces.http.loading import take_port
from gateway.interfaces.http.server import serving_page
from gateway.turns.client_calls import Client, ClientCalls
from tests.agent_core.tools.mcp.npm_folder import FOLDER, NODE, SUITE
from tests.integration.canaries import fill
from tests.integration.interfaces.api_setup import OLGA, make_token
from tests.integration.processes import free_port
from tests.integration.served import served
from tests.tables import await_each

pytestmark = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.slow,
    pytest.mark.skipif(not SUITE.exists(), reason=f"{FOLDER} has no conformance suite from npm"),
    pytest.mark.skipif(not NODE.exists(), reason=f"{FOLDER} has no Node 22 from npm"),
]

OWN = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""Scenarios that run with the person's own tools."""
NAMED = ("tools-call-simple-text", "tools-call-error", "json-schema-2020-12")
"""Scenarios that run with the tools that the suite names."""
_TEXT = "the tools of the server return text alone"
_ASKS = "the server asks its client nothing"
_STREAM = "the server answers in JSON without a session, so the suite would check nothing"
_RESOURCES = "the server has no resources"
_PROMPTS = "the server has no prompts"
LEFT_OUT = {
    "logging-set-level": "the server sends no log",
    "tools-call-with-logging": "the server sends no log",
    "tools-call-with-progress": "the server reports no progress",
    "completion-complete": "the server has no prompts to complete",
    "tools-call-image": _TEXT,
    "tools-call-audio": _TEXT,
    "tools-call-embedded-resource": _TEXT,
    "tools-call-mixed-content": _TEXT,
    "tools-call-sampling": _ASKS,
    "tools-call-elicitation": _ASKS,
    "elicitation-sep1034-defaults": _ASKS,
    "elicitation-sep1330-enums": _ASKS,
    "server-sse-polling": _STREAM,
    "server-sse-multiple-streams": _STREAM,
    "resources-list": _RESOURCES,
    "resources-read-text": _RESOURCES,
    "resources-read-binary": _RESOURCES,
    "resources-templates-read": _RESOURCES,
    "resources-subscribe": _RESOURCES,
    "resources-unsubscribe": _RESOURCES,
    "prompts-list": _PROMPTS,
    "prompts-get-simple": _PROMPTS,
    "prompts-get-with-args": _PROMPTS,
    "prompts-get-embedded-resource": _PROMPTS,
    "prompts-get-with-image": _PROMPTS,
}
"""Every other scenario, and why it doesn't apply."""

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}}}
SCHEMAS: Mapping[str, Mapping[str, object]] = {
    "test_simple_text": NOTHING,
    "test_error_handling": NOTHING,
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": ADDRESS},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
}


class NamedTools:
    """The tools that the suite names, in place of a person's own."""

    async def list_tools(self, client: Client) -> Sequence[ToolSpec]:
        return [
            ToolSpec(name=name, description="A tool of the suite.", schema=json.dumps(schema))
            for name, schema in SCHEMAS.items()
        ]

    async def call(self, client: Client, tool: str, arguments: Mapping[str, object]) -> ToolResult:
        return ToolResult(text=f"This is {tool}.", is_error=tool == "test_error_handling")


@asynccontextmanager
async def serving(home: Path, *, has_named_tools: bool) -> AsyncIterator[str]:
    """Serve `/mcp` for Olga; give an address that needs no token, as the suite has none."""
    await fill(home)
    (home / "config.toml").write_text(f'[access]\nallow = ["fake:{OLGA}"]\n')
    async with served(home) as running:
        token = await make_token(home, "olga", "mcp")
        if not has_named_tools:
            async with _adding(token, running.address.port or 0) as url:
                yield url
            return
        port = free_port()
        gateway = copy(running.gateway)
        gateway.client_calls = cast(ClientCalls, NamedTools())
        gateway.settings = load({"TALARIA_HOME": str(home), "TALARIA_HTTP__PORT": str(port)})
        bound = take_port(gateway.settings.http)
        async with serving_page(gateway, bound), _adding(token, port) as url:
            yield url


@asynccontextmanager
async def _adding(token: str, port: int) -> AsyncIterator[str]:
    """Pass every request on to a port with a token; give the address."""
    own_port = free_port()

    async def forward(request: web.Request) -> web.StreamResponse:
        headers = {
            name: value.replace(str(own_port), str(port)) for name, value in request.headers.items()
        }
        headers["Authorization"] = f"Bearer {token}"
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method,
                f"http://127.0.0.1:{port}/mcp",
                data=await request.read(),
                headers=headers,
            ) as answer,
        ):
            kind = {"Content-Type": answer.headers.get("Content-Type", "text/plain")}
            return web.Response(status=answer.status, body=await answer.read(), headers=kind)

    application = web.Application()
    application.router.add_route("*", "/mcp", forward)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", own_port).start()
    yield f"http://127.0.0.1:{own_port}/mcp"
    await runner.cleanup()


async def run_suite(*words: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(SUITE), *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()


@pytest.mark.parametrize("scenarios", [OWN, NAMED], ids=["own", "named"])
async def test_the_server_passes(tmp_path: Path, scenarios: Sequence[str]) -> None:
    async def check(scenario: str) -> None:
        code, said = await run_suite("server", "--url", url, "--scenario", scenario)
        passed = re.search(r"Passed: ([1-9]\d*)/\1, 0 failed, 0 warnings", said)
        assert (code, bool(passed)) == (0, True), said[-3000:]

    async with serving(tmp_path / "home", has_named_tools=scenarios is NAMED) as url:
        await await_each(scenarios, check)


async def test_every_scenario_is_run_or_left_out_for_a_reason() -> None:
    code, said = await run_suite("list", "--server")
    listed = [line.split()[1] for line in said.splitlines() if line.startswith("  - ")]
    assert code == 0, said
    assert sorted(listed) == sorted([*OWN, *NAMED, *LEFT_OUT])
