"""Backends whose commands run below a reaper on this machine, without namespaces."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.execution.reaped.backend import (
        LandlockBackend,
        UnsandboxedBackend,
        find_landlock_fault,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
