"""Backends whose commands run below a reaper on this machine, without namespaces."""

from agent_core.execution.reaped.backend import (
    LandlockBackend,
    UnsandboxedBackend,
    find_landlock_fault,
)

__all__ = ["LandlockBackend", "UnsandboxedBackend", "find_landlock_fault"]
