"""The local backends: a machine without bubblewrap; and a gateway that dies, for each backend."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Backend, Command, Exit
from agent_core.execution.local import LocalBackend, find_bubblewrap
from agent_core.execution.reaped.backend import (
    LandlockBackend,
    UnsandboxedBackend,
    find_landlock_fault,
)
from agent_core.execution.subprocesses import landlock
from agent_core.execution.subprocesses.pid_limit import is_pid_limit_set, limit_pids
from agent_core.execution.subprocesses.process_tree import list_below
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.backends import (
    LIMITS,
    MEGABYTE,
    make_local,
    needs_bubblewrap,
    needs_docker,
    needs_landlock,
)
from tests.agent_core.execution.engine import remove_containers
from tests.agent_core.execution.plain_user import open_to_user
from tests.patience import PATIENCE

GATEWAY = """
import asyncio, sys
from pathlib import Path
from agent_core.execution.contract import Command
from tests.agent_core.execution import backends
from tests.patience import PATIENCE

async def main():
    beat = "while :; do date +%N > beat; sleep 0.02; done"
    command = Command(workspace="anna", argv=("/bin/bash", "-c", beat))
    await getattr(backends, sys.argv[2])(Path(sys.argv[1])).start(command)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("name", ["landlock", "unsandboxed"])
async def test_root_gets_no_commands_without_namespaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    backend: Backend = LandlockBackend(tmp_path, LIMITS, home=tmp_path)
    if name == "unsandboxed":
        backend = UnsandboxedBackend(tmp_path, LIMITS, {})
    command = Command(workspace="anna", argv=("/bin/true",))
    with pytest.raises(BackendUnavailable, match="use another account"):
        await backend.start(command)
    with pytest.raises(BackendUnavailable):
        await backend.health()
    with pytest.raises(BackendUnavailable):
        await backend.read_file("anna", "x", 10)


@needs_landlock
def test_a_home_among_the_programs_is_no_place_for_landlock(
    tmp_path: Path, plain_user: None
) -> None:
    assert find_landlock_fault(tmp_path) == ""
    assert "lies among the system's programs" in find_landlock_fault(Path("/usr/share/talaria"))


@pytest.mark.parametrize("version", [0, 5])
def test_an_old_kernel_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    monkeypatch.setattr(landlock, "find_abi", lambda: version)
    assert "Linux 6.12" in find_landlock_fault(tmp_path)


@needs_landlock
@pytest.mark.process
async def test_an_unsandboxed_command_inherits_no_token(tmp_path: Path, plain_user: None) -> None:
    environ = {"PATH": "/usr/bin:/bin", "HOME": "/home/ada", "OPENAI_API_KEY": "sk-1"}
    backend = UnsandboxedBackend(tmp_path, LIMITS, environ)
    command = Command(workspace="anna", argv=("/usr/bin/env",))
    done = await run_command(backend, command, seconds=30, most_bytes=MEGABYTE)
    await backend.close()
    assert b"sk-1" not in done.output
    assert b"HOME=/home/ada\n" in done.output


@needs_bubblewrap
@pytest.mark.skipif(not is_pid_limit_set(), reason="not root, or a kernel before Linux 6.14")
@pytest.mark.process
async def test_the_kernel_limits_the_processes_of_a_sandbox_that_root_starts(
    tmp_path: Path,
) -> None:
    words = ("/bin/cat", "/proc/sys/kernel/pid_max")
    command = Command(workspace="anna", argv=words)
    done = await run_command(make_local(tmp_path), command, seconds=20, most_bytes=MEGABYTE)
    assert int(done.output) == 300 + LIMITS.processes
    outside = await asyncio.to_thread(Path(words[1]).read_text)
    assert int(outside) > 300 + LIMITS.processes


@pytest.mark.skipif(not is_pid_limit_set(), reason="not root, or a kernel before Linux 6.14")
@pytest.mark.process
def test_a_program_in_the_namespace_of_talaria_does_not_limit_the_machine() -> None:
    limit = Path("/proc/sys/kernel/pid_max")
    before = int(limit.read_text())
    code = (
        "import json, os, sys; told, begin = map(int, sys.argv[1:]);"
        "os.write(told, json.dumps({'child-pid': os.getpid()}).encode()); os.close(told);"
        "os.read(begin, 1)"
    )
    # One less than now: should the check ever fail, the machine still works.
    with limit_pids(before - 301) as (_, pipes):
        words = [sys.executable, "-c", code, *map(str, pipes)]
        waiting = subprocess.Popen(words, pass_fds=pipes)
    assert waiting.wait(60) == 0
    assert int(limit.read_text()) == before


@pytest.mark.process
async def test_a_sandbox_that_can_not_start_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    with pytest.raises(BackendUnavailable, match="No permissions to create namespace"):
        await LocalBackend(tmp_path, LIMITS, program=str(broken)).health()


