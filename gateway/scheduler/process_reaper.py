"""A separate program that runs one command and kills its entire process tree.

On Linux, orphans go to their nearest ancestor that is a subreaper, and this program is one:
even a process that leaves its session and forks twice becomes its child. The program kills
everything when its standard input is closed, which also happens when its parent dies.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress

_SET_CHILD_SUBREAPER = 36
"""prctl(2); Linux 3.4."""
_AFTERWARDS = 1.0
"""Seconds that processes left by the command may take to end on their own."""
_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
_LAST = 5.0
_ROUND = 0.01
_NOT_STARTED = 127
"""The status of a shell for a command that it can't find."""
_BY_SIGNAL = 128


def main(words: list[str]) -> int:
    """Run a command and return its exit status in the way of a shell."""
    with suppress(
        OSError, AttributeError
    ):  # only Linux has it; elsewhere the process group has to suffice
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes)
    try:
        command = subprocess.Popen(words, stdin=subprocess.DEVNULL)  # noqa: S603 - the owner's
    except OSError as error:
        os.write(2, f"{words[0]} can't be started: {error.strerror}.".encode(errors="replace"))
        return _NOT_STARTED
    child = (
        command.pid
    )  # `_wait` reads its status; keep `command` alive, because its destructor would reap it
    status = _wait(child, woken)
    if status is not None and _is_over_within(_AFTERWARDS):
        return status
    _end(child)
    return _BY_SIGNAL + signal.SIGKILL if status is None else status


def _wait(child: int, woken: int) -> int | None:
    """Return the status of the command, or None after the parent has closed standard input."""
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if 0 in ready:
            return None
        os.read(woken, 4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    status = os.waitstatus_to_exitcode(ended[1])
                    return status if status >= 0 else _BY_SIGNAL - status


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


def _end(child: int) -> None:
    _signal(child, signal.SIGTERM)
    if _is_over_within(_GRACE):
        return
    until = time.monotonic() + _LAST
    while time.monotonic() < until:
        _signal(child, signal.SIGSTOP)  # a stopped process can't fork before it is killed
        _signal(child, signal.SIGKILL)
        if _is_over_within(_ROUND):
            return


def _signal(child: int, sign: signal.Signals) -> None:
    for pid in _list_below(os.getpid()) or (child,):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, sign)


def _list_below(root: int) -> list[int]:
    """List the descendants of a process, ancestors first; empty without /proc."""
    children: dict[int, list[int]] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - a start of a few milliseconds
            if name.isdecimal():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    # The name in brackets may contain anything; state and parent follow it.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
                    children.setdefault(parent, []).append(int(name))
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
