"""Backends whose sandboxes a provider hosts: each person has one, which sleeps when idle."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.execution.hosted.accounts import DaytonaSettings as DaytonaSettings
    from agent_core.execution.hosted.accounts import ModalSettings as ModalSettings
    from agent_core.execution.hosted.accounts import make_daytona as make_daytona
    from agent_core.execution.hosted.accounts import make_modal as make_modal
    from agent_core.execution.hosted.backend import HostedBackend as HostedBackend
else:
    __getattr__ = export_lazily(__name__, __file__)
