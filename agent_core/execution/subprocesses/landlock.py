"""Landlock: rules that the kernel enforces on this process and its children (Linux 5.13).

`struct`s and numbers are from `linux/landlock.h`. The system calls have the same numbers on every
architecture.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
SIGNALS_SINCE = 6
"""The first ABI version that can forbid signals to other processes (Linux 6.12)."""
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_REG, _REFER, _TRUNCATE = 1 << 5, 1 << 8, 1 << 13, 1 << 14
_MAKE_CHAR, _MAKE_BLOCK, _ALL = 1 << 6, 1 << 11, (1 << 15) - 1
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _REMOVE_FILE | _MAKE_REG | _TRUNCATE
_WORK = _ALL & ~(_MAKE_CHAR | _MAKE_BLOCK)
"""The rights that a program needs for its own files, except making devices."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
"""The rights that a rule may grant on a file; other rights apply to folders only."""
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""ABI -> the number of rights to files; 16 since ABI 5."""
_BOTH_TCP = 0b11
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

_libc = ctypes.CDLL(None, use_errno=True)


def find_abi() -> int:
    """Return the version of the kernel's Landlock; 0 without it."""
    with suppress(OSError):
        return _call(CREATE_RULESET, None, 0, _VERSION) if sys.platform == "linux" else 0
    return 0


def allow_files(
    readable: Iterable[str], writable: Iterable[str], *, has_network: bool = False
) -> None:
    """Forbid all other files, TCP connections, and signals to other processes.

    With `has_network`, TCP is allowed. Paths may name files or folders; missing ones are left out.
    Raises `OSError`, also on a kernel without Landlock.
    """
    abi = find_abi()
    handled = (1 << _FILE_RIGHTS.get(abi, 16)) - 1
    ruleset = _create(
        files=handled,
        tcp=_BOTH_TCP if abi >= 4 and not has_network else 0,
        scopes=_ABSTRACT_SOCKETS | _SIGNALS if abi >= SIGNALS_SINCE else 0,
    )
    try:
        for path in readable:
            _allow(ruleset, path, _READ & handled)
        for path in writable:
            _allow(ruleset, path, _WRITE & handled)
        _restrict(ruleset)
    finally:
        os.close(ruleset)


def allow_programs(system: Iterable[str], devices: Iterable[str], folders: Iterable[str]) -> None:
    """Forbid all files except the system's programs, some devices, and the command's folders.

    TCP and signals to other processes are forbidden, too. Missing paths are left out. Raises
    `OSError`, also on a kernel before `SIGNALS_SINCE`.
    """
    handled = (1 << 16) - 1
    ruleset = _create(files=handled, tcp=_BOTH_TCP, scopes=_ABSTRACT_SOCKETS | _SIGNALS)
    try:
        for path in system:
            _allow(ruleset, path, _READ | _EXECUTE)
        for path in devices:
            _allow(ruleset, path, _READ_FILE | _WRITE_FILE)
        for path in folders:
            _allow(ruleset, path, _WORK)
        _restrict(ruleset)
    finally:
        os.close(ruleset)


def leave_others_alone() -> None:
    """Forbid reading and signalling processes that are not below this one; files stay open to it.

    Before `SIGNALS_SINCE`, only reading is forbidden. Raises `OSError`, also on kernels without the
    second version of Landlock, because the first would forbid moving files.
    """
    abi = find_abi()
    # A rule set can't be empty. So on an older kernel, it covers moving files, and allows that
    # everywhere.
    ruleset = _create(scopes=_SIGNALS) if abi >= SIGNALS_SINCE else _create(files=_REFER)
    try:
        if abi < SIGNALS_SINCE:
            _allow(ruleset, "/", _REFER)
        _restrict(ruleset)
    finally:
        os.close(ruleset)


def _create(*, files: int = 0, tcp: int = 0, scopes: int = 0) -> int:
    rules = struct.pack("=QQQ", files, tcp, scopes).rstrip(b"\0")
    size = max(8, (len(rules) + 7) // 8 * 8)  # an older kernel knows fewer fields
    return _call(CREATE_RULESET, rules.ljust(size, b"\0"), size, 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = rights if os.path.isdir(path) else rights & _OF_FILES  # noqa: PTH112 - no import
        _call(ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
    finally:
        os.close(place)


def _restrict(ruleset: int) -> None:
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call(RESTRICT_SELF, ruleset, 0)


def _call(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
