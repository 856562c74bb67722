"""Processes of emulated sandboxes: each has an adopter, which keeps what it leaves behind."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agent_core.execution.subprocesses.process_tree import list_below

_ADOPT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
report = int(sys.argv[1])
child = os.fork()
if child == 0:
    os.close(report)
    os.setsid()
    os.execvp(sys.argv[2], sys.argv[2:])
os.closerange(0, 3)
while True:
    try:
        pid, status = os.wait()
    except ChildProcessError:
        signal.pause()
        continue
    if pid == child:
        os.write(report, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(report)
"""
"""Runs a command, and adopts its orphans until the sandbox stops."""


async def start_adopted(
    argv: Sequence[str], home: Path, folder: Path, limit: int = 65_536, programs: str = ""
) -> tuple[Process, int]:
    """Start a command below an adopter; return that, and a pipe for `read_report`.

    `limit` is of `readline`, and `programs` a folder whose programs go first.
    """
    reports, report = os.pipe()
    path = os.environ["PATH"]
    try:
        adopter = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", _ADOPT, str(report), *argv),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=folder,
            env={"PATH": f"{programs}:{path}" if programs else path, "HOME": str(home)},
            pass_fds=[report],
            limit=limit,
            start_new_session=True,
        )
    finally:
        os.close(report)
    return adopter, reports


async def read_report(reports: int) -> int:
    """Wait for the status of a command; -9 if its adopter was killed."""
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: protocol, os.fdopen(reports, "rb")
    )
    try:
        return int(await reader.read() or b"-9")
    finally:
        transport.close()


async def end_adopter(adopter: Process) -> None:
    """Kill an adopter and everything below it."""
    await _kill_all(adopter.pid)
    with suppress(ProcessLookupError):
        adopter.kill()
    await adopter.wait()


async def _kill_all(pid: int) -> None:
    """Kill everything below an adopter."""
    while found := [each for each in list_below(pid) if not _is_dead(each)]:
        for each in found:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        await asyncio.sleep(0)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
