"""The networks of conversations: their running commands reach each other, and nobody else does.

The first command of a conversation gets an empty network of its own. Those that start while it runs
enter that network. It ends with the last of them.
"""

import asyncio
import os
from asyncio.subprocess import Process as Child
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.execution.subprocesses.process_tree import list_below

if TYPE_CHECKING:
    from agent_core.tools.network.proxy import ProxySession

_LOOK = 0.002
"""Seconds between two checks for the network of a sandbox, which takes a few milliseconds."""
_SECONDS = 5.0


@dataclass(eq=False, slots=True)
class _Network:
    """A network, its commands, and what serves the only port that leads out, if there is one."""

    children: list[Child] = field(default_factory=list)
    session: "ProxySession | None" = None


class Circle:
    """The running commands that share a network."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        """Held while a command starts: the next one enters its network."""
        self._network = _Network()

    def serve(self, session: "ProxySession") -> None:
        """Keep what serves the network's port."""
        self._network.session = session

    def join(self, child: Child) -> "Member":
        """Add a started command."""
        self._network.children.append(child)
        return Member(self, self._network, child)

    async def open_network(self) -> int | None:
        """Return a descriptor of the shared network, which the caller closes.

        None if no command runs; then the next one makes another network.
        """
        for child in reversed(self._network.children):
            with suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS):
                    while child.returncode is None:
                        if (found := _open_network(child)) is not None:
                            return found
                        await asyncio.sleep(_LOOK)
        self._network = _Network()
        return None


class Member:
    """Keeps one command in the network of its conversation."""

    def __init__(self, circle: Circle, network: _Network, child: Child) -> None:
        self._circle = circle  # or the next command would find no circle
        self._network = network
        self._child = child
        self._session = network.session
        self._first = self._session.count_refusals() if self._session else 0

    @property
    def refusals(self) -> tuple[str, ...]:
        """Sentences on what the network refused since this command began, without repeats."""
        return self._session.list_refusals(self._first) if self._session else ()

    def close(self) -> None:
        """Leave the network; its port closes with the last one. Repeated calls do nothing more."""
        if self._child in self._network.children:
            self._network.children.remove(self._child)
        if self._session and not self._network.children:
            self._session.close()


def _open_network(child: Child) -> int | None:
    """Open the network of a sandbox; None if it has none yet, or has ended.

    A process number may belong to another process by then, which is below the same bubblewrap only
    if it is in the sandbox.
    """
    own = Path("/proc/self/ns/net").stat()
    for pid in list_below(child.pid):
        with suppress(OSError):
            found = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            if not os.path.samestat(os.fstat(found), own) and pid in list_below(child.pid):
                return found
            os.close(found)
    return None
