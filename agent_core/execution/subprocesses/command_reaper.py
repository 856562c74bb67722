"""A separate program that forks a reaper for each command that it receives.

A reaper runs a command in one folder, and kills all its processes when it ends. It is the process
reaper for commands of a person: it applies Landlock and seccomp if the request has a filter, and at
once kills the processes that the command leaves. Its standard input is a lifeline. On its standard
error it reports its process id, the limit that ended the command, and the status.

The program itself starts Python once, and ends when the socket at its standard input closes. It
holds no data of commands: a reaper reads its request only after the fork.
"""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from agent_core.execution.subprocesses import landlock, seccomp
from agent_core.execution.subprocesses.confinement import ScriptLimits, confine_script
from agent_core.execution.subprocesses.mode_changes import ModeChanges
from agent_core.execution.subprocesses.process_privacy import hide_process
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
    *(
        "/etc/manpath.config",
        "/etc/mime.types",
        "/etc/fonts",
        "/etc/java-17-openjdk",
        "/proc/meminfo",
        "/proc/cpuinfo",
    ),
    *("/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/filesystems"),
)
"""Files that a confined command may read and run; none of them belongs to a person."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_DESCRIPTORS = 5
"""Descriptors of a request: the request itself, lifeline, output, report, and command input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """A request: limits, seccomp filter, workspace, home, folder, command and environment.

    The `filter` is hexadecimal, or "" for a command without a sandbox. The `home` is the command's
    own; the reaper removes it. "" means that the command uses its account's home. `guard` is the
    folder of a program that the command may run, too.
    """

    memory: int
    file: int
    processes: int
    cpu: list[int]
    filter: str
    workspace: str
    home: str
    guard: str
    folder: str
    argv: list[str]
    environ: dict[str, str]

    @property
    def limits(self) -> ScriptLimits:
        """The limits; a command without a sandbox has a network."""
        return ScriptLimits(
            memory=self.memory,
            file=self.file,
            processes=self.processes,
            has_network=not self.filter,
            cpu=(self.cpu[0], self.cpu[1]),
        )


def serve() -> None:
    """Fork a reaper for each request, until the socket closes."""
    hide_process()
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # A service manager may signal every process at once, but commands may still need this
        # program.
        signal.signal(sign, lambda *_: None)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # reapers report their own end
    requests, gateway = socket.socket(fileno=0), os.getppid()
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1, _DESCRIPTORS)
        if not message:
            return
        try:
            is_reaper = os.fork() == 0
        except OSError as error:
            _refuse(error, descriptors[2], descriptors[3])
            is_reaper = False
        if is_reaper:
            _reap(descriptors, gateway)
        for descriptor in descriptors:
            os.close(descriptor)


def _reap(descriptors: Sequence[int], gateway: int) -> None:
    """Act as the reaper of one command, and exit; errors are reported, too."""
    request, *streams, source = descriptors
    os.setsid()
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
        os.close(descriptor)
    os.write(2, f"pid {os.getpid()}\n".encode())
    with open(request, "rb") as file:  # noqa: PTH123 - a start of a few milliseconds
        setup = _Setup(**json.load(file))
    try:
        status = main(setup, source, (os.getpid(), os.getppid(), gateway))
    finally:
        if setup.home:
            _remove(setup.home)
    os.write(2, f"status {status}\n".encode())
    os._exit(0)


def _remove(home: str) -> None:
    """Remove a command's home; most are empty."""
    try:
        os.rmdir(home)  # noqa: PTH106 - starts fast
    except OSError:
        for words in (("/bin/chmod", "-R", "u+rwX"), ("/bin/rm", "-rf")):
            subprocess.run([*words, "--", home], check=False, capture_output=True)  # noqa: S603


def main(setup: _Setup, source: int, guarded: Sequence[int]) -> int:
    """Run a command that reads `source`; return its exit status as a shell does.

    The command can neither read nor signal the `guarded` processes.
    """
    woken = adopt_orphans()
    receives, sends = socket.socketpair()
    try:
        os.chdir(setup.folder)
        command = _start(setup, source, guarded, sends)
    except (OSError, subprocess.SubprocessError) as error:
        _refuse(error, 1, 2)
        return NOT_STARTED
    os.close(source)
    served: dict[int, Callable[[], None]] = {}
    if setup.filter:
        _, listeners, _, _ = socket.recv_fds(receives, 1, 1)
        changes = ModeChanges(listeners[0], (setup.workspace, setup.home))
        served[listeners[0]] = changes.answer
    child = command.pid  # `wait_for` reads its status
    status, excess = wait_for(child, woken, setup.limits, served)
    if excess:
        os.write(2, f"limit {excess}\n".encode())
    end_tree(child, is_at_once=True)
    return BY_SIGNAL + signal.SIGKILL if status is None else status


def _start(
    setup: _Setup, source: int, guarded: Sequence[int], sends: socket.socket
) -> "subprocess.Popen[bytes]":
    running = count_tasks()

    def confine() -> None:
        confine_script(setup.limits, guarded, running)
        if setup.filter:
            landlock.allow_programs((*SYSTEM, setup.guard), _DEVICES, (setup.workspace, setup.home))
            listener = seccomp.load(bytes.fromhex(setup.filter))
            socket.send_fds(sends, [b"."], [listener])

    return subprocess.Popen(  # noqa: S603 - a person's
        setup.argv,
        stdin=source,
        stderr=subprocess.STDOUT,
        env=setup.environ,
        start_new_session=True,  # signals to the command's group must not reach this program
        preexec_fn=confine,  # noqa: PLW1509 - no threads
    )


def _refuse(error: Exception, output: int, report: int) -> None:
    with suppress(OSError):
        os.write(report, b"refused\n")
        os.write(output, f"it can't be started: {error}\n".encode(errors="replace"))


if __name__ == "__main__":
    serve()
