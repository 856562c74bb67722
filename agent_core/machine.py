"""The machine's memory, and the share of it that a cache may take."""

import os
from functools import lru_cache
from pathlib import Path

_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
"""The limit of a container; "max" or no file without one (Linux, control groups version 2)."""
_SHARE = 64
_LEAST = 16_000_000
"""Bytes that each cache may take on the smallest machine."""


@lru_cache(maxsize=1)
def cache_bytes() -> int:
    """Return the approximate bytes that one cache of conversations may take."""
    return max(_LEAST, _read_memory() // _SHARE)


def _read_memory() -> int:
    """Return the bytes of memory that this process may use."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = _CONTROL_GROUP.read_text(encoding="ascii").strip()
    except OSError:
        return memory
    return min(memory, int(limit)) if limit.isdigit() else memory
