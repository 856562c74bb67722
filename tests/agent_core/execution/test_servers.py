"""Programs that speak over their standard streams, and what is left of them."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agent_core.errors import BackendUnavailable
from agent_core.execution.local import find_bubblewrap
from agent_core.execution.sandbox import SandboxLimits
from agent_core.execution.servers import (
    ServerProcess,
    ServerProgram,
    start_sandboxed,
    start_unsandboxed,
)
from agent_core.execution.subprocesses.process_tree import list_below

pytestmark = pytest.mark.process

LIMITS = SandboxLimits(
    memory=2_000_000_000, processes=128, file=100_000_000, workspace=1_000_000_000
)
INHERITED = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
FORKS_AWAY = (
    "import os,sys,time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        time.sleep(600)\n"
    "    os._exit(0)\n"
    "print('ready', flush=True)\n"
    "time.sleep(600)\n"
)
START = {
    "sandboxed": start_sandboxed,
    "unsandboxed": lambda program: start_unsandboxed(program, INHERITED),
}

Start = Callable[[ServerProgram], Awaitable[ServerProcess]]


@pytest.fixture(params=START)
def start(request: pytest.FixtureRequest) -> Start:
    if request.param == "sandboxed" and find_bubblewrap() is None:
        pytest.skip("bubblewrap is not installed")
    return START[request.param]


def make_program(
    tmp_path: Path, *argv: str, environ: dict[str, str] | None = None
) -> ServerProgram:
    return ServerProgram(
        argv=argv,
        folder=tmp_path / "own",
        environ=environ or {},
        limits=LIMITS,
        readable=(Path(sys.prefix), Path(sys.base_prefix)),
    )


async def test_a_program_reads_and_writes(start: Start, tmp_path: Path) -> None:
    process = await start(make_program(tmp_path, "cat"))
    try:
        await process.write(b"one\n")
        assert await process.read() == b"one\n"
    finally:
        await process.end()


async def test_a_program_gets_only_the_environment_that_is_named(
    start: Start, tmp_path: Path
) -> None:
    os.environ["TALARIA_TEST_SECRET"] = "leaked"
    try:
        process = await start(make_program(tmp_path, "env", environ={"TOKEN": "given"}))
        output = b"".join([piece async for piece in read_all(process)])
        await process.end()
    finally:
        del os.environ["TALARIA_TEST_SECRET"]
    assert b"TOKEN=given" in output
    assert b"leaked" not in output


async def test_nothing_is_left_of_a_program_that_forks_away(start: Start, tmp_path: Path) -> None:
    process = await start(make_program(tmp_path, sys.executable, "-c", FORKS_AWAY))
    assert await process.read() == b"ready\n"
    below = list_tree(process.pid)
    assert len(below) >= 2
    await process.end()
    assert [pid for pid in (process.pid, *below) if is_alive(pid)] == []


async def test_a_cancelled_end_leaves_nothing_running(start: Start, tmp_path: Path) -> None:
    process = await start(make_program(tmp_path, "sleep", "600"))
    ending = asyncio.create_task(process.end())
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert not is_alive(process.pid)


async def test_a_cancelled_start_leaves_nothing_running(tmp_path: Path) -> None:
    before, begun = set(list_below(os.getpid())), set[int]()
    for rounds in range(4, 12):
        program = make_program(tmp_path, "sleep", "600")
        task = asyncio.create_task(start_unsandboxed(program, INHERITED))
        while not (new := set(list_below(os.getpid())) - before - begun) and not task.done():
            await asyncio.sleep(0)
        begun |= new
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            process = await task  # it may have begun before
            await process.end()
    assert [pid for pid in list_below(os.getpid()) if pid not in before and is_alive(pid)] == []


async def test_a_program_that_floods_is_ended(start: Start, tmp_path: Path) -> None:
    process = await start(make_program(tmp_path, "yes"))
    assert await process.read()
    await process.end()
    assert not is_alive(process.pid)


async def test_the_end_of_the_errors_is_kept(start: Start, tmp_path: Path) -> None:
    process = await start(make_program(tmp_path, "sh", "-c", "echo no such token >&2"))
    assert await process.read() == b""
    await process.end()
    assert "no such token" in process.errors()


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="there is no program `no-such-program`"):
        await start_unsandboxed(make_program(tmp_path, "no-such-program"), INHERITED)


@pytest.mark.skipif(find_bubblewrap() is None, reason="bubblewrap is not installed")
async def test_a_secret_is_on_no_command_line(tmp_path: Path) -> None:
    process = await start_sandboxed(
        make_program(tmp_path, "cat", environ={"TOKEN": "s3cret-value"})
    )
    try:
        await process.write(b"x\n")
        assert await process.read() == b"x\n"
        lines = [read_command_line(pid) for pid in (process.pid, *list_tree(process.pid))]
        assert not any(b"s3cret-value" in line for line in lines)
    finally:
        await process.end()


@pytest.mark.skipif(find_bubblewrap() is None, reason="bubblewrap is not installed")
async def test_the_sandbox_shows_neither_the_home_nor_the_network(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("private")
    script = f"cat {tmp_path}/state.db; ls /sys/class/net /proc/net/route; wc -l < /proc/net/route"
    process = await start_sandboxed(make_program(tmp_path, "sh", "-c", script))
    output = b"".join([piece async for piece in read_all(process)])
    await process.end()
    assert b"private" not in output
    assert output.strip().endswith(b"1")  # the heading only


async def read_all(process: ServerProcess) -> AsyncIterator[bytes]:
    while piece := await process.read():
        yield piece


def list_tree(root: int) -> list[int]:
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found[1:]


def is_alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def read_command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
