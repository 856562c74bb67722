"""The client of the conformance suite: connects to the address that comes last, and calls tools.

Run by the test, or by `--command "python -m tests.agent_core.tools.mcp.conformance_client"`.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

from agent_core.tools.mcp.calls import CallHooks, RunningCall
from agent_core.tools.mcp.contract import McpServer, McpSession, Surroundings
from agent_core.tools.mcp.forms import Form, FormAnswer, PageLink
from agent_core.tools.mcp.session import open_session
from agent_core.tools.mcp.token_files import TokenFolder

DOCUMENT = "https://conformance-test.local/client-metadata.json"
ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


async def visit(url: str, given: Mapping[str, Any]) -> None:
    """Connect to a server of the suite, sign in and use its tools with what the suite gives."""
    server = McpServer(
        name="suite",
        url=url,
        is_local=True,
        has_oauth=True,
        client_id=given.get("client_id", DOCUMENT),
        client_secret=given.get("client_secret", ""),
    )
    with TemporaryDirectory() as folder:
        surroundings = Surroundings(folder=Path(folder))
        files = TokenFolder(Path(folder)).name_files("suite", "key")
        async with open_session(server, surroundings, lambda: None, sign_in, files) as session:
            await use(session, given.get("toolCalls", []))


async def use(session: McpSession, calls: list[dict[str, Any]]) -> None:
    for tool in (await session.list_tools()).tools:
        running = RunningCall(CallHooks(ask=accept), 30)
        planned = [one["arguments"] for one in calls if one["name"] == tool.name]
        for arguments in planned or [ARGUMENTS.get(tool.name, {})]:
            await session.call(tool.name, arguments, running)


async def sign_in(link: str) -> str:
    """Sign in like a person whose browser needs no clicks."""
    async with httpx2.AsyncClient() as browser:
        response = await browser.get(link)
    return response.headers["location"]


async def accept(question: Form | PageLink, number: int) -> FormAnswer:
    if isinstance(question, PageLink):
        return FormAnswer(action="decline")
    defaults = {one.name: one.default for one in question.fields if one.default is not None}
    return FormAnswer(action="accept", content=defaults)


if __name__ == "__main__":
    asyncio.run(visit(sys.argv[-1], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")))
