"""Find out whose process listens on a port of this machine, and which are model servers (Linux)."""

import os
import pwd
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TABLES = ("tcp", "tcp6")
_LISTENS = "0A"
_REACHED = {
    "0100007F",  # 127.0.0.1
    "00000000",  # 0.0.0.0
    "0" * 32,  # ::
    "0000000000000000FFFF00000100007F",  # ::ffff:127.0.0.1
    "0000000000000000FFFF000000000000",  # ::ffff:0.0.0.0
}
"""The addresses on which a listener may receive what is sent to 127.0.0.1, as the kernel writes
them on machines with little-endian words.
"""

_PROGRAM = re.compile(
    r"ollama|llama[-_.]?(server|cpp|file|box|swap)|lm[-_ ]?studio|local-?ai|koboldcpp"
    r"|vllm|sglang|mlx_lm",
    re.IGNORECASE,
)
"""Programs, and Python's modules, that serve models."""
_WORDS = 3
"""The words of a command that may name its program: `python3 -m vllm`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortOwners:
    """The users whose processes may answer on a port; empty if that can't be known."""

    uids: frozenset[int]

    @property
    def is_trusted(self) -> bool:
        """True if only this user and root can read what is sent to the port."""
        return bool(self.uids) and self.uids <= {os.getuid(), 0}

    @property
    def name(self) -> str | None:
        """The user's name, or that of the one that is foreign here; None if nobody is known."""
        foreign = sorted(self.uids - {os.getuid(), 0}) or sorted(self.uids, reverse=True)
        return _name(foreign[0]) if foreign else None


def find_owners(port: int, proc: Path = Path("/proc")) -> PortOwners:
    """Return who listens on a port of 127.0.0.1; nobody on a system without `/proc`.

    Several processes may share a port, so all of them count. A process may have changed its user
    since it opened the port, so both users count where the process can be seen.
    """
    listening = [one for one in _read_listeners(proc) if one.port == port]
    sockets = {one.socket for one in listening}
    uids = {one.uid for one in listening}
    if uids:
        uids |= {uid for _, uid, held in _list_sockets(proc) if held & sockets}
    return PortOwners(uids=frozenset(uids))


def find_ports(proc: Path = Path("/proc")) -> tuple[int, ...]:
    """Return the ports of programs that are known to serve models, as far as they can be seen.

    Those are this user's, and everybody's for root.
    """
    ports = {one.socket: one.port for one in _read_listeners(proc)}
    held = (ours for folder, _, ours in _list_sockets(proc) if _serves_models(folder))
    return tuple(sorted({ports[one] for ours in held for one in ours if one in ports}))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listener:
    """A socket that listens; `socket` is its name among a process's files."""

    port: int
    uid: int
    socket: str


def _read_listeners(proc: Path) -> Iterator[_Listener]:
    """Yield each socket that receives what is sent to 127.0.0.1."""
    for table in _TABLES:
        try:
            lines = (proc / "net" / table).read_text("ascii").splitlines()[1:]
        except (OSError, ValueError):
            continue
        for line in lines:
            fields = line.split()
            if len(fields) < 10 or fields[3] != _LISTENS:
                continue
            address, _, hexadecimal = fields[1].partition(":")
            if address in _REACHED:
                socket = f"socket:[{fields[9]}]"
                yield _Listener(port=int(hexadecimal, 16), uid=int(fields[7]), socket=socket)


def _list_sockets(proc: Path) -> Iterator[tuple[Path, int, set[str]]]:
    """Yield the folder of each process, its user and its sockets, as far as they can be seen."""
    for folder in proc.glob("[0-9]*"):
        held = set()
        try:
            uid = folder.stat().st_uid
            for file in (folder / "fd").iterdir():
                with suppress(OSError):  # closed meanwhile
                    held.add(str(file.readlink()))
        except OSError:  # of another user, or gone
            continue
        yield folder, uid, held


def _serves_models(folder: Path) -> bool:
    """Return whether a process's command names a program that serves models."""
    try:
        words = (folder / "cmdline").read_bytes().split(b"\0")[:_WORDS]
    except OSError:
        return False
    return any(_PROGRAM.match(Path(os.fsdecode(word)).name) for word in words)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"number {uid}"
