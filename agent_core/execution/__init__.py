"""Execution backends: their contract, and the local one, which runs commands in bubblewrap."""

from agent_core.execution.contract import (
    Backend,
    Command,
    Exit,
    FileContent,
    Process,
)
from agent_core.execution.files import remove_workspace, walk_files
from agent_core.execution.local import WORKSPACES, LocalBackend, find_bubblewrap
from agent_core.execution.running import Completed, run_command
from agent_core.execution.sandbox import SandboxLimits

__all__ = [
    "WORKSPACES",
    "Backend",
    "Command",
    "Completed",
    "Exit",
    "FileContent",
    "LocalBackend",
    "Process",
    "SandboxLimits",
    "find_bubblewrap",
    "remove_workspace",
    "run_command",
    "walk_files",
]
