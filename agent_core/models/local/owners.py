"""Find out whose process listens on a port of this machine (Linux only)."""

import os
import pwd
from collections.abc import Iterator
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
    listening = list(_read_listeners(port, proc))
    inodes = {inode for _, inode in listening}
    uids = {uid for uid, _ in listening}
    if uids:
        uids |= set(_find_processes(inodes, proc))
    return PortOwners(uids=frozenset(uids))


def _read_listeners(port: int, proc: Path) -> Iterator[tuple[int, str]]:
    """Yield user id and inode of each socket that listens there."""
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
            if address in _REACHED and int(hexadecimal, 16) == port:
                yield int(fields[7]), fields[9]


def _find_processes(inodes: set[str], proc: Path) -> Iterator[int]:
    """Yield the users of the processes that hold one of the sockets, as far as they can be seen."""
    wanted = {f"socket:[{inode}]" for inode in inodes}
    for folder in proc.glob("[0-9]*"):
        try:
            files = list((folder / "fd").iterdir())
        except OSError:  # of another user, or gone
            continue
        for file in files:
            try:
                if str(file.readlink()) in wanted:
                    yield folder.stat().st_uid
                    break
            except OSError:
                continue


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"number {uid}"
