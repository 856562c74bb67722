"""Processes below another one, their memory, and those left behind (Linux)."""

import os
import signal
from contextlib import suppress
from pathlib import Path

_KILOBYTE = 1024
_OWN_MEMORY = (b"RssAnon:", b"RssShmem:", b"VmSwap:")
"""Lines of /proc/PID/status about memory that does not belong to a file on a disk."""


def list_below(root: int, most: int = 0) -> list[int]:
    """List the descendants of a process, ancestors first; empty without /proc.

    The search ends early when it has found more than `most`; 0 means no limit.
    """
    found = [root]
    for pid in found:
        if most and len(found) > most + 1:
            break
        with suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - starts in milliseconds
                with (
                    suppress(OSError),
                    open(f"/proc/{pid}/task/{task}/children", "rb") as file,  # noqa: PTH123
                ):
                    found += map(int, file.read().split())
    return found[1:]


def measure(pid: int) -> int:
    """Return the bytes of a process's memory that belong to no file; 0 if it has ended."""
    total = 0
    with suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
        for line in file:
            if line.startswith(_OWN_MEMORY):
                total += int(line.split()[1]) * _KILOBYTE
    return total


def end_abandoned(program: str, folder: Path) -> int:
    """Kill leftover processes of a program that were started for a folder; return their number.

    Call it before you start the first one. If bubblewrap and its parent are killed before the user
    is set, bubblewrap's inner process survives, and waits forever.
    """
    ended = 0
    start = f"{folder}/".encode()
    for entry in os.listdir("/proc"):  # noqa: PTH208 - starts in milliseconds
        with suppress(OSError):
            if not entry.isdecimal():
                continue
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            is_ours = words[0] == program.encode() and any(word.startswith(start) for word in words)
            if is_ours and _is_adopted(entry):
                os.kill(int(entry), signal.SIGKILL)
                ended += 1
    return ended


def _is_adopted(pid: str) -> bool:
    """Return whether a process lost its parent. Orphans in a container go to its own init."""
    parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    return parent == "1" or Path(f"/proc/{parent}/comm").read_text().startswith("systemd")
