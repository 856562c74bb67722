"""Backends whose sandboxes a provider hosts: each person has one, which sleeps when idle."""

from agent_core.execution.hosted.accounts import (
    DaytonaSettings,
    ModalSettings,
    make_daytona,
    make_modal,
)
from agent_core.execution.hosted.backend import HostedBackend

__all__ = ["DaytonaSettings", "HostedBackend", "ModalSettings", "make_daytona", "make_modal"]
