"""Limit the processes of a sandbox that root starts: the kernel's usual limit exempts root.

Since Linux 6.14, every PID namespace has its own `pid_max`. Only a process inside can set it, so
bubblewrap waits (`--block-fd`) until `nsenter` has done so.
"""

import json
import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Thread

_SINCE = (6, 14)
"""Earlier kernels have one `pid_max` for the whole machine."""
_RESERVED = 300
"""The smallest `pid_max` of a namespace (`RESERVED_PIDS` of `kernel/pid.c`)."""
_SECONDS = 10.0

_log = logging.getLogger(__name__)


@cache
def _find_nsenter() -> str | None:
    """Return the path of nsenter; None if the limit is not needed or can't be set."""
    version = tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdigit())
    if os.geteuid() or version < _SINCE:
        return None
    return shutil.which("nsenter", path="/usr/bin:/bin")


def is_pid_limit_set() -> bool:
    """Return whether sandboxes of this process get the limit."""
    return _find_nsenter() is not None


@contextmanager
def limit_pids(most: int) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Give bubblewrap's arguments and its descriptors; start bubblewrap within the context.

    The sandbox may then have `most` processes and 300 more. A thread sets the limit, and only then
    does the command begin. Gives nothing if the limit is not needed or can't be set.
    """
    nsenter = _find_nsenter()
    if nsenter is None:
        yield (), ()
        return
    told, tells = os.pipe()
    waits, begin = os.pipe()
    try:
        yield ("--info-fd", str(tells), "--block-fd", str(waits)), (tells, waits)
    finally:
        os.close(tells)
        os.close(waits)
        Thread(target=_set, args=(nsenter, most, told, begin), daemon=True).start()


@contextmanager
def _open_namespace(pid: int) -> Iterator[int]:
    """Open the PID namespace of a sandbox.

    Raises `ProcessLookupError` if the sandbox has ended, and `OSError` if it has no PID namespace
    of its own: in this process's namespace, the limit would apply to the whole machine.
    """
    try:
        namespace = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ProcessLookupError(f"the process {pid} has ended") from None
    try:
        if os.path.samestat(os.fstat(namespace), Path("/proc/self/ns/pid").stat()):
            raise OSError(f"the process {pid} shares the PID namespace of Talaria")
        yield namespace
    finally:
        os.close(namespace)


def _set(nsenter: str, most: int, told: int, begin: int) -> None:
    """Set the limit of the sandbox that `told` reports, and let its command begin."""
    try:
        with open(told, "rb") as file:
            info = file.read()
        if not info:
            return  # bubblewrap did not start; its output says why
        with _open_namespace(json.loads(info)["child-pid"]) as namespace:
            write = f"echo {_RESERVED + most} > /proc/sys/kernel/pid_max"
            words = [nsenter, f"--pid=/proc/self/fd/{namespace}", "--", "/bin/sh", "-c", write]
            subprocess.run(  # noqa: S603
                words,
                check=True,
                capture_output=True,
                timeout=_SECONDS,
                env={},
                pass_fds=(namespace,),
            )
    except ProcessLookupError:
        return  # the sandbox has already ended
    except (subprocess.SubprocessError, OSError) as error:
        # The backend still counts the running processes, which stops most fork bombs, too.
        _log.warning("the number of a sandbox's processes can't be limited: %s", error)
    finally:
        os.close(begin)
