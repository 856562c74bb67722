"""Each command has an empty home of its own outside of the workspace, in every sandbox."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.execution.contract import Backend, Command
from agent_core.execution.timed_command import Completed, run_command
from tests.agent_core.execution.accounts import LIMITS
from tests.agent_core.execution.backends import BACKENDS, HOSTED, needs_landlock, open_backend

pytestmark = pytest.mark.process

SECONDS = 45.0


@pytest.fixture(params=[*BACKENDS, *HOSTED])
async def confined(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    async with open_backend(request, tmp_path) as backend:
        yield backend


async def run(backend: Backend, text: str) -> Completed:
    command = Command(workspace="anna", argv=("/bin/bash", "-c", text))
    return await run_command(backend, command, seconds=SECONDS, most_bytes=100_000)


async def test_a_home_is_empty_at_the_start_and_gone_at_the_end(confined: Backend) -> None:
    fill = "mkdir ~/d; echo x > ~/.bashrc; echo y > ~/d/f; chmod 0 ~/d; echo $HOME $WORKSPACE"
    home, workspace = (await run(confined, fill)).output.decode().split()
    assert not home.startswith(f"{workspace}/")
    assert home != workspace
    left = f"ls -A ~; ls -A -d {home}/.bashrc 2>/dev/null; cd ~; touch a && chmod 600 a && echo ok"
    assert (await run(confined, left)).output == b"ok\n"


@needs_landlock
@pytest.mark.thorough
@pytest.mark.parametrize("confined", ["landlock"], indirect=True)
async def test_a_home_beside_the_workspaces_is_closed_to_other_commands(
    confined: Backend, tmp_path: Path
) -> None:
    first = await confined.start(
        Command(workspace="anna", argv=("/bin/bash", "-c", "echo $HOME; sleep 600"))
    )
    try:
        home = (await first.read()).decode().strip()
        for text in (f"ls {home}", f"echo x > {home}/.bashrc", f"cat {home}/.bashrc"):
            assert (await run(confined, text)).status != 0
    finally:
        await first.kill()
    homes = tmp_path / "workspaces" / ".homes"
    assert list(homes.iterdir()) == []


@needs_landlock
@pytest.mark.thorough
async def test_a_home_has_the_limit_of_a_workspace(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    request.param = "landlock"
    limits = replace(LIMITS, workspace=10_000_000)
    async with open_backend(request, tmp_path, limits) as backend:
        done = await run(backend, "for i in 1 2 3; do head -c 9M /dev/zero > ~/$i; done; sleep 60")
    assert done.limit == "disk"
