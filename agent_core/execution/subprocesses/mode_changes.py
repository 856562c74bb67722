"""Answer processes that want to change a file's mode: they may do so in their own folders.

Landlock does not restrict `chmod`, so a confined command could open other files of its user to
everybody. Its calls wait here (seccomp's user notification), and this process makes the change.
"""

import ctypes
import fcntl
import os
import struct
from collections.abc import Sequence
from contextlib import suppress
from errno import EPERM

from agent_core.execution.subprocesses.seccomp import Denial

CHANGES = (Denial(call="chmod", asks=True), Denial(call="fchmodat", asks=True))
"""The calls that wait for an answer. Newer calls must be refused, so that libraries use these."""
_RECEIVE, _SEND, _IS_VALID = 0xC050_2100, 0xC018_2101, 0x4008_2102
"""`SECCOMP_IOCTL_NOTIF_*` (`linux/seccomp.h`)."""
_QUESTION = struct.Struct("=QIIiIQ6Q")
"""`struct seccomp_notif`: id, process, flags, call, machine, place, arguments."""
_ANSWER = struct.Struct("=QqiI")
_HERE = -100
"""`AT_FDCWD`."""
_CHMOD = 90
"""The number on x86_64; other machines have `fchmodat` only."""
_OPENAT2 = 437
_BENEATH, _NO_LINKS = 0x08, 0x04
_LONGEST = _PAGE = 4096
_MODE, _SET_ID = 0o777, 0o6000

_libc = ctypes.CDLL(None, use_errno=True)


class ModeChanges:
    """Answers the calls that one filter holds back. Each call of `answer` handles one of them."""

    def __init__(self, listener: int, folders: Sequence[str]) -> None:
        """`listener` belongs to the filter; modes of files below `folders` may change."""
        self._listener = listener
        paths = map(os.path.realpath, folders)
        flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
        self._roots = {path: os.open(path, flags) for path in paths}

    def answer(self) -> None:
        """Receive a call, and make its change or refuse it; waits until there is a call."""
        buffer = bytearray(_QUESTION.size)
        with suppress(OSError):  # the caller may have been killed
            fcntl.ioctl(self._listener, _RECEIVE, buffer)
            name, pid, _, call, _, _, *arguments = _QUESTION.unpack(buffer)
            if call == _CHMOD:
                arguments.insert(0, _HERE)
            error = self._change(name, pid, arguments)
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(name, 0, -error, 0))

    def _change(self, name: int, pid: int, arguments: list[int]) -> int:
        """Change a mode, unless the caller has ended; return 0, or an error number."""
        folder, address, mode = arguments[:3]
        if mode & _SET_ID:
            return EPERM
        try:
            path = _locate(pid, ctypes.c_int(folder & 0xFFFF_FFFF).value, address)
            fcntl.ioctl(self._listener, _IS_VALID, struct.pack("=Q", name))
            top = next((top for top in self._roots if f"{path}/".startswith(f"{top}/")), None)
            if top is None:
                return EPERM
            file = _open(self._roots[top], os.path.relpath(path, top))
            try:
                os.chmod(f"/proc/self/fd/{file}", mode & _MODE)  # noqa: PTH101 - starts fast
            finally:
                os.close(file)
        except OSError as error:
            return error.errno or EPERM
        return 0


def _open(root: int, path: str) -> int:
    """Open a path below a folder, without any link; somebody may have put one there since."""
    how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _BENEATH | _NO_LINKS)
    words = (ctypes.c_long(_OPENAT2), root, os.fsencode(path), how)
    file = int(_libc.syscall(*words, ctypes.c_long(len(how))))
    if file < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return file


def _locate(pid: int, folder: int, address: int) -> str:
    """Return the path that a process passed, with all links resolved. Raises `OSError`."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:  # noqa: PTH123 - starts fast
        name = b""
        while b"\0" not in name and len(name) < _LONGEST:
            here = address + len(name)
            name += os.pread(memory.fileno(), _PAGE - here % _PAGE, here)
    start = "cwd" if folder == _HERE else f"fd/{folder}"
    place = os.readlink(f"/proc/{pid}/{start}")  # noqa: PTH115 - starts fast
    return os.path.realpath(os.path.join(place, os.fsdecode(name.partition(b"\0")[0])))  # noqa: PTH118
