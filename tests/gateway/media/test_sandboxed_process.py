"""Other programs are held in bounds, and leave nothing behind."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from gateway.media.documents import Bounds, Finished, run
from tests.patience import PATIENCE

pytestmark = pytest.mark.process

SOON = Bounds(seconds=20, most_bytes=100)


async def python(script: str, *, bounds: Bounds = SOON, data: bytes = b"") -> Finished:
    return await run([sys.executable, "-I", "-c", script], bounds, data=data, environ={"SEEN": "1"})


def is_alive(pid: int) -> bool:
    """False once a process is no more, or only waits to be buried."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def is_gone(pid: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while is_alive(pid):
            await asyncio.sleep(0.01)


async def test_output_and_exit_code_are_returned() -> None:
    done = await python(
        "import sys; print(sys.stdin.read()[::-1]); print('oh', file=sys.stderr)", data=b"abc"
    )
    assert done == Finished(code=0, output=b"cba\n", complaint="oh")
    assert (await python("raise SystemExit(3)")).code == 3


async def test_it_sees_only_its_input() -> None:
    os.environ["TALARIA_TEST_SECRET"] = "hidden"
    try:
        done = await python("import os; print(sorted(os.environ))")
    finally:
        del os.environ["TALARIA_TEST_SECRET"]
    assert b"SEEN" in done.output
    assert b"SECRET" not in done.output


async def test_of_an_endless_talker_the_beginning_is_kept() -> None:
    done = await python("print('x' * 1_000_000)")
    assert done == Finished(code=0, output=b"x" * 100, complaint="")


async def test_a_program_need_not_listen() -> None:
    assert (await python("pass", data=b"x" * 1_000_000)).code == 0


async def test_a_program_that_can_not_be_started_is_an_os_error() -> None:
    with pytest.raises(OSError):
        await run(["/nowhere/program"], SOON, environ={})


FAMILY = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"])
with open({path!r} + ".new", "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
os.rename({path!r} + ".new", {path!r})
child.wait()
"""


async def test_a_slow_process_times_out() -> None:
    with pytest.raises(TimeoutError):
        await python("import time; time.sleep(600)", bounds=Bounds(seconds=0.3, most_bytes=10))


async def test_a_cancelled_process_is_ended_with_its_children(tmp_path: Path) -> None:
    path = tmp_path / "pids"
    task = asyncio.create_task(python(FAMILY.format(path=str(path))))
    async with asyncio.timeout(PATIENCE):
        while not path.exists():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for pid in map(int, path.read_text().split()):
        await is_gone(pid)


async def test_a_process_cancelled_at_its_start_is_ended_with_its_children(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pids"
    task = asyncio.create_task(python(FAMILY.format(path=str(path))))
    await asyncio.sleep(0)  # it is asked for
    await asyncio.sleep(0)  # its start is under way
    while not path.exists():
        time.sleep(0.01)  # noqa: ASYNC251 - the loop is held up, so that nobody hears of the start
    task.cancel()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(asyncio.CancelledError):
            await task
    for pid in map(int, path.read_text().split()):
        await is_gone(pid)
