"""A program of its own: runs one command and ends all that it began, however it got away.

Linux gives whatever is left behind to its nearest ancestor that asked for orphans, which this
program does: a process that leaves its session and forks twice is its child in the end. It ends
everything when its input is closed, which also happens when whoever watches dies.
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
"""Seconds that what a command left running has to end by itself."""
_GRACE = 2.0
"""Seconds between asking processes to end and making them."""
_LAST = 5.0
_ROUND = 0.01
_NOT_STARTED = 127
"""What a shell says of a command that it can't find."""
_BY_SIGNAL = 128


def main(words: list[str]) -> int:
    """Run a command; its status, as a shell tells it."""
    with suppress(OSError, AttributeError):  # only Linux has it; elsewhere the group has to do
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
    child = command.pid  # its status is read below, and `command` must live: it would reap it
    status = _wait(child, woken)
    if status is not None and _is_over_within(_AFTERWARDS):
        return status
    _end(child)
    return _BY_SIGNAL + signal.SIGKILL if status is None else status


def _wait(child: int, woken: int) -> int | None:
    """The status of the command; None once nobody wants it any more."""
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
    """True once no process is left; all that end meanwhile are taken from the kernel's list."""
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
        _signal(child, signal.SIGSTOP)  # so that nobody forks away from under the next one
        _signal(child, signal.SIGKILL)
        if _is_over_within(_ROUND):
            return


def _signal(child: int, sign: signal.Signals) -> None:
    for pid in _list_below(os.getpid()) or (child,):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, sign)


def _list_below(root: int) -> list[int]:
    """All descendants of a process, ancestors first; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - a start of a few milliseconds
            if name.isdecimal():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    # Its name, in brackets, may hold anything; behind it are state and parent.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
                    children.setdefault(parent, []).append(int(name))
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found[1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
