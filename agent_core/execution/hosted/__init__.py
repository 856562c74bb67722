"""Backends whose sandboxes a provider hosts: each person has one, which sleeps when idle."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.execution.hosted.accounts import (
        DaytonaSettings,
        ModalSettings,
        make_daytona,
        make_modal,
    )
    from agent_core.execution.hosted.backend import HostedBackend
else:
    __getattr__ = export_lazily(__name__, __file__)
