"""The behaviour that every execution backend has to show."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from agent_core.errors import WorkspaceError
from agent_core.execution.contract import Backend, Command
from agent_core.execution.hosted.backend import HostedBackend
from agent_core.execution.timed_command import Completed, run_command
from tests.agent_core.execution.backends import EVERY, LIMITS, MEGABYTE, open_backend
from tests.patience import PATIENCE
from tests.tables import await_each

pytestmark = pytest.mark.process

GIGABYTE = 1024**3


def shell(text: str, folder: str = "", workspace: str = "anna") -> Command:
    return Command(workspace=workspace, argv=("/bin/bash", "-c", text), folder=folder)


async def run(
    backend: Backend,
    text: str,
    *,
    folder: str = "",
    seconds: float = PATIENCE,
    most_bytes: int = MEGABYTE,
) -> Completed:
    return await run_command(backend, shell(text, folder), seconds=seconds, most_bytes=most_bytes)


async def beats(backend: Backend) -> bool:
    """Return whether something still writes to the file `beat` while another command runs."""
    before = await backend.read_file("anna", "beat", 100)
    await run(backend, "sleep 0.2")
    after = await backend.read_file("anna", "beat", 100)
    return before.data != after.data


COMMANDS = (
    ("echo one; echo two >&2; echo three; exit 7", b"one\ntwo\nthree\n", 7),
    ("kill -TERM $$", b"", 143),  # as a shell counts a signal
    ("read -r line; echo $?; cat; echo over", b"1\nover\n", 0),  # an empty input
    (r"printf '\x00\xff\x1b[31m'", b"\x00\xff\x1b[31m", 0),
)


async def test_a_healthy_backend_returns_output_byte_by_byte_and_the_status(
    backend: Backend,
) -> None:
    await backend.health()

    async def check(row: tuple[str, bytes, int]) -> None:
        text, output, status = row
        done = await run(backend, text)
        assert (done.output, done.status, done.limit) == (output, status, "")

    await await_each(COMMANDS, check)


async def test_a_command_runs_in_a_folder_of_its_workspace_only(backend: Backend) -> None:
    made = await run(backend, "mkdir -p deep/er; ln -s / link; touch file; echo $WORKSPACE; pwd")
    place, same = made.output.split()
    assert place == same
    assert (await run(backend, "pwd", folder="deep/er")).output == place + b"/deep/er\n"
    for folder in ["missing", "..", "/etc", "link", "file", "deep/../.."]:
        with pytest.raises(WorkspaceError):
            await backend.start(shell("pwd", folder))
    other = shell("ls -A --ignore=.tmp", workspace="ben")
    done = await run_command(backend, other, seconds=PATIENCE, most_bytes=MEGABYTE)
    assert done.output == b""


async def test_output_arrives_while_the_command_runs(backend: Backend) -> None:
    process = await backend.start(shell("echo first; sleep 600"))
    try:
        async with asyncio.timeout(PATIENCE):
            assert await process.read() == b"first\n"
    finally:
        await process.kill()
    assert (await process.wait()).status == 137


async def test_input_reaches_a_command_that_has_it(backend: Backend) -> None:
    text = 'while read -r line; do echo "got $line"; done; echo over'
    command = Command(workspace="anna", argv=("/bin/bash", "-c", text), has_input=True)
    process = await backend.start(command)
    try:
        async with asyncio.timeout(PATIENCE):
            await process.write(b"one\n")
            assert await process.read() == b"got one\n"
            await process.write("zwölf\n".encode())
            assert await process.read() == "got zwölf\n".encode()
            await process.write(b"")
            assert await process.read() == b"over\n"
            assert (await process.wait()).status == 0
        with pytest.raises(WorkspaceError):
            await process.write(b"more\n")
    finally:
        await process.kill()


async def test_much_input_arrives_whole_also_where_nobody_reads_it_all(backend: Backend) -> None:
    given = bytes(range(256)) * 10_000
    for text, most in [("sha256sum", given), ("head -c 100000 | sha256sum", given[:100_000])]:
        command = Command(workspace="anna", argv=("/bin/bash", "-c", text), has_input=True)
        process = await backend.start(command)
        try:
            async with asyncio.timeout(PATIENCE):
                with suppress(WorkspaceError):
                    await process.write(given)
                    await process.write(b"")
                assert await process.read() == f"{sha256(most).hexdigest()}  -\n".encode()
                assert (await process.wait()).status == 0
        finally:
            await process.kill()


async def test_a_command_that_reads_nothing_still_ends(backend: Backend) -> None:
    command = Command(workspace="anna", argv=("/bin/sleep", "600"), has_input=True)
    process = await backend.start(command)
    writing = asyncio.create_task(process.write(bytes(5_000_000)))
    async with asyncio.timeout(PATIENCE):
        await asyncio.wait((writing,), timeout=0.5)  # it waits for room by then
        await process.kill()
        assert (await process.wait()).status in (137, 143)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    assert (await run(backend, "echo well")).output == b"well\n"


async def test_a_command_that_takes_too_long_ends_with_all_it_started(backend: Backend) -> None:
    beat = "while :; do date +%N > beat; sleep 0.02; done"
    started = time.monotonic()
    done = await run(backend, f"trap '' TERM; setsid bash -c '{beat}' & {beat}", seconds=2)
    assert (done.status, done.limit) == (137, "time")
    assert time.monotonic() - started < PATIENCE
    assert not await beats(backend)


async def test_a_command_that_closes_its_output_still_ends_in_time(backend: Backend) -> None:
    done = await run(backend, "exec >&- 2>&-; sleep 600", seconds=0.3)
    assert (done.output, done.limit) == (b"", "time")


async def test_what_a_command_leaves_in_the_background_ends_with_it(backend: Backend) -> None:
    beat = "while :; do date +%N > beat; sleep 0.02; done"
    done = await run(backend, f"date > beat; setsid nohup bash -c '{beat}' & disown; echo done")
    assert (done.output, done.limit) == (b"done\n", "")
    assert not await beats(backend)


async def test_a_gigabyte_of_output_is_cut_off_at_once(backend: Backend) -> None:
    done = await run(backend, "yes | head -c 1G", most_bytes=MEGABYTE)
    assert (len(done.output), done.limit) == (MEGABYTE, "output")


async def test_a_fork_bomb_is_stopped(backend: Backend) -> None:
    done = await run(backend, "bomb() { bomb | bomb & }; bomb; sleep 600")
    assert done.limit in ("processes", "memory") or b"Resource" in done.output
    assert (await run(backend, "echo well")).output == b"well\n"


async def test_a_command_that_takes_too_much_memory_ends(backend: Backend) -> None:
    grow = "x=$(head -c 100M /dev/zero | tr '\\0' x); sleep 600"
    done = await run(backend, f"for i in 1 2 3 4 5; do ({grow}) & done; wait")
    assert done.limit == "memory" or b"allocate" in done.output


@pytest.fixture(params=EVERY)
async def brief(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    """A backend that gives a process the least processor time."""
    async with open_backend(request, tmp_path, replace(LIMITS, cpu_seconds=1)) as backend:
        yield backend


@pytest.mark.thorough
async def test_a_process_gets_so_much_processor_time(brief: Backend) -> None:
    done = await run(brief, "while :; do :; done", seconds=4 * PATIENCE)
    assert (done.status, done.limit) == (128 + signal.SIGXCPU, "")
    done = await run(brief, "trap '' XCPU; while :; do :; done", seconds=4 * PATIENCE)
    assert (done.status, done.limit) == (137, "")


async def test_a_command_can_fill_neither_a_file_nor_the_workspace(backend: Backend) -> None:
    done = await run(backend, "head -c 1G /dev/zero > big; stat -c %s big; rm big")
    assert int(done.output.split()[-1]) <= LIMITS.file
    done = await run(backend, "for i in $(seq 50); do head -c 19M /dev/zero > f$i; done; sleep 600")
    assert done.limit == "disk"
    with pytest.raises(WorkspaceError, match="full"):
        await backend.write_file("anna", "more", b"x")
    assert (await run(backend, "rm f*; echo room")).output == b"room\n"
    await backend.write_file("anna", "more", b"x")


async def test_a_cancelled_run_leaves_nothing_running(backend: Backend) -> None:
    beat = "while :; do date +%N > beat; sleep 0.02; done"
    running = asyncio.create_task(run(backend, beat))
    async with asyncio.timeout(PATIENCE):
        while not await has_file(backend, "beat"):
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert not await beats(backend)


async def has_file(backend: Backend, path: str) -> bool:
    try:
        return bool((await backend.read_file("anna", path, 10)).data)
    except WorkspaceError:
        return False


async def test_stop_ends_every_command_of_a_workspace_only(backend: Backend) -> None:
    mine = await backend.start(shell("sleep 600"))
    other = await backend.start(shell("echo here; sleep 600", workspace="ben"))
    try:
        await backend.stop("anna")
        # A stop that comes before a supervisor's own signals are set up ends it by SIGTERM.
        assert (await mine.wait()).status in (137, 143)
        assert await other.read() == b"here\n"
    finally:
        await other.kill()


async def test_files_are_written_whole_and_read_in_part(backend: Backend) -> None:
    await backend.write_file("anna", "a/b/text.txt", b"hello world")
    found = await backend.read_file("anna", "a/b/text.txt", 5)
    assert (found.data, found.size) == (b"hello", 11)
    await backend.write_file("anna", "/workspace/x", b"1")  # the place that commands see
    assert (await backend.read_file("anna", "x", 5)).data == b"1"
    made = "echo 'echo old' > go; chmod 755 go; ln -s go link; ln -s /etc/hostname out"
    done = await run(backend, f"cat a/b/text.txt; ls -A a/b; {made}")
    assert done.output == b"hello worldtext.txt\n"
    for path in ("go", "link", "out"):
        await backend.write_file("anna", path, f"echo {path}\n".encode())
    # A replaced file stays executable, and a link is not followed.
    assert (await run(backend, "./go; cat link out")).output == b"go\necho link\necho out\n"


@pytest.fixture(params=EVERY)
async def roomy(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    """A backend in which a file may be very large."""
    async with open_backend(request, tmp_path, replace(LIMITS, file=6 * GIGABYTE)) as backend:
        yield backend


async def test_a_file_of_five_gigabytes_is_read_in_part_and_replaced(roomy: Backend) -> None:
    assert (await run(roomy, "truncate -s 5G giant")).status == 0
    found = await roomy.read_file("anna", "giant", 10)
    assert (found.data, found.size) == (bytes(10), 5 * GIGABYTE)
    done = await run(roomy, "cat giant")
    assert (len(done.output), done.limit) == (MEGABYTE, "output")
    await roomy.write_file("anna", "giant", b"small")
    assert (await run(roomy, "cat giant")).output == b"small"


async def test_an_idle_workspace_sleeps_and_wakes_with_its_files(backend: Backend) -> None:
    await run(backend, "echo kept > note")
    await backend.sleep("anna")
    await backend.sleep("nobody")
    assert (await run(backend, "cat note")).output == b"kept\n"
    await backend.sleep("anna")
    assert (await backend.read_file("anna", "note", 10)).data == b"kept\n"


async def test_no_workspace_sleeps_while_a_command_runs(backend: Backend) -> None:
    command = Command(workspace="anna", argv=("/bin/cat",), has_input=True)
    process = await backend.start(command)
    try:
        async with asyncio.timeout(PATIENCE):
            await backend.sleep("anna")
            await process.write(b"awake\n")
            assert await process.read() == b"awake\n"
    finally:
        await process.kill()


READ_REFUSED = (
    *("missing", "", ".", "..", "../ben/secret", "folder", "folder/", "/etc/passwd"),
    *("link", "out/passwd", "out/../passwd", "folder/../../ben/secret", "loop", "pipe"),
    *("file/x", "x" * 300, "a/" * 3000, "nul\0", "//etc/passwd", "/proc/self/environ"),
    *("magic", "/workspace/../etc/passwd", "socket"),
)
WRITE_REFUSED = (
    *("", ".", "..", "../escaped", "folder", "folder/", "/etc/escaped", "up/escaped"),
    *("file/x", "a/../../escaped", "x" * 300, "nul\0", "up/deep/escaped", "loop/x"),
)


async def test_only_plain_files_of_the_workspace_are_read_and_written(backend: Backend) -> None:
    # Providers run the program that ssh runs, in a process per file.
    step = 4 if isinstance(backend, HostedBackend) else 1
    made = await run(
        backend,
        "mkdir folder; touch file; ln -s /etc/passwd link; ln -s /etc out; ln -s loop loop;"
        " mkfifo pipe; ln -s /proc/self/environ magic; ln -s .. up;"
        " python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'"
        " 2> error || mkfifo socket",  # Landlock confines no local sockets, so there are none
    )
    assert made.status == 0
    for path in READ_REFUSED[::step]:
        with pytest.raises(WorkspaceError):
            await backend.read_file("anna", path, 100)
    for path in WRITE_REFUSED[::step]:
        with pytest.raises(WorkspaceError):
            await backend.write_file("anna", path, b"x")


async def test_eight_commands_run_at_the_same_time(backend: Backend) -> None:
    async with asyncio.TaskGroup() as group:
        # Each waits for all others, so they end only if they run together.
        runs = [
            group.create_task(
                run(backend, f"touch at{n}; until [ $(ls | wc -l) = 8 ]; do sleep 0.01; done")
            )
            for n in range(8)
        ]
    assert [task.result().status for task in runs] == [0] * 8
