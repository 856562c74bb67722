"""The conformance suite of MCP, which is an npm package, against the client.

It is installed with the servers of `test_npm_servers`; it needs Node 22, which comes from npm, too.
"""

import asyncio
import os
import sys

import pytest

from tests.agent_core.tools.mcp.test_npm_servers import FOLDER
from tests.architecture.source import ROOT

NODE = FOLDER / "node_modules" / "node" / "bin" / "node"
SUITE = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
CLIENT = "tests.agent_core.tools.mcp.conformance_client"
pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not SUITE.exists(), reason=f"{FOLDER} has no conformance suite from npm"),
    pytest.mark.skipif(not NODE.exists(), reason=f"{FOLDER} has no Node 22 from npm"),
]


async def run_suite(*words: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(SUITE), "client", "--timeout", "60000", *words),
        *("--command", f"{sys.executable} -m {CLIENT}"),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()[-3000:]


@pytest.mark.parametrize("suite", ["core", "draft"])
async def test_the_client_passes(suite: str) -> None:
    code, said = await run_suite("--suite", suite)
    assert ", 0 failed" in said.rsplit("Total:")[-1], (code, said)
