"""Keep other processes from reading this one; loads fast, because every command starts with it."""

import ctypes
import sys

SET_DUMPABLE = 4
"""`PRSET_DUMPABLE` (prctl(2))."""


def hide_process() -> None:
    """Keep other processes of this user from reading this one's memory and environment.

    It also prevents core dumps. Only Linux supports this, and `exec` undoes it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0, 0, 0, 0)
