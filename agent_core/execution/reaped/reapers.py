"""The program that forks a reaper for each command, so that none of them has to start Python."""

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
    """Descriptors of the gateway's ends: whoever gets them closes them.

    A command ends when its `lifeline` closes. `report` tells its end; `input` is -1 without one.
    """

    lifeline: int
    output: int
    report: int
    input: int


class Reapers:
    """Starts the program with the first command, and again if it has ended.

    It ends when the gateway does, because its socket closes then.
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._pid = 0

    def start(self, request: bytes, *, has_input: bool) -> ReaperPipes:
        """Have a new reaper run a command; see `command_reaper` for the request.

        Takes a millisecond, and ten for the first one. Raises `OSError`.
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
            except ConnectionError:  # it was killed, and another one is needed
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
        """End the program; its reapers go on."""
        if self._socket is not None:
            await asyncio.to_thread(self._end)

    def _end(self) -> None:
        """Close the socket, which the program takes for its end, and wait for that."""
        assert self._socket is not None  # noqa: S101 - it has begun
        self._socket.close()
        self._socket = None
        os.waitpid(self._pid, 0)


def _write(request: bytes) -> int:
    """Return a descriptor of a file in memory, or without a name where there are none."""
    if sys.platform == "linux":
        file = os.memfd_create("request")
    else:
        with TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.write(file, request)
    os.lseek(file, 0, os.SEEK_SET)
    return file
