"""The ssh backend: whom it trusts, and a connection that is lost."""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution import Command, RemoteSettings, SshBackend, run_command
from agent_core.execution.subprocesses.process_tree import list_below
from tests.agent_core.execution.backends import (
    LIMITS,
    MEGABYTE,
    needs_bubblewrap,
    needs_ssh,
)
from tests.agent_core.execution.sshd import open_folder, run_server

pytestmark = [pytest.mark.process, pytest.mark.slow, needs_ssh, needs_bubblewrap]


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
        async with asyncio.timeout(45):
            while not beat.exists():
                await asyncio.sleep(0)
        _break_connections(int((tmp_path / "server" / "pid").read_text()))
        with pytest.raises(BackendUnavailable, match="look before you repeat it"):
            await running
    with pytest.raises(BackendUnavailable):
        await backend.start(command)
    await backend.close()
    async with asyncio.timeout(45):
        while await _beats(beat):
            pass


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
