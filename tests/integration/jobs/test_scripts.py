"""Commands of script jobs leave no process behind, however they try to escape."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from agent_core.execution.subprocesses.confinement import ScriptLimits
from gateway.jobs.scripts import MOST_OUTPUT, Output, run_script
from tests.patience import PATIENCE

RUNAWAY = """
import os, signal, sys, time
from pathlib import Path
from tests.patience import PATIENCE
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        if "deaf" in sys.argv:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        Path(sys.argv[1]).write_text(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
while not Path(sys.argv[1]).exists():
    time.sleep(0.002)
print("begun", flush=True)
time.sleep(float(sys.argv[2]))
"""
"""Forks twice, each time into a session of its own."""

LIMITS = ScriptLimits(memory=300_000_000, file=1_000_000, processes=30)
ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "ANTHROPIC_API_KEY": "sk-secret"}


async def run(folder: Path, *words: str, longest: float = 30.0) -> Output:
    return await run_script(json.dumps(words), folder, ENVIRON, LIMITS, longest=longest)


def runaway(mark: Path, seconds: float) -> tuple[str, ...]:
    return (sys.executable, "-c", RUNAWAY, str(mark), str(seconds))


def is_alive(pid: int) -> bool:
    """Return whether the kernel knows a process, including a zombie."""
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def read_number(mark: Path) -> int:
    return int(mark.read_text()) if mark.exists() and mark.read_text() else 0


def list_states() -> list[str]:
    """Return the kernel's states of this process's children."""
    below = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [pid for file in below for pid in file.read_text().split()]
    return [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids]


async def written(mark: Path) -> int:
    async with asyncio.timeout(PATIENCE):
        while not (number := read_number(mark)):
            await asyncio.sleep(0.002)
    return number


async def test_a_commands_output_is_returned(tmp_path: Path) -> None:
    found = await run(tmp_path, "sh", "-c", "pwd; echo $ANTHROPIC_API_KEY; cat")
    assert found == Output(text=f"{tmp_path}\n\n")


@pytest.mark.parametrize(
    ("line", "status", "fault"),
    [
        ("echo it broke >&2; exit 3", 3, "The reminder's command failed with status 3. it broke"),
        ("kill -TERM $$", 143, "The reminder's command failed with status 143."),
    ],
)
async def test_a_command_that_fails_says_why(
    tmp_path: Path, line: str, status: int, fault: str
) -> None:
    found = await run(tmp_path, "sh", "-c", line)
    assert found == Output(text="", fault=fault, status=status)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (r"a\0b\tc\033[1;31md\033[0m\r\ne\033]0;title\007f", "ab\tcd\nef"),
        (r"50 %%\r100 %%\n", "50 %\n100 %\n"),
        (r"turned \342\200\256round", "turned round"),
        (r"\0\0\0", ""),
        (r"\342\200\213\n\357\273\277 \033[0m\n", ""),
    ],
    ids=["signs of terminals", "progress", "direction", "nul", "nothing to see"],
)
async def test_unreadable_bytes_are_no_output(tmp_path: Path, said: str, heard: str) -> None:
    assert await run(tmp_path, "printf", said) == Output(text=heard)


async def test_a_commands_error_output_is_cleaned(tmp_path: Path) -> None:
    found = await run(tmp_path, "sh", "-c", r"printf '\033[31mit\0 broke\033[0m' >&2; exit 3")
    assert found.fault == "The reminder's command failed with status 3. it broke"


async def test_a_command_that_is_not_there_says_so(tmp_path: Path) -> None:
    found = await run(tmp_path, "no-such-command")
    assert found.fault.endswith("no-such-command can't be started: No such file or directory.")


async def test_a_command_dies_of_a_broken_pipe_as_in_a_shell(tmp_path: Path) -> None:
    assert await run(tmp_path, "sh", "-c", "yes | head -n 1") == Output(text="y\n")


async def test_a_double_forked_process_is_ended_at_the_timeout(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "pid"
    found = await run(tmp_path, *runaway(mark, 600), "deaf", longest=3.0)
    assert found == Output(
        text="", fault="The reminder's command took longer than 3 s, so I stopped it."
    )
    assert not is_alive(await written(mark))


async def test_a_process_in_another_session_is_ended_with_its_command(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    assert await run(tmp_path, *runaway(mark, 0)) == Output(text="begun\n")
    assert not is_alive(await written(mark))


async def test_cancelling_ends_a_process_in_another_session(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    task = asyncio.create_task(run(tmp_path, *runaway(mark, 600)))
    pid = await written(mark)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(pid)


async def test_a_command_does_not_outlive_the_gateway(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    code = (
        "import asyncio, sys; from pathlib import Path;"
        " from agent_core.execution.subprocesses.confinement import ScriptLimits;"
        " from gateway.jobs.scripts import run_script;"
        " limits = ScriptLimits(memory=10**9, file=10**6, processes=30);"
        " asyncio.run(run_script(sys.argv[1], Path(sys.argv[2]), {}, limits))"
    )
    body = json.dumps(runaway(mark, 600))
    harness = await asyncio.create_subprocess_exec(sys.executable, "-c", code, body, str(tmp_path))
    pid = await written(mark)
    harness.send_signal(signal.SIGKILL)
    await harness.wait()
    async with asyncio.timeout(PATIENCE):
        while is_alive(pid):
            await asyncio.sleep(0.01)


async def test_a_command_that_says_too_much_is_stopped(tmp_path: Path) -> None:
    found = await run(tmp_path, "sh", "-c", "(setsid yes) & yes")
    assert found.fault == (
        f"The reminder's command wrote more than {MOST_OUTPUT:,} bytes, so I stopped it."
    )


async def test_a_short_lived_child_may_still_write_output(tmp_path: Path) -> None:
    found = await run(tmp_path, "sh", "-c", "(sleep 0.1; echo late) & echo early")
    assert found == Output(text="early\nlate\n")


async def test_no_zombie_is_left_to_the_gateway(tmp_path: Path) -> None:
    await run(tmp_path, "sh", "-c", "for i in 1 2 3; do (setsid true &) ; done; true")
    assert "Z" not in list_states()


PEEK = """
import os, sys
try:
    found = open(f"/proc/{sys.argv[1]}/environ").read()
except OSError as error:
    found = f"refused: {type(error).__name__}"
print(found.replace(chr(0), " "))
"""


async def test_a_command_can_not_read_the_environment_of_the_gateway(tmp_path: Path) -> None:
    found = await run(tmp_path, sys.executable, "-c", PEEK, str(os.getpid()))
    assert found == Output(text="refused: PermissionError\n")


async def test_on_an_old_kernel_a_hidden_gateway_keeps_its_environment(tmp_path: Path) -> None:
    code = """
import asyncio, os, sys
from pathlib import Path
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.execution.subprocesses.process_privacy import hide_process
from agent_core.execution.subprocesses.seccomp import Denial, deny
from gateway.jobs.scripts import run_script
deny([Denial(call="landlock_create_ruleset", error=38)])
hide_process()
limits = ScriptLimits(memory=10**9, file=10**6, processes=30)
body = sys.argv[1].replace("PID", str(os.getpid()))
print(asyncio.run(run_script(body, Path(sys.argv[2]), {}, limits)).text)
"""
    body = json.dumps([sys.executable, "-c", PEEK, "PID"])
    gateway = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, body, str(tmp_path)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "ANTHROPIC_API_KEY": "sk-secret"},
    )
    output, _ = await gateway.communicate()
    assert output.decode().strip() == "refused: PermissionError"


ATTACKS = {
    "kill": "os.kill(PARENT, signal.SIGKILL)",
    "stop": "os.kill(PARENT, signal.SIGSTOP)",
    "group": "os.kill(0, signal.SIGTERM)",
    "everybody": "os.kill(-1, 0)",
    "descriptor": "signal.pidfd_send_signal(os.pidfd_open(PARENT), signal.SIGKILL)",
    "time": "resource.prlimit(PARENT, resource.RLIMIT_CPU, (0, 0))",
    "owner": "fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, PARENT)",
}
ESCAPE = """
import fcntl, os, resource, signal, sys
PARENT, mark, number = os.getppid(), sys.argv[1], os.getpid()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # it ends at once, not after the grace time
        open(mark, "w").write(str(os.getpid()))
        while True:
            signal.pause()
    os._exit(0)
while not os.path.exists(mark) or not os.path.getsize(mark):
    pass
try:
    ATTACK
except OSError as error:
    print("refused", error.errno, flush=True)
"""


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
async def test_a_command_cannot_kill_its_reaper_and_leave_a_process(
    tmp_path: Path, attack: str
) -> None:
    mark = tmp_path / "pid"
    found = await run(tmp_path, sys.executable, "-c", ESCAPE.replace("ATTACK", attack), str(mark))
    assert found.fault == ""
    assert found.text in ("refused 1\n", "")  # a signal to its own group reaches no other process
    assert not is_alive(await written(mark))


BOMB = """
import os, time
for generation in (40, 5):
    try:
        if all(os.fork() for _ in range(generation)):
            break
    except OSError:
        break
    os.setsid()
time.sleep(600)
"""
"""A small fork bomb: at most 241 processes, where nothing stops it."""


async def test_a_fork_bomb_is_stopped_completely(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    found = await run(tmp_path, sys.executable, "-c", BOMB, mark)
    assert (
        found.fault
        == "The reminder's command failed with status 137. It had more than 30 processes."
    )
    assert not [command for command in list_commands() if mark in command]


def list_commands() -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(file.read_text(errors="replace"))
    return found


async def test_a_command_is_the_first_to_end_when_memory_runs_out(tmp_path: Path) -> None:
    found = await run(tmp_path, "cat", "/proc/self/oom_score_adj")
    assert found == Output(text="1000\n")


async def test_a_command_that_takes_too_much_memory_is_stopped(tmp_path: Path) -> None:
    one = "kept = bytearray(500_000_000)"
    found = await run(tmp_path, sys.executable, "-c", one)
    assert "MemoryError" in found.fault
    many = (
        "import os, sys, time; [os.fork() for _ in range(2)];"
        " kept = bytearray(b'x') * 150_000_000; time.sleep(600)"
    )
    found = await run(tmp_path, sys.executable, "-c", many)
    assert (
        found.fault
        == "The reminder's command failed with status 137. It took more than 300 MB of memory."
    )


async def test_a_command_writes_no_huge_file(tmp_path: Path) -> None:
    found = await run(tmp_path, "sh", "-c", "head -c 2000000 /dev/zero > big; stat -c %s big")
    assert found.text == "1000000\n"


async def test_a_command_moves_and_reads_the_files_of_its_person(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    move = "import os; open('a/x', 'w').write('kept'); os.rename('a/x', 'b/x')"
    found = await run(tmp_path, "sh", "-c", f'{sys.executable} -c "{move}"; cat b/x')
    assert found == Output(text="kept")
