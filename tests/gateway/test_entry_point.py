"""The command line hides its process before anything else."""

import subprocess
import sys

import pytest

PR_GET_DUMPABLE = 3
LOOK = f"""
import ctypes
from gateway.__main__ import main
before = ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0)
main(["version"])
print(before, ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
def test_a_command_is_not_dumpable() -> None:
    """Whoever traces a process reads its memory; root's tests can't tell by trying."""
    done = subprocess.run((sys.executable, "-c", LOOK), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "1 0"
