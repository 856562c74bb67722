"""Servers of the tests, and what they run in."""

import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from agent_core.execution.local import find_bubblewrap
from agent_core.tools.mcp.calls import CallHooks, RunningCall
from agent_core.tools.mcp.contract import CallOutcome, McpServer, McpSession, Surroundings
from agent_core.tools.mcp.session import open_session
from tests.agent_core.tools.mcp.hub_stage import OpenStage, staged

HERE = Path(__file__).parent
PREFIXES = (Path(sys.prefix), Path(sys.base_prefix))

Open = Callable[..., AbstractAsyncContextManager[McpSession]]


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    return Surroundings(folder=tmp_path / "mcp", inherited={"PATH": "/usr/local/bin:/usr/bin:/bin"})


@pytest.fixture
def open_server(surroundings: Surroundings) -> Open:
    @asynccontextmanager
    async def opened(
        server: McpServer, changed: Callable[[], None] = lambda: None
    ) -> AsyncIterator[McpSession]:
        async with open_session(server, surroundings, changed) as session:
            yield session

    return opened


async def call(
    session: McpSession, tool: str, arguments: Mapping[str, object], hooks: CallHooks | None = None
) -> CallOutcome:
    return await session.call(tool, arguments, RunningCall(hooks or CallHooks(), 60))


def python_server(name: str = "python", **more: object) -> McpServer:
    return make_server(name, "sdk_server.py", **more)


def hostile_server(how: str, **more: object) -> McpServer:
    return make_server("hostile", "hostile_server.py", how, **more)


def make_server(name: str, script: str, *words: str, **more: object) -> McpServer:
    return McpServer(
        name=name,
        argv=(sys.executable, str(HERE / script), *words),
        is_sandboxed=find_bubblewrap() is not None,
        readable=(*PREFIXES, HERE),
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def stage(tmp_path: Path, surroundings: Surroundings) -> OpenStage:
    return partial(staged, tmp_path, surroundings)
