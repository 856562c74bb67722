"""Keeps other processes from reading this one; loads fast, because every command starts with it."""

import ctypes
import sys

SET_DUMPABLE = 4
"""`PRSET_DUMPABLE` (prctl(2))."""


def hide_process() -> None:
    """Keep other processes of this user from reading this one's memory and environment.

    A core dump is not written any more either. Only Linux has it, and `exec` undoes it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0)
