"""The docker backend: its containers over restarts, idle times and mishaps."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import BackendCrowded, BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.docker import ContainerSettings, DockerBackend
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.backends import (
    LIMITS,
    MEGABYTE,
    make_docker,
    make_local,
    needs_bubblewrap,
    needs_docker,
)
from tests.agent_core.execution.engine import IMAGE, remove_containers
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.thorough]


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[Path]:
    yield tmp_path
    remove_containers(tmp_path)


async def say(backend: DockerBackend, text: str) -> bytes:
    command = Command(workspace="anna", argv=("/bin/bash", "-c", text))
    return (await run_command(backend, command, seconds=45, most_bytes=MEGABYTE)).output


def inspect(form: str) -> list[str]:
    """One line for each container of ours, by this form."""
    listed = subprocess.run(
        ["docker", "ps", "--all", "--quiet", "--filter", "label=talaria.workspace=anna"],
        check=True,
        capture_output=True,
        text=True,
    )
    shown = subprocess.run(
        ["docker", "inspect", "--format", form, *listed.stdout.split()],
        check=False,
        capture_output=True,
        text=True,
    )
    return shown.stdout.split()


def of(folder: Path, form: str) -> str:
    """The line of the container whose workspace is below a folder."""
    lines = inspect("{{(index .Mounts 0).Source}}|" + form)
    (line,) = [line for line in lines if line.startswith(str(folder))]
    return line.partition("|")[2]


@needs_docker
async def test_a_container_has_nothing_that_it_does_not_need(folder: Path) -> None:
    backend = make_docker(folder)
    assert await say(backend, "id -u; touch /x /etc/x 2>/dev/null || echo read-only") == (
        b"1000\nread-only\n"
    )
    form = (
        "{{.HostConfig.NetworkMode}}|{{.HostConfig.ReadonlyRootfs}}|{{.HostConfig.CapDrop}}"
        "|{{range .HostConfig.SecurityOpt}}{{if lt (len .) 20}}{{.}}{{end}}{{end}}"
        "|{{.HostConfig.Privileged}}|{{len .Mounts}}"
        "|{{range .Mounts}}{{if not .RW}}{{.Destination}}{{end}}{{end}}"
    )
    assert of(folder, form) == "none|true|[ALL]|no-new-privileges|false|2|/opt/talaria/git"
    await backend.close()


@needs_docker
async def test_the_next_process_finds_the_container_and_ends_what_ran_in_it(folder: Path) -> None:
    first = make_docker(folder)
    beat = "while :; do date +%N > beat; sleep 0.02; done"
    await first.start(Command(workspace="anna", argv=("/bin/bash", "-c", beat)))
    known = of(folder, "{{.Id}}")
    second = make_docker(folder)  # the first one was killed, and could end nothing
    assert await say(second, "a=$(cat beat); sleep 0.2; [ $a = $(cat beat) ] && echo still") == (
        b"still\n"
    )
    assert of(folder, "{{.Id}}") == known
    await first.close()
    await second.close()
    assert of(folder, "{{.State.Status}}") == "exited"


@needs_docker
async def test_an_idle_container_is_paused_and_wakes_for_a_command(folder: Path) -> None:
    settings = ContainerSettings(image=IMAGE, idle_seconds=0, environ=os.environ)
    backend = DockerBackend(folder / "workspaces", LIMITS, settings)
    assert await say(backend, "echo one") == b"one\n"
    async with asyncio.timeout(PATIENCE):
        while of(folder, "{{.State.Status}}") != "paused":
            await asyncio.sleep(0.01)
    assert await say(backend, "echo two") == b"two\n"
    await backend.close()


@needs_docker
async def test_a_container_that_somebody_removed_is_made_again(folder: Path) -> None:
    backend = make_docker(folder)
    await say(backend, "echo kept > note")
    remove_containers(folder)
    assert await say(backend, "cat note") == b"kept\n"
    await backend.close()


@needs_docker
@needs_bubblewrap
async def test_a_workspace_keeps_its_files_when_its_backend_changes(folder: Path) -> None:
    local, docker = make_local(folder), make_docker(folder)
    for number, backend in enumerate((local, docker, local, docker)):
        command = f"ls; [ {number} = 0 ] || rm {number - 1}; echo > {number}"
        done = await run_command(
            backend,
            Command(workspace="anna", argv=("/bin/bash", "-c", command)),
            seconds=60,
            most_bytes=MEGABYTE,
        )
        assert (done.output, done.status) == (b"%d\n" % (number - 1) if number else b"", 0)
    await docker.close()


@needs_docker
async def test_a_command_without_room_says_so_and_ends_no_other(folder: Path) -> None:
    backend = make_docker(folder)
    # The engine still has room to begin a third command, which has none for its processes.
    hold = "for _ in {1..24}; do sleep 600 & done; echo up; wait"
    command = Command(workspace="anna", argv=("/bin/bash", "-c", hold))
    try:
        first, second = [await backend.start(command) for _ in range(2)]
        async with asyncio.timeout(PATIENCE):
            assert [await first.read(), await second.read()] == [b"up\n", b"up\n"]
        with pytest.raises(BackendCrowded, match="wait until one ends, or stop one"):
            await say(backend, "echo well")
        assert not first.has_reported
        assert not second.has_reported
        await first.kill()
        assert await say(backend, "echo well") == b"well\n"
        assert not second.has_reported
    finally:
        await backend.close()


@needs_docker
async def test_a_command_whose_container_dies_is_lost_with_a_reason(folder: Path) -> None:
    backend = make_docker(folder)
    waiting = asyncio.create_task(say(backend, "touch begun; sleep 600"))
    async with asyncio.timeout(PATIENCE):
        while not (folder / "workspaces/anna/begun").exists():
            await asyncio.sleep(0.01)
    remove_containers(folder)
    with pytest.raises(BackendUnavailable, match="look before you repeat it"):
        await waiting
    await backend.close()


async def test_without_an_engine_nothing_runs_and_the_error_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    backend = make_docker(tmp_path)
    with pytest.raises(BackendUnavailable, match=r"docker( is not installed|` failed| version` f)"):
        await backend.health()
    with pytest.raises(BackendUnavailable):
        await say(backend, "true")


@needs_docker
async def test_a_container_sees_the_listed_folders_and_writes_only_where_it_may(
    folder: Path,
) -> None:
    shown, open_one = folder / "shown", folder / "open"
    for place in (shown, open_one):
        place.mkdir()
        place.chmod(0o777)
        (place / "note").write_text(place.name)
    mounts = ((str(shown), "/data/shown", False), (str(open_one), "/data/open", True))
    settings = ContainerSettings(image=IMAGE, environ=os.environ, mounts=mounts)
    backend = DockerBackend(folder / "workspaces", LIMITS, settings)
    assert await say(backend, "cat /data/*/note") == b"openshown"
    said = await say(backend, "echo x > /data/shown/new; echo x > /data/open/new")
    assert b"Read-only file system" in said
    assert not (shown / "new").exists()
    assert (open_one / "new").exists()
    await backend.close()


@needs_docker
async def test_a_card_that_the_machine_lacks_is_a_reason(folder: Path) -> None:
    backend = DockerBackend(
        folder / "workspaces",
        LIMITS,
        ContainerSettings(image=IMAGE, gpus="all", environ=os.environ),
    )
    with pytest.raises(BackendUnavailable, match=r"`docker run` failed: .*(gpu|device)"):
        await say(backend, "true")
    await backend.close()


@needs_docker
async def test_backends_of_two_names_share_files_but_no_container(folder: Path) -> None:
    root = folder / "workspaces"
    usual = ContainerSettings(image=IMAGE, environ=os.environ)
    one = DockerBackend(root, LIMITS, usual)
    two = DockerBackend(root, LIMITS, replace(usual, name="box", cpus=2.0))
    assert await say(one, "echo one > note; hostname") == await say(two, "hostname")
    assert await say(two, "cat note") == b"one\n"
    assert sorted(inspect("{{.HostConfig.NanoCpus}}")) == ["1000000000", "2000000000"]
    await one.close()
    await two.close()
