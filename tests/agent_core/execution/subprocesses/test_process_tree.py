"""Processes that a crash leaves behind."""

import os
import subprocess
from pathlib import Path

import pytest

from agent_core.execution.local import find_bubblewrap
from agent_core.execution.subprocesses.process_tree import end_abandoned, list_below
from tests.agent_core.execution.backends import needs_bubblewrap

pytestmark = [pytest.mark.process, needs_bubblewrap]


def test_a_sandbox_that_outlived_its_starter_is_ended(tmp_path: Path) -> None:
    program = find_bubblewrap()
    assert program
    root, other = tmp_path / "workspaces", tmp_path / "others"
    for folder in (root / "anna", other / "anna"):
        folder.mkdir(parents=True)
    waiting, held = os.pipe()
    found = []
    for folder in (root, other):
        words = (program, "--unshare-all", "--block-fd", str(waiting))
        bind = ("--bind", str(folder / "anna"), "/workspace", "--ro-bind", "/usr", "/usr")
        outer = subprocess.Popen((*words, *bind, "/usr/bin/true"), pass_fds=(waiting,))
        while not (below := list_below(outer.pid)):
            assert outer.poll() is None
        outer.kill()
        outer.wait()
        found.append(below[0])
    try:
        assert all(is_alive(pid) for pid in found), "bubblewrap's inner process waits"
        assert end_abandoned(program, root) == 1
        while is_alive(found[0]):
            pass
        assert is_alive(found[1]), "other homes keep theirs"
    finally:
        assert end_abandoned(program, other) == 1
        os.close(held)
        os.close(waiting)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
