"""The conformance suite of MCP, which is an npm package, against the client.

It is installed with the servers of `test_npm_servers`; it needs Node 22, which comes from npm, too.
"""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from agent_core.tools.mcp.contract import McpUnavailable
from tests.agent_core.tools.mcp.conformance_client import visit
from tests.agent_core.tools.mcp.npm_folder import FOLDER, NODE, SUITE

CALL = Path(__file__).with_name("conformance_call.py")
pytestmark = [
    pytest.mark.process,
    pytest.mark.thorough,
    pytest.mark.skipif(not SUITE.exists(), reason=f"{FOLDER} has no conformance suite from npm"),
    pytest.mark.skipif(not NODE.exists(), reason=f"{FOLDER} has no Node 22 from npm"),
]


async def run_suite(socket: Path, *words: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(SUITE), "client", "--timeout", "60000", *words),
        *("--command", f"{sys.executable} -IS {CALL} {socket}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return out.decode()[-3000:]


@pytest.mark.parametrize("suite", ["core", "draft"])
async def test_the_client_passes(suite: str, tmp_path: Path) -> None:
    one_at_a_time = asyncio.Lock()  # the suite starts all at once, and measures a pause

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Be the client of one scenario, some of which a client has to refuse."""
        url, given = json.loads(await reader.readline())
        async with one_at_a_time:
            try:
                await visit(url, given)
            except McpUnavailable:
                writer.write(b"1")
            else:
                writer.write(b"0")
        writer.close()
        await writer.wait_closed()

    socket = tmp_path / "socket"
    async with await asyncio.start_unix_server(serve, socket):
        said = await run_suite(socket, "--suite", suite)
    assert ", 0 failed" in said.rsplit("Total:")[-1], said
