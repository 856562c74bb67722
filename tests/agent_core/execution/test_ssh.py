"""The ssh backend: whom it trusts, and a connection that is lost."""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.ssh import RemoteSettings, SshBackend
from agent_core.execution.subprocesses.process_tree import list_below
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.backends import (
    LIMITS,
    MEGABYTE,
    needs_bubblewrap,
    needs_ssh,
)
from tests.agent_core.execution.sshd import open_folder, run_server
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.thorough,
    needs_ssh,
    needs_bubblewrap,
]


async def test_an_unknown_machine_is_refused(sshd: RemoteSettings, tmp_path: Path) -> None:
    (tmp_path / "known").write_text("")
    settings = replace(sshd, root=str(tmp_path), known_hosts=str(tmp_path / "known"))
    backend = SshBackend(LIMITS, settings)
    with pytest.raises(BackendUnavailable, match="Host key verification failed"):
        await backend.health()
    await backend.close()


async def test_a_key_that_is_not_known_there_is_refused(
    sshd: RemoteSettings, tmp_path: Path
) -> None:
    other = Path(sshd.key).parent / "host"
    backend = SshBackend(LIMITS, replace(sshd, root=str(tmp_path), key=str(other)))
    with pytest.raises(BackendUnavailable, match="Permission denied"):
        await backend.health()
    await backend.close()


async def test_a_lost_machine_is_an_error_and_its_commands_end(tmp_path: Path) -> None:
    beat = tmp_path / "workspaces" / "anna" / "beat"
    with run_server(tmp_path / "server") as server:
        settings = replace(server, root=str(open_folder(tmp_path / "workspaces")))
        backend = SshBackend(LIMITS, settings)
        text = "while :; do date +%N > beat; sleep 0.02; done"
        command = Command(workspace="anna", argv=("/bin/bash", "-c", text))
        running = asyncio.create_task(
            run_command(backend, command, seconds=600, most_bytes=MEGABYTE)
        )
        async with asyncio.timeout(PATIENCE):
            while not beat.exists():
                await asyncio.sleep(0.01)
        _break_connections(int((tmp_path / "server" / "pid").read_text()))
        with pytest.raises(BackendUnavailable, match="look before you repeat it"):
            await running
    with pytest.raises(BackendUnavailable):
        await backend.start(command)
    await backend.close()
    async with asyncio.timeout(PATIENCE):
        while await _beats(beat):
            pass


async def test_what_a_vanished_gateway_left_ends_at_the_next_start(
    sshd: RemoteSettings, tmp_path: Path
) -> None:
    """The other machine does not notice that a gateway without a network has ended."""
    place = open_folder(tmp_path / "workspaces")
    settings = replace(sshd, root=str(place), gateway="one")
    backends = [SshBackend(LIMITS, settings), SshBackend(LIMITS, replace(settings, gateway="two"))]
    text = "while :; do date +%N > beat; sleep 0.02; done"
    processes = [
        await backend.start(Command(workspace=name, argv=("/bin/bash", "-c", text)))
        for backend, name in zip(backends, ("anna", "ben"), strict=True)
    ]
    ours, theirs = (place / name / "beat" for name in ("anna", "ben"))
    async with asyncio.timeout(PATIENCE):
        while not (ours.exists() and theirs.exists()):
            await asyncio.sleep(0.01)
    clients = _find_clients(backends[0])
    for pid in clients:
        os.kill(pid, signal.SIGSTOP)
    fresh = SshBackend(LIMITS, settings)
    try:
        async with asyncio.timeout(PATIENCE):
            while not await _beats(ours):
                pass
        assert await fresh.end_abandoned() > 0
        assert await fresh.end_abandoned() == 0
        async with asyncio.timeout(PATIENCE):
            while await _beats(ours):
                pass
            while not await _beats(theirs):
                pass
        await fresh.health()
    finally:
        for pid in clients:
            os.kill(pid, signal.SIGCONT)
        with pytest.raises(BackendUnavailable, match="look before you repeat it"):
            await processes[0].wait()
        for backend in (*backends, fresh):
            await backend.close()


async def test_what_is_left_on_a_machine_that_is_away_ends_before_the_next_command(
    sshd: RemoteSettings, tmp_path: Path
) -> None:
    root = str(open_folder(tmp_path / "workspaces"))
    away = SshBackend(LIMITS, replace(sshd, root=root, port=1))
    with pytest.raises(BackendUnavailable):
        await away.end_abandoned()
    with pytest.raises(BackendUnavailable):
        await away.start(Command(workspace="anna", argv=("/bin/true",)))
    await away.close()


def _find_clients(backend: SshBackend) -> list[int]:
    """Find the clients of a backend by the folder of its connection."""
    folder = f"talaria-ssh-{os.getpid()}-{id(backend):x}/".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                if folder in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def _break_connections(server: int) -> None:
    """Kill the server's side of every connection, and nothing that runs behind it."""
    for pid in list_below(server):
        with suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().startswith("sshd"):
                os.kill(pid, signal.SIGKILL)


async def _beats(beat: Path) -> bool:
    """Return whether somebody still writes to a file."""
    before = _read(beat)
    pause = await asyncio.create_subprocess_exec("sleep", "0.2")
    await pause.wait()
    return _read(beat) != before


def _read(beat: Path) -> str:
    return beat.read_text()
