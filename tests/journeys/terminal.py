"""A person who types into a command that runs in a terminal of its own."""

import fcntl
import os
import re
import select
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.integration.processes import PATIENCE, Fork, run_command

Run = Callable[[Sequence[Path], Sequence[str], Mapping[str, str]], None]
_PAUSE = 2.0
"""Seconds after which a person types keys without effect again."""


@dataclass
class Terminal:
    """A person at a terminal."""

    descriptor: int
    process: Fork
    seen: str = ""

    def type(self, keys: str) -> None:
        os.write(self.descriptor, keys.encode())

    def insist(self, keys: str, pattern: str) -> re.Match[str]:
        """Type keys until a match, as people do: what they type before a prompt listens is lost."""
        latest = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < latest, self.seen
            self.type(keys)
            again = time.monotonic() + _PAUSE
            while time.monotonic() < again:
                if found := self._find(pattern):
                    return found

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait for a match, drop the output before it, and return it."""
        latest = time.monotonic() + PATIENCE
        while not (found := self._find(pattern)):
            assert time.monotonic() < latest, self.seen
        return found

    def _find(self, pattern: str) -> re.Match[str] | None:
        """Look for a match in what is seen, and read on for a moment if there is none."""
        if found := re.search(pattern, self.seen):
            self.seen = self.seen[found.end() :]
            return found
        ready, _, _ = select.select([self.descriptor], [], [], 0.1)
        if ready:
            self._read()
        return None

    def _read(self) -> None:
        self.seen += strip_codes(os.read(self.descriptor, 65_536).decode(errors="replace"))

    def leave(self) -> int:
        """Type Ctrl-D and wait for the exit, reading on so that nothing blocks."""
        latest, again = time.monotonic() + PATIENCE, 0.0
        while self.process.returncode is None:
            assert time.monotonic() < latest
            if time.monotonic() > again:
                self.type("\x04")
                again = time.monotonic() + _PAUSE
            ready, _, _ = select.select([self.descriptor], [], [], 0.1)
            if ready:
                self._read()
        while select.select([self.descriptor], [], [], 0)[0]:
            self._read()
        return self.process.join()


def strip_codes(text: str) -> str:
    return re.sub(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)", "", text)


def _run_in_session(
    files: Sequence[Path], words: Sequence[str], variables: Mapping[str, str]
) -> None:
    """Run the command apart from the terminal of whoever runs the tests."""
    os.setsid()
    run_command(files, words, variables)


@contextmanager
def at_terminal(
    variables: Mapping[str, str], *words: str, run: Run = _run_in_session
) -> Iterator[Terminal]:
    """Run a command in a terminal of 100 by 30, by default one of Talaria's."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    given = {**variables, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    process = Fork([Path(os.ttyname(theirs))] * 3, words, given, run)
    try:
        yield Terminal(ours, process)
    finally:
        if process.returncode is None:
            process.kill()
        process.join()
        os.close(theirs)
        os.close(ours)
