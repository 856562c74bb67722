"""A plain user for tests that root runs: Landlock does not confine root.

Only the ids change, and back again. Capabilities over files stay, so that this process can still
import what lies in root's home; no program that it starts gets them.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agent_core.execution.subprocesses import landlock, seccomp

_USER = 64_977
"""A user id without an account."""
_PYTHON = "/usr/bin/python3"
"""Starts the reaper where the tests' own interpreter lies in root's home."""
_VERSION = 0x2008_0522
_OVER_FILES = 0b111
"""`CAP_CHOWN`, `CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH` (`linux/capability.h`)."""


def has_landlock() -> bool:
    """Return whether this kernel confines commands, and a plain user can start Python."""
    is_new = landlock.find_abi() >= landlock.SIGNALS_SINCE and seccomp.is_available()
    return is_new and has_python()


@cache
def has_python() -> bool:
    """Return whether a plain user can start Python."""
    if os.geteuid():
        return True
    words = (_PYTHON, "-I", "-S", "-c", "import socket, ctypes")
    done = subprocess.run(words, check=False, capture_output=True, user=_USER, cwd="/")
    return done.returncode == 0 and sys.version_info >= (3, 11)


def open_to_user(folder: Path) -> Path:
    """Make a folder that belongs to the plain user, who may pass those above it."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, _USER, _USER)
    for path in folder.parents:
        if not path.stat().st_mode & 0o001:
            path.chmod(path.stat().st_mode | 0o011)
    return folder


@contextmanager
def become_plain_user() -> Iterator[None]:
    """Run as a plain user meanwhile; does nothing for one."""
    if os.geteuid():
        yield
        return
    groups, python = os.getgroups(), sys.executable
    os.setgroups([])
    os.setresgid(_USER, _USER, 0)
    os.setresuid(_USER, _USER, 0)
    _set_capabilities(_OVER_FILES)
    sys.executable = _PYTHON
    try:
        yield
    finally:
        sys.executable = python
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)


def drop_rights_over_files() -> None:
    """Obey the modes of files until the end of `become_plain_user`; nothing can be imported."""
    _set_capabilities(0)


def _set_capabilities(effective: int) -> None:
    """Set what this thread may do now; what it may have stays."""
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.capget(header, data)
    data[0] = effective
    if libc.capset(header, data):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
