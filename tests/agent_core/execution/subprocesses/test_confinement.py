"""What a confined process may do, on kernels with and without the parts that confine it."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from agent_core.execution.subprocesses.confinement import find_protection
from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import spawn
from tests.patience import PATIENCE

pytestmark = pytest.mark.process

FOUND = find_protection()
needs_landlock = pytest.mark.skipif(not FOUND.landlock, reason="this kernel has no Landlock")
needs_seccomp = pytest.mark.skipif(not FOUND.seccomp, reason="this kernel has no seccomp")

CONFINED = """
import socket, subprocess, sys, os, ctypes
from agent_core.execution.subprocesses.confinement import ReaderLimits, confine_reader
limits = ReaderLimits(
    memory=10**9, cpu_seconds={seconds}, file={file}, has_network={has_network}
)
found = confine_reader(limits, {folder!r})
for attack in {attacks!r}:
    try:
        exec(attack)
    except OSError as error:
        print("refused", error.errno)
    else:
        print("done", found.landlock > 0, found.seccomp)
"""
OLD_KERNEL = """
import os, sys
from agent_core.execution.subprocesses.seccomp import Denial, deny
from tests.patience import PATIENCE
deny([Denial(call={call!r}, equal={values!r}, error={error})])
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
"""
"""Runs a program on a kernel that does not know a system call."""


async def run(*argv: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(PATIENCE):
        output, _ = await process.communicate()
    return output.decode()


def confined(
    *attacks: str,
    folder: Path | None = None,
    file: int = 0,
    has_network: bool = False,
    seconds: int = 20,
) -> str:
    place = str(folder) if folder else None
    return CONFINED.format(
        attacks=attacks, folder=place, file=file, has_network=has_network, seconds=seconds
    )


ON_FILES = (
    "open('/etc/passwd').read()",
    "open({home!r} + '/state.db').read()",
    "open('/proc/self/environ').read()",
    "open('/proc/%d/environ' % os.getppid()).read()",
    "os.listdir('/')",
    "os.listdir({home!r})",
    "open({home!r} + '/new', 'w')",
    "os.unlink({home!r} + '/state.db')",
    "os.rename({home!r} + '/state.db', {home!r} + '/other')",
    "os.mkdir({home!r} + '/folder')",
    "os.symlink('/etc/passwd', {home!r} + '/link')",
    "os.truncate({home!r} + '/state.db', 0)",
)
ON_THE_NETWORK = (
    "socket.socket()",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "socket.socketpair()",
    "subprocess.run(['true'])",
    "os.execv(sys.executable, [sys.executable, '-c', ''])",
    "os.pidfd_open(os.getppid())",
)
ON_THIS_MACHINE = (
    "socket.socket(socket.AF_UNIX)",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "os.fork()",
    "os.kill(os.getppid(), 0)",
)
"""What even a reader with network may not do."""


@needs_landlock
async def test_a_reader_opens_and_changes_no_file_of_anybody(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("secret")
    attacks = [attack.format(home=str(tmp_path)) for attack in ON_FILES]
    said = await run("-c", confined(*attacks, file=10**6))
    assert [line.split()[0] for line in said.splitlines()] == ["refused"] * len(ON_FILES), said
    assert (tmp_path / "state.db").read_text() == "secret"


@needs_seccomp
async def test_a_reader_has_no_network_and_no_second_process() -> None:
    attacks = ON_THE_NETWORK + ON_THIS_MACHINE
    assert (await run("-c", confined(*attacks))).splitlines() == ["refused 1"] * len(attacks)


@needs_landlock
@needs_seccomp
async def test_a_reader_with_network_still_reaches_nothing_of_this_machine() -> None:
    attacks = ("open('/etc/passwd').read()", "os.listdir('/')", *ON_THIS_MACHINE)
    said = await run("-c", confined(*attacks, has_network=True))
    assert [line.split()[0] for line in said.splitlines()] == ["refused"] * len(attacks), said


async def test_a_reader_with_network_connects() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    attack = f"socket.create_connection(('127.0.0.1', {port})).close()"
    assert (await run("-c", confined(attack, has_network=True))).startswith("done")
    server.close()


@needs_landlock
async def test_a_reader_may_use_its_libraries_and_one_folder(tmp_path: Path) -> None:
    write = f"open({str(tmp_path / 'cache')!r}, 'w').write('x')"
    read = "__import__('zoneinfo').ZoneInfo('Europe/Berlin'), __import__('sqlite3')"
    said = await run("-c", confined(f"{write}; {read}", folder=tmp_path, file=100))
    assert said == f"done True {FOUND.seccomp}\n"
    assert (tmp_path / "cache").read_text() == "x"


async def test_a_reader_takes_only_so_much_memory_and_writes_no_large_file(tmp_path: Path) -> None:
    assert "MemoryError" in await run("-c", confined("bytearray(2 * 10**9)"))
    write = f"os.write(os.open({str(tmp_path / 'big')!r}, os.O_CREAT | os.O_WRONLY), b'x' * 1000)"
    said = await run("-c", confined(f"{write}; {write}", folder=tmp_path, file=100))
    assert (tmp_path / "big").stat().st_size <= 100, said


@pytest.mark.slow
async def test_a_reader_takes_only_so_much_of_the_processor() -> None:
    endless = "exec('while True: pass')"
    assert await run("-c", confined(endless, seconds=1)) == ""


@needs_seccomp
async def test_threads_still_begin_in_a_reader() -> None:
    work = "t = __import__('threading').Thread(target=print, args=('ran',)); t.start(); t.join()"
    assert (await run("-c", confined(work))).startswith("ran\ndone")


@needs_seccomp
async def test_without_landlock_a_reader_still_has_no_network() -> None:
    old = OLD_KERNEL.format(call="landlock_create_ruleset", values=(), error=38)
    assert await run("-c", old, confined("open('/etc/passwd').read()")) == "done False True\n"
    assert await run("-c", old, confined("socket.socket()")) == "refused 1\n"


@needs_landlock
@needs_seccomp
async def test_without_seccomp_a_reader_still_opens_no_file() -> None:
    old = OLD_KERNEL.format(call="prctl", values=(21,), error=22)  # PR_GET_SECCOMP, EINVAL
    assert await run("-c", old, confined("open('/etc/passwd').read()")) == "refused 13\n"
    assert await run("-c", old, confined("pass")) == "done True False\n"


PROGRAMS = (
    ("agent_core.tools.readers.pdf_reader", ("1000",)),
    ("agent_core.digest.readers.calendar_reader", ("Europe/Berlin", "2026-01-01", "1")),
    ("agent_core.digest.readers.feed_reader", ("10",)),
    ("agent_core.tools.readers.page_reader", ("10",)),
    ("agent_core.tools.readers.markdown_reader", ("https://example.org/", "", "0", "10")),
    ("agent_core.tools.web.search.ddgs_program", ()),
    ("agent_core.tools.readers.chart_drawer", ()),
)


def read_status(pid: int) -> dict[str, str]:
    with suppress(FileNotFoundError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return {}


async def end(process: asyncio.subprocess.Process) -> None:
    process.kill()
    await process.communicate()


@needs_seccomp
@pytest.mark.parametrize(("program", "arguments"), PROGRAMS)
async def test_every_reader_is_confined_before_its_input_comes(
    tmp_path: Path, program: str, arguments: Sequence[str]
) -> None:
    if program.endswith("chart_drawer"):
        pytest.importorskip("matplotlib")
    argv = make_command(program, *arguments)
    process = await spawn(argv, end, environ={"MPLCONFIGDIR": str(tmp_path)})
    try:
        async with asyncio.timeout(120):
            while read_status(process.pid).get("Seccomp") != "2":
                assert process.returncode is None
                await asyncio.sleep(0.01)
    finally:
        await end(process)
