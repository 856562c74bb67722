"""The place for the commands of an episode: bubblewrap on this machine, without a network."""

from pathlib import Path

from agent_core.errors import BackendUnavailable
from agent_core.execution.local import WORKSPACES, LocalBackend, find_bubblewrap
from agent_core.execution.sandbox import SandboxLimits

_LIMITS = SandboxLimits(
    memory=1_000_000_000,
    processes=64,
    file=50_000_000,
    workspace=100_000_000,
    cpu_seconds=60,
    seconds=60,
)


def make_sandbox(folder: Path) -> LocalBackend:
    """Make a place below a folder. Raises `BackendUnavailable` without bubblewrap."""
    program = find_bubblewrap()
    if program is None:
        raise BackendUnavailable(
            "bubblewrap is missing; install it, for example: apt install bubblewrap"
        )
    return LocalBackend(folder / WORKSPACES, _LIMITS, hidden=(folder,), program=program)
