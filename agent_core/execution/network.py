"""The network of a sandbox: a single port, through which the gateway decides about traffic.

The sandbox has an empty network of its own. In it, the gateway listens on one port and receives all
data that a command sends there. The command starts only when the port is open.
"""

import asyncio
import os
import socket
from asyncio.subprocess import Process as Child
from contextlib import closing, suppress
from io import FileIO

from agent_core.errors import BackendUnavailable
from agent_core.execution.sandbox import HOSTS, HOSTS_FILE
from agent_core.execution.subprocesses.process_tree import list_below
from agent_core.execution.subprocesses.program import make_command
from agent_core.execution.subprocesses.spawning import spawn

PORT = 3128
"""The port on 127.0.0.1 inside the sandbox."""
_LISTENER = "agent_core.execution.subprocesses.namespace_listener"
_SECONDS = 10.0
_LOOK = 0.002
"""Seconds between two checks for the network of a sandbox, which takes a few milliseconds."""
_ADDRESS = f"http://127.0.0.1:{PORT}"
_VARIABLES = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _ADDRESS),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1"),
}
"""Programs read these names in upper or lower case."""


class HeldNetwork:
    """Holds a sandbox until its port is open: bubblewrap waits for the contents of a file."""

    def __init__(self) -> None:
        reads, writes = os.pipe()
        self._waits, self._hosts = FileIO(reads, "rb"), FileIO(writes, "wb")
        self.inherited = (reads,)
        """Descriptors that bubblewrap must inherit."""
        self.words = ["--ro-bind-data", str(reads), HOSTS_FILE]
        for name, value in _VARIABLES.items():
            self.words += ["--setenv", name, value]

    def close(self) -> None:
        """Close the pipe; a sandbox that is still held starts then."""
        self._waits.close()
        self._hosts.close()

    def skip(self) -> None:
        """Let the sandbox start in a network whose port is open already."""
        self._hosts.write(HOSTS)

    async def open(self, child: Child) -> socket.socket:
        """Listen in the network of the held sandbox, and let the sandbox start.

        Raises `BackendUnavailable`; then the caller ends the sandbox.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                listener = await _listen(await _find_process(child))
        except TimeoutError as error:
            raise BackendUnavailable("the sandbox's network does not open in time") from error
        except OSError as error:
            raise BackendUnavailable(f"the sandbox's network can't be opened: {error}") from error
        self.skip()
        return listener


async def _find_process(child: Child) -> int:
    """Wait for a process below bubblewrap that has its own network; return its id."""
    own = _find_network(child.pid)
    while child.returncode is None:
        for pid in list_below(child.pid):
            with suppress(OSError):
                if _find_network(pid) != own:
                    return pid
        await asyncio.sleep(_LOOK)
    raise ProcessLookupError("bubblewrap has ended")


def _find_network(pid: int) -> int:
    return os.stat(f"/proc/{pid}/ns/net").st_ino  # noqa: PTH116 - follows a link


async def _listen(pid: int) -> socket.socket:
    """Run the listener program, which opens a socket in a process's network."""
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        words = make_command(
            *(_LISTENER, str(pid), str(PORT), str(theirs.fileno())), has_packages=False
        )
        program = await spawn(words, _end, environ={}, inherited=[theirs.fileno()])
        try:
            _, errors = await program.communicate()
        except BaseException:
            await _end(program)
            raise
        if program.returncode:
            raise OSError(errors.decode(errors="replace").strip()[-300:])
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    return socket.socket(fileno=descriptors[0])


async def _end(program: Child) -> None:
    if program.returncode is None:
        program.kill()
    await program.communicate()
