"""A separate program that runs one command with limits, and kills its entire process tree.

On Linux, orphans go to their nearest ancestor that is a subreaper, and this program is one: even a
process that leaves its session and forks twice becomes its child. The command can't signal this
program. This program kills everything when its standard input is closed, which also happens when
its parent dies, and when the tree exceeds a limit.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Literal

from agent_core.execution.subprocesses.confinement import ScriptLimits, confine_script
from agent_core.execution.subprocesses.process_privacy import hide_process
from agent_core.execution.subprocesses.process_tree import list_below, measure

Excess = Literal["", "memory", "processes"]
"""The limit that a tree exceeds; "" for none."""
_SET_CHILD_SUBREAPER = 36
"""prctl(2); Linux 3.4."""
_AFTERWARDS = 1.0
"""Seconds that processes left by the command may take to end on their own."""
_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
_ROUND = 0.01
_LOOK = 0.05
"""Seconds between two checks of the tree's limits."""
NOT_STARTED = 127
"""The status that a shell returns for a command that it can't find."""
BY_SIGNAL = 128


def main(words: list[str]) -> int:
    """Run a command and return its exit status as a shell does.

    The first four words are its limits: bytes of memory, bytes of a file, processes, and 0 for no
    network. The fifth is the file that the command reads.
    """
    memory, file, processes, network = map(int, words[:4])
    limits = ScriptLimits(memory=memory, file=file, processes=processes, has_network=bool(network))
    source, words = words[4], words[5:]
    woken = adopt_orphans()
    guarded, running = (os.getpid(), os.getppid()), count_tasks()
    try:
        with open(source, "rb") as stdin:  # noqa: PTH123 - a start of a few milliseconds
            command = subprocess.Popen(  # noqa: S603 - the owner's
                words,
                stdin=stdin,
                start_new_session=True,  # a signal to its own group must not reach this program
                preexec_fn=lambda: confine_script(limits, guarded, running),  # noqa: PLW1509 - no threads
            )
    except (OSError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        os.write(2, f"{words[0]} can't be started: {reason}.".encode(errors="replace"))
        return NOT_STARTED
    # `wait_for` reads its status; keep `command` alive, because its destructor would reap it.
    child = command.pid
    status, excess = wait_for(child, woken, limits, {})
    if excess:
        os.write(2, _describe(excess, limits).encode())
    elif status is not None and _is_over_within(_AFTERWARDS):
        return status
    end_tree(child, is_at_once=bool(excess))
    return BY_SIGNAL + signal.SIGKILL if status is None else status


def adopt_orphans() -> int:
    """Make this process reap every orphan below it.

    Returns a descriptor that becomes readable when a child ends.
    """
    # Only Linux has subreapers; elsewhere, killing the process group has to suffice.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    hide_process()
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    for sign in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # A service manager may signal every process at once, but this one still has to reap.
        signal.signal(sign, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    return woken


def wait_for(
    child: int, woken: int, limits: ScriptLimits, served: Mapping[int, Callable[[], None]]
) -> tuple[int | None, Excess]:
    """Return the status of the command, or None if it has to end, and the limit that it exceeds.

    It has to end when the parent has closed standard input, or its tree exceeds a limit. Each of
    the `served` descriptors has a function, which is called when there is data to read.
    """
    while True:
        ready, _, _ = select.select([0, woken, *served], [], [], _LOOK)
        if 0 in ready:
            return None, ""
        for descriptor in served:
            if descriptor in ready:
                served[descriptor]()
        if woken in ready:
            os.read(woken, 4096)
            with suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    if ended[0] == child:
                        status = os.waitstatus_to_exitcode(ended[1])
                        return (status if status >= 0 else BY_SIGNAL - status), ""
        excess = _find_excess(limits)
        if excess:
            return None, excess


def _find_excess(limits: ScriptLimits) -> Excess:
    pids = list_below(os.getpid())
    if len(pids) > limits.processes:
        return "processes"
    return "memory" if sum(map(measure, pids)) > limits.memory else ""


def _describe(excess: Excess, limits: ScriptLimits) -> str:
    if excess == "processes":
        return f"It had more than {limits.processes} processes."
    return f"It took more than {limits.memory // 1_000_000:,} MB of memory."


def count_tasks() -> int:
    """Count the threads of this user, as the kernel's process limit does."""
    total = 0
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - a start of a few milliseconds
            with suppress(OSError):
                if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.getuid():  # noqa: PTH116
                    total += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return total


def _is_over_within(seconds: float) -> bool:
    """Return whether every child ends within the time; reap all of them meanwhile."""
    until = time.monotonic() + seconds
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(_ROUND)


def end_tree(child: int, *, is_at_once: bool) -> None:
    """Kill the tree; return only when all its processes have ended."""
    if not is_at_once:
        _signal(list_below(os.getpid()) or [child], signal.SIGTERM)
        if _is_over_within(_GRACE):
            return
    while True:
        _freeze()
        _signal(list_below(os.getpid()) or [child], signal.SIGKILL)
        if _is_over_within(_ROUND):
            return


def _freeze() -> None:
    """Stop the tree until it no longer grows: a stopped process can't fork before it is killed."""
    frozen: set[int] = set()
    while fresh := set(list_below(os.getpid())) - frozen:
        _signal(fresh, signal.SIGSTOP)
        frozen |= fresh


def _signal(pids: list[int] | set[int], sign: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, sign)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
