"""A person who types into a command that runs in a terminal of its own."""

import fcntl
import os
import re
import select
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.processes import PATIENCE, Fork, run_command


@dataclass
class Terminal:
    """A person at a terminal."""

    descriptor: int
    process: Fork
    seen: str = ""

    def type(self, keys: str) -> None:
        os.write(self.descriptor, keys.encode())

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait for a match, drop the output before it, and return it."""
        latest = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < latest, self.seen
            ready, _, _ = select.select([self.descriptor], [], [], 0.1)
            if ready:
                self.seen += strip_codes(os.read(self.descriptor, 65_536).decode(errors="replace"))
        self.seen = self.seen[found.end() :]
        return found

    def leave(self) -> int:
        """Type Ctrl-D and wait for the exit, reading on so that nothing blocks."""
        self.type("\x04")
        latest = time.monotonic() + PATIENCE
        while self.process.returncode is None:
            assert time.monotonic() < latest
            ready, _, _ = select.select([self.descriptor], [], [], 0.1)
            if ready:
                os.read(self.descriptor, 65_536)
        return self.process.join()


def strip_codes(text: str) -> str:
    return re.sub(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)", "", text)


@contextmanager
def at_terminal(variables: Mapping[str, str], *words: str) -> Iterator[Terminal]:
    """Run a command in a terminal of 100 by 30."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    given = {**variables, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    process = Fork([Path(os.ttyname(theirs))] * 3, words, given, _run_in_session)
    try:
        yield Terminal(ours, process)
    finally:
        if process.returncode is None:
            process.kill()
        process.join()
        os.close(theirs)
        os.close(ours)


def _run_in_session(
    files: Sequence[Path], words: Sequence[str], variables: Mapping[str, str]
) -> None:
    """Run the command apart from the terminal of whoever runs the tests."""
    os.setsid()
    run_command(files, words, variables)