@needs_bubblewrap
@pytest.mark.process
async def test_a_home_among_the_programs_is_hidden(tmp_path: Path) -> None:
    hidden = Path("/usr/share/doc")
    backend = LocalBackend(tmp_path, LIMITS, hidden=(hidden,), program=find_bubblewrap() or "")
    command = Command(workspace="anna", argv=("/bin/ls", "-A", str(hidden)))
    done = await run_command(backend, command, seconds=30, most_bytes=MEGABYTE)
    assert (done.status, done.output) == (0, b"")


@needs_bubblewrap
@pytest.mark.process
@pytest.mark.parametrize("make", ["make_local", pytest.param("make_docker", marks=needs_docker)])
async def test_commands_die_with_a_gateway_that_is_killed(
    tmp_path: Path, make: str, request: pytest.FixtureRequest
) -> None:
    if make == "make_docker":
        request.addfinalizer(lambda: remove_containers(tmp_path))
    gateway = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", GATEWAY, str(tmp_path), make)
    )
    beat = tmp_path / "workspaces" / "anna" / "beat"
    async with asyncio.timeout(PATIENCE):
        while not beat.exists():
            await asyncio.sleep(0.01)
        os.kill(gateway.pid, signal.SIGKILL)
        await gateway.wait()
        while await _beats(beat, make_local(tmp_path)):
            pass


REAPING = """
import asyncio, sys
from pathlib import Path
from agent_core.execution.contract import Command
from agent_core.execution.reaped.backend import LandlockBackend
from tests.agent_core.execution.backends import LIMITS
from tests.agent_core.execution.plain_user import become_plain_user

async def main():
    place = Path(sys.argv[1])
    backend = LandlockBackend(place / "workspaces", LIMITS, home=place)
    with become_plain_user():
        process = await backend.start(Command(workspace="anna", argv=("/bin/sleep", "600")))
        await process.wait()

asyncio.run(main())
"""


@needs_landlock
@pytest.mark.thorough
@pytest.mark.process
async def test_the_program_of_the_reapers_ends_with_a_gateway_that_is_killed(
    tmp_path: Path,
) -> None:
    words = (sys.executable, "-c", REAPING, str(open_to_user(tmp_path)))
    gateway = await asyncio.create_subprocess_exec(*words)
    below: list[int] = []
    async with asyncio.timeout(PATIENCE):
        while len(below) < 3:  # the program, the reaper and the command
            await asyncio.sleep(0.01)
            below = list_below(gateway.pid)
        os.kill(gateway.pid, signal.SIGKILL)
        await gateway.wait()
        while any(_runs(pid) for pid in below):
            await asyncio.sleep(0.01)


def _runs(pid: int) -> bool:
    """Return whether a process is there; one that waits for its parent has ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@needs_landlock
@pytest.mark.process
async def test_a_program_of_reapers_that_was_killed_is_replaced(
    tmp_path: Path, plain_user: None
) -> None:
    backend = LandlockBackend(tmp_path / "workspaces", LIMITS, home=tmp_path)
    waits = Command(workspace="anna", argv=("/bin/cat",), has_input=True)
    running = await backend.start(waits)
    await running.write(b"here")
    assert await running.read() == b"here"
    (program,) = filter(_is_program, list_below(os.getpid()))
    os.kill(program, signal.SIGSTOP)
    command = Command(workspace="anna", argv=("/bin/echo", "here"))
    lost = await backend.start(command)
    os.kill(program, signal.SIGKILL)
    with pytest.raises(BackendUnavailable, match="the command did not start"):
        await lost.wait()
    while _runs(program):
        await asyncio.sleep(0.01)
    done = await run_command(backend, command, seconds=30, most_bytes=MEGABYTE)
    assert (done.status, done.output) == (0, b"here\n")
    await running.write(b"still here")
    await running.write(b"")
    assert (await running.read(), await running.wait()) == (b"still here", Exit(status=0, limit=""))
    await backend.close()
    assert not any(_is_program(pid) for pid in list_below(os.getpid()))


def _is_program(pid: int) -> bool:
    """Return whether a process is this one's program of reapers, rather than a reaper."""
    place = Path(f"/proc/{pid}")
    parent = (place / "stat").read_text().rpartition(")")[2].split()[1]
    return b"command_reaper" in (place / "cmdline").read_bytes() and int(parent) == os.getpid()


async def _beats(beat: Path, backend: LocalBackend) -> bool:
    """Return whether somebody writes to a file while another command runs."""
    before = _read(beat)
    command = Command(workspace="ben", argv=("/bin/sleep", "0.2"))
    await run_command(backend, command, seconds=30, most_bytes=MEGABYTE)
    return _read(beat) != before


def _read(path: Path) -> bytes:
    return path.read_bytes()
