"""The choice of backends: each person's commands and files are where the owner said."""

from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.local import LocalBackend
from agent_core.execution.selected import SelectedBackends
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.backends import LIMITS, MEGABYTE, make_local, needs_bubblewrap


def make_broken(folder: Path) -> LocalBackend:
    return LocalBackend(folder, LIMITS, program="/missing/bwrap")


async def write(backend: SelectedBackends, workspace: str) -> None:
    command = Command(workspace=workspace, argv=("/bin/bash", "-c", "touch made"))
    done = await run_command(backend, command, seconds=30, most_bytes=MEGABYTE)
    assert done.status == 0


@needs_bubblewrap
@pytest.mark.process
async def test_commands_and_files_are_in_the_chosen_place(tmp_path: Path) -> None:
    here, there = make_local(tmp_path / "here"), make_local(tmp_path / "there")
    backend = SelectedBackends(here, {"ben": there})
    for workspace in ("anna", "ben"):
        await write(backend, workspace)
        await backend.write_file(workspace, "note", b"x")
        assert (await backend.read_file(workspace, "note", 10)).data == b"x"
    assert {path.name for path in (tmp_path / "here/workspaces/anna").iterdir()} == {"made", "note"}
    assert {path.name for path in (tmp_path / "there/workspaces/ben").iterdir()} == {"made", "note"}
    assert not (tmp_path / "here/workspaces/ben").exists()
    await backend.close()


@needs_bubblewrap
@pytest.mark.process
async def test_one_that_fails_is_named_and_takes_nothing_from_the_others(tmp_path: Path) -> None:
    backend = SelectedBackends(make_local(tmp_path), {"ben": make_broken(tmp_path)})
    assert "can't start" in (await backend.list_faults())["local"]
    await backend.health()
    await write(backend, "anna")
    with pytest.raises(BackendUnavailable, match="can't start"):
        await write(backend, "ben")


@pytest.mark.process
async def test_without_a_default_others_learn_what_is_missing(tmp_path: Path) -> None:
    backend = SelectedBackends(None, {"ben": make_broken(tmp_path)})
    assert not backend.has_network("anna")
    with pytest.raises(BackendUnavailable, match="the owner can choose one"):
        await backend.read_file("anna", "x", 1)
    with pytest.raises(BackendUnavailable, match="can't start"):
        await backend.health()
