"""A separate program that runs one command in bounds and kills its entire process tree.

On Linux, orphans go to their nearest ancestor that is a subreaper, and this program is one:
even a process that leaves its session and forks twice becomes its child. The command can't signal
this program. It kills everything when its standard input is closed, which also happens when its
parent dies, and when the tree exceeds a limit.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress

from agent_core.execution.subprocesses.confinement import ScriptLimits, confine_script
from agent_core.execution.subprocesses.process_privacy import hide_process
from agent_core.execution.subprocesses.process_tree import list_below, measure

_SET_CHILD_SUBREAPER = 36
"""prctl(2); Linux 3.4."""
_AFTERWARDS = 1.0
"""Seconds that processes left by the command may take to end on their own."""
_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
_ROUND = 0.01
_LOOK = 0.05
"""Seconds between two looks at the size of the tree."""
_NOT_STARTED = 127
"""The status of a shell for a command that it can't find."""
_BY_SIGNAL = 128


def main(words: list[str]) -> int:
    """Run a command and return its exit status in the way of a shell.

    The first four words are its limits: bytes of memory, bytes of a file, processes, and 0 for no
    network. The fifth is the file that the command reads.
    """
    memory, file, processes, network = map(int, words[:4])
    limits = ScriptLimits(memory=memory, file=file, processes=processes, has_network=bool(network))
    source, words = words[4], words[5:]
    # Only Linux has it; elsewhere the process group has to suffice.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    hide_process()
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    for sign in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # A service manager may signal every process at once; this one still has to reap.
        signal.signal(sign, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    guarded, running = (os.getpid(), os.getppid()), _count_tasks()
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
        return _NOT_STARTED
    # `_wait` reads its status; keep `command` alive, because its destructor would reap it.
    child = command.pid
    status, excess = _wait(child, woken, limits)
    if excess:
        os.write(2, excess.encode())
    elif status is not None and _is_over_within(_AFTERWARDS):
        return status
    _end(child, is_at_once=bool(excess))
    return _BY_SIGNAL + signal.SIGKILL if status is None else status


def _wait(child: int, woken: int, limits: ScriptLimits) -> tuple[int | None, str]:
    """Return the status of the command, or None if it has to end, and the limit it exceeds.

    It has to end when the parent has closed standard input, or its tree exceeds a limit.
    """
    while True:
        ready, _, _ = select.select([0, woken], [], [], _LOOK)
        if 0 in ready:
            return None, ""
        if woken in ready:
            os.read(woken, 4096)
            with suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    if ended[0] == child:
                        status = os.waitstatus_to_exitcode(ended[1])
                        return (status if status >= 0 else _BY_SIGNAL - status), ""
        excess = _find_excess(limits)
        if excess:
            return None, excess


def _find_excess(limits: ScriptLimits) -> str:
    """Return a sentence on the limit that the tree exceeds; "" if none."""
    pids = list_below(os.getpid())
    if len(pids) > limits.processes:
        return f"It had more than {limits.processes} processes."
    if sum(map(measure, pids)) > limits.memory:
        return f"It took more than {limits.memory // 1_000_000:,} MB of memory."
    return ""


def _count_tasks() -> int:
    """Count the threads of this user, as the kernel's limit on processes does."""
    total = 0
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - a start of a few milliseconds
            with suppress(OSError):
                if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.getuid():  # noqa: PTH116
                    total += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return total


def _is_over_within(seconds: float) -> bool:
    """Return whether every child ends in time; reap all of them meanwhile."""
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


def _end(child: int, *, is_at_once: bool) -> None:
    """Kill the tree, and return only when nothing of it is left."""
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
    """Stop the tree until it grows no more: a stopped process can't fork before it is killed."""
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
