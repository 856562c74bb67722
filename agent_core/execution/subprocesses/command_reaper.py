"""A separate program that runs a command in one folder, and kills its tree when it ends.

It is the process reaper for commands of a person: with Landlock and seccomp where a filter is
given, and without mercy for what the command leaves. Its standard input is a lifeline, and on its
standard error it names the limit that ended the command.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from agent_core.execution.subprocesses import landlock, seccomp
from agent_core.execution.subprocesses.confinement import ScriptLimits, confine_script
from agent_core.execution.subprocesses.mode_changes import ModeChanges
from agent_core.execution.subprocesses.process_reaper import (
    BY_SIGNAL,
    NOT_STARTED,
    adopt_orphans,
    count_tasks,
    end_tree,
    wait_for,
)

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives"),
    *("/etc/ld.so.cache", "/etc/ssl/certs", "/etc/ca-certificates.conf", "/etc/localtime"),
    *("/etc/mime.types", "/etc/fonts", "/etc/java-17-openjdk", "/proc/meminfo", "/proc/cpuinfo"),
    *("/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/filesystems"),
)
"""What a confined command may read and run; none of it belongs to a person."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """The words of this program: limits, the file to read, the filter, the workspace, a command.

    `filter` is a descriptor, or -1 for a command without a sandbox.
    """

    limits: ScriptLimits
    source: str
    filter: int
    workspace: str
    argv: list[str]


def main(words: list[str]) -> int:
    """Run a command; return its exit status in the way of a shell."""
    memory, file, processes, given = (int(word) for word in words[:4])
    is_confined = given >= 0
    setup = _Setup(
        limits=ScriptLimits(
            memory=memory, file=file, processes=processes, has_network=not is_confined
        ),
        source=words[4],
        filter=given,
        workspace=words[5],
        argv=words[6:],
    )
    woken = adopt_orphans()
    receives, sends = socket.socketpair()
    try:
        command = _start(setup, sends)
    except (OSError, subprocess.SubprocessError) as error:
        os.write(2, b"refused\n")
        os.write(1, f"it can't be started: {error}\n".encode(errors="replace"))
        return NOT_STARTED
    served: dict[int, Callable[[], None]] = {}
    if is_confined:
        _, listeners, _, _ = socket.recv_fds(receives, 1, 1)
        served[listeners[0]] = ModeChanges(listeners[0], setup.workspace).answer
    child = command.pid  # `wait_for` reads its status
    status, excess = wait_for(child, woken, setup.limits, served)
    if excess:
        os.write(2, f"limit {excess}\n".encode())
    end_tree(child, is_at_once=True)
    return BY_SIGNAL + signal.SIGKILL if status is None else status


def _start(setup: _Setup, sends: socket.socket) -> "subprocess.Popen[bytes]":
    guarded, running = (os.getpid(), os.getppid()), count_tasks()

    def confine() -> None:
        confine_script(setup.limits, guarded, running)
        if setup.filter >= 0:
            landlock.allow_programs(SYSTEM, _DEVICES, setup.workspace)
            listener = seccomp.load(os.read(setup.filter, 65_536))
            socket.send_fds(sends, [b"."], [listener])

    with open(setup.source, "rb") as stdin:  # noqa: PTH123 - a start of a few milliseconds
        return subprocess.Popen(  # noqa: S603 - a person's
            setup.argv,
            stdin=stdin,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a signal to its own group must not reach this program
            preexec_fn=confine,  # noqa: PLW1509 - no threads
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
