"""Backends whose commands run below a reaper on this machine, without namespaces."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.execution.reaped.backend import LandlockBackend as LandlockBackend
    from agent_core.execution.reaped.backend import UnsandboxedBackend as UnsandboxedBackend
    from agent_core.execution.reaped.backend import find_landlock_fault as find_landlock_fault
else:
    __getattr__ = export_lazily(__name__, __file__)
