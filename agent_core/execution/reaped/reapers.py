"""The program that forks a reaper for each command, so that Python starts only once."""

import asyncio
import os
import socket
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryFile

from agent_core.execution.subprocesses.program import make_command

_PROGRAM = "agent_core.execution.subprocesses.command_reaper"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaperPipes:
    """The gateway's ends of a reaper's pipes; their receiver must close them.

    A command ends when its `lifeline` closes. `report` tells its end; `input` is -1 if it has none.
    """

    lifeline: int
    output: int
    report: int
    input: int


class Reapers:
    """Starts the program with the first command, and again if it has ended.

    The program ends with the gateway, because its socket closes then.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._pid = 0

    def start(self, request: bytes, *, has_input: bool) -> ReaperPipes:
        """Make a new reaper run a command; see `command_reaper` for the request.

        Takes a millisecond, the first time ten. Raises `OSError`.
        """
        with ExitStack() as theirs, ExitStack() as ours:

            def open_pipe(*, is_read_here: bool) -> tuple[int, int]:
                reads, writes = os.pipe()
                here, there = (reads, writes) if is_read_here else (writes, reads)
                ours.callback(os.close, here)
                theirs.callback(os.close, there)
                return here, there

            lifeline, their_lifeline = open_pipe(is_read_here=False)
            output, their_output = open_pipe(is_read_here=True)
            report, their_report = open_pipe(is_read_here=True)
            given, their_source = -1, -1
            if has_input:
                given, their_source = open_pipe(is_read_here=False)
            else:
                their_source = os.open(os.devnull, os.O_RDONLY)
                theirs.callback(os.close, their_source)
            wanted = _write(request)
            theirs.callback(os.close, wanted)
            self._send([wanted, their_lifeline, their_output, their_report, their_source])
            ours.pop_all()
        return ReaperPipes(lifeline=lifeline, output=output, report=report, input=given)

    def _send(self, descriptors: list[int]) -> None:
        if self._socket is not None:
            try:
                socket.send_fds(self._socket, [b"."], descriptors)
                return
            except ConnectionError:  # the program was killed, so start another one
                self._end()
        self._socket = self._begin()
        socket.send_fds(self._socket, [b"."], descriptors)

    def _begin(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._pid = os.posix_spawn(
                    sys.executable,
                    make_command(_PROGRAM, has_packages=False),
                    {},
                    file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)],
                    setsid=True,
                )
            except BaseException:
                ours.close()
                raise
        ours.setblocking(False)
        return ours

    async def close(self) -> None:
        """End the program; its reapers keep running."""
        if self._socket is not None:
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        """Close the socket, which ends the program, and wait for the end."""
        assert self._socket is not None  # noqa: S101 - it has begun
        self._socket.close()
        self._socket = None
        os.waitpid(self._pid, 0)


def _write(request: bytes) -> int:
    """Return the descriptor of a file with data: in memory, or unnamed if that is not possible."""
    if sys.platform == "linux":
        file = os.memfd_create("request")
    else:
        with TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.write(file, request)
    os.lseek(file, 0, os.SEEK_SET)
    return file
