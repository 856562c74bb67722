"""Every execution backend, ready for the behaviour suite; more are added here."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agent_core.execution import Backend, LocalBackend, SandboxLimits, find_bubblewrap

LIMITS = SandboxLimits(memory=300_000_000, processes=40, file=20_000_000, workspace=50_000_000)
MEGABYTE = 1_000_000


def _has_sandbox() -> bool:
    """Return whether this machine has bubblewrap, and lets this user start it."""
    program = find_bubblewrap()
    if program is None:
        return False
    words = (program, "--unshare-all", "--ro-bind", "/", "/", "/bin/true")
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


needs_bubblewrap = pytest.mark.skipif(not _has_sandbox(), reason="no bubblewrap works here")


def make_local(folder: Path) -> LocalBackend:
    return LocalBackend(folder / "workspaces", LIMITS, program=find_bubblewrap())


BACKENDS: Mapping[str, Callable[[Path], Backend]] = {"local": make_local}
MARKS = {"local": needs_bubblewrap}
