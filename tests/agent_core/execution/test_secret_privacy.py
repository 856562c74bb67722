"""No command of a workspace sees the secret of another one that runs at the same time."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from agent_core.errors import WorkspaceError
from agent_core.execution.contract import Backend, Command, Process
from agent_core.execution.timed_command import run_command
from agent_core.tools.workspace.shell import make_secret_command
from tests.agent_core.execution.backends import BACKENDS, HOSTED, open_backend

pytestmark = pytest.mark.process

VALUE = "swordfish-7d1c"
SECONDS = 45.0
SPY = (
    "echo ready; while :; do cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; sleep 0.02;"
    r" done 2>/dev/null | tr '\0' '\n' | grep -a --line-buffered sword > seen"
)


@pytest.fixture(params=[*BACKENDS, *HOSTED])
async def confined(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    async with open_backend(request, tmp_path) as backend:
        yield backend


async def start(backend: Backend, text: str) -> Process:
    process = await backend.start(Command(workspace="anna", argv=("/bin/bash", "-c", text)))
    assert await process.read() == b"ready\n"
    return process


async def use_secret(backend: Backend, text: str) -> bytes:
    argv = make_secret_command(text)
    command = Command(workspace="anna", argv=argv, has_input=True, is_alone=True)
    given = f"SECRET_KEY={VALUE}\0\0".encode()
    done = await run_command(backend, command, seconds=SECONDS, most_bytes=10_000, given=given)
    return done.output


async def test_a_command_beside_one_with_a_secret_does_not_see_it(confined: Backend) -> None:
    spy = await start(confined, SPY)
    try:
        with suppress(WorkspaceError):  # where commands see each other, none runs beside it
            assert await use_secret(confined, "echo $SECRET_KEY; sleep 1") == f"{VALUE}\n".encode()
    finally:
        await spy.kill()
    seen = Command(workspace="anna", argv=("/bin/cat", "seen"))
    done = await run_command(confined, seen, seconds=SECONDS, most_bytes=10_000)
    assert VALUE.encode() not in done.output
    assert await use_secret(confined, "echo $SECRET_KEY") == f"{VALUE}\n".encode()
