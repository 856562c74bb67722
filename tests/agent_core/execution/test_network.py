"""The network of the local sandbox: one port, for whom the owner allows it."""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.contract import Command
from agent_core.execution.local import LocalBackend, find_bubblewrap
from agent_core.execution.timed_command import Completed, run_command
from agent_core.tools.network.lookup import HostLookup
from agent_core.tools.network.proxy import AllowedHosts, SandboxProxy
from tests.agent_core.execution.backends import LIMITS, MEGABYTE, needs_bubblewrap
from tests.emulators.sources import Sources
from tests.patience import PATIENCE

ASK = (
    "address=${{http_proxy#http://}}; exec 3<> /dev/tcp/${{address%:*}}/${{address#*:}};"
    " printf 'GET {url} HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
)
"""Bash has TCP of its own, so that no other program is needed."""

pytestmark = [needs_bubblewrap, pytest.mark.process]


@pytest.fixture
async def web() -> AsyncIterator[Sources]:
    async with Sources() as sources:
        yield sources


def make_backend(folder: Path, *hosts: str, program: str | None = None) -> LocalBackend:
    async def here(_host: str, _port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    network = SandboxProxy(("anna",), AllowedHosts(hosts), HostLookup(["web.test"], here))
    return LocalBackend(
        folder / "workspaces", LIMITS, program=program or find_bubblewrap(), network=network
    )


async def run(backend: LocalBackend, text: str, workspace: str = "anna") -> Completed:
    command = Command(workspace=workspace, argv=("/bin/bash", "-c", text))
    return await run_command(backend, command, seconds=PATIENCE, most_bytes=MEGABYTE)


async def test_an_allowed_host_is_reached_and_another_is_refused(
    tmp_path: Path, web: Sources
) -> None:
    web.serve("/page", "found")
    host = f"web.test:{web.port}"
    backend = make_backend(tmp_path, host)
    assert backend.has_network("anna")
    done = await run(backend, ASK.format(url=f"http://{host}/page"))
    assert done.output.endswith(b"found")
    assert done.refusals == ()
    done = await run(backend, ASK.format(url="http://evil.test/"))
    assert done.refusals == ("evil.test is not on the allow list of the sandbox",)


async def test_everybody_else_has_no_network(tmp_path: Path) -> None:
    backend = make_backend(tmp_path, "*")
    assert not backend.has_network("ben")
    done = await run(backend, "env | grep -i proxy; : < /dev/tcp/127.0.0.1/3128", "ben")
    assert b"Connection refused" in done.output
    assert b"http://" not in done.output


async def test_the_port_leads_to_nothing_of_this_machine(tmp_path: Path, web: Sources) -> None:
    backend = make_backend(tmp_path, "*", f"*:{web.port}")
    done = await run(backend, f": < /dev/tcp/127.0.0.1/{web.port}")
    assert b"Connection refused" in done.output
    done = await run(backend, ASK.format(url=f"http://127.0.0.1:{web.port}/"))
    assert b" 403 " in done.output
    assert "127.0.0.1 is not a public address" in done.refusals[0]
    assert web.asked == []


async def test_a_killed_command_leaves_no_connection(tmp_path: Path) -> None:
    gone = asyncio.Event()
    come = asyncio.Event()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        come.set()
        await reader.read()
        gone.set()
        writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    host = f"web.test:{server.sockets[0].getsockname()[1]}"
    backend = make_backend(tmp_path, host)
    text = ASK.format(url=host).replace("GET", "CONNECT")
    process = await backend.start(Command(workspace="anna", argv=("/bin/bash", "-c", text)))
    async with asyncio.timeout(PATIENCE):
        await come.wait()
        await process.kill()
        await gone.wait()
    server.close()


async def test_a_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    backend = make_backend(tmp_path, "*")
    before = count_files()
    text = "touch begun; sleep 600"
    command = Command(workspace="anna", argv=("/bin/bash", "-c", text))
    for is_twice in (False, True) * 3:
        task = asyncio.create_task(backend.start(command))
        while not list_bubblewraps() and not task.done():
            await asyncio.sleep(0)
        task.cancel()
        if is_twice:
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert list_bubblewraps() == []
    assert not (tmp_path / "workspaces" / "anna" / "begun").exists()
    async with asyncio.timeout(PATIENCE):
        while count_files() > before + 1:  # of asyncio's own watch over processes
            await asyncio.sleep(0)


def count_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def list_bubblewraps() -> list[str]:
    """List the children of this process that are sandboxes."""
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids]
    return [name for name in names if name == "bwrap"]


async def test_a_kill_waits_for_the_first_process_of_the_sandbox(tmp_path: Path) -> None:
    slow = tmp_path / "bwrap"
    slow.write_text(f"#!/bin/bash\nread -t 0.2\nsleep 600\ntouch {tmp_path}/ended\n")
    slow.chmod(0o755)
    backend = make_backend(tmp_path, program=str(slow))
    command = Command(workspace="ben", argv=("true",), has_input=True)
    process = await backend.start(command)
    await process.kill()
    assert (tmp_path / "ended").exists(), "the sandbox ends after its first process, not before"


async def test_a_kill_that_is_cancelled_at_once_ends_the_command(tmp_path: Path) -> None:
    backend = make_backend(tmp_path)
    text = "echo begun; sleep 600"
    process = await backend.start(Command(workspace="ben", argv=("/bin/bash", "-c", text)))
    assert await process.read() == b"begun\n"
    task = asyncio.create_task(process.kill())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(PATIENCE):
        assert (await process.wait()).status == 137


async def test_a_sandbox_that_does_not_start_is_no_endless_wait(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    backend = make_backend(tmp_path, "*", program=str(broken))
    with pytest.raises(BackendUnavailable, match="network can't be opened"):
        await run(backend, "true")


async def test_an_offline_command_has_no_network_even_beside_one_that_has(
    tmp_path: Path, web: Sources
) -> None:
    web.serve("/page", "found")
    host = f"web.test:{web.port}"
    backend = make_backend(tmp_path, host)
    server = await backend.start(
        Command(workspace="anna", argv=("/bin/sleep", "60"), circle="talk")
    )
    try:
        ask = f"env | grep -i proxy; {ASK.format(url=f'http://{host}/page')}"
        for circle in ("", "talk"):
            command = Command(
                workspace="anna", argv=("/bin/bash", "-c", ask), circle=circle, is_offline=True
            )
            done = await run_command(backend, command, seconds=PATIENCE, most_bytes=MEGABYTE)
            assert b"found" not in done.output
            assert b"http://" not in done.output
        # The proxy's usual port is closed, too, whatever the environment says.
        command = Command(
            workspace="anna",
            argv=("/bin/bash", "-c", ": < /dev/tcp/127.0.0.1/3128"),
            circle="talk",
            is_offline=True,
        )
        done = await run_command(backend, command, seconds=PATIENCE, most_bytes=MEGABYTE)
        assert b"Connection refused" in done.output
        assert web.asked == []
    finally:
        await server.kill()
