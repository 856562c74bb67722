"""The time from the start of each command to its first output on a terminal."""

import os
import pty
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figures import Figure
from bench.processes import ROOT, clean_environment, run_program, time_program
from gateway.interfaces.subcommands import SUBCOMMANDS

_ROUNDS = 3
_GOAL = 0.3
"""Seconds; beyond them, people wonder whether something happens."""
_READING = (
    *(("check",), ("models", "list"), ("people", "list"), ("turns", "list"), ("jobs", "list")),
    *(("memory", "log"), ("skills", "list"), ("tools", "list"), ("approvals", "list")),
    *(("agents", "list"), ("secrets", "list"), ("mcp", "list"), ("tokens", "list")),
    *(("logins", "list"), ("plugins", "list"), ("logs",), ("doctor",), ("completion", "bash")),
    *(("version",), ("--help",)),
)
"""Commands that change nothing and end on their own."""


async def measure() -> list[Figure]:
    """Return the slowest command of each kind, best of three rounds, beside an empty Python."""
    empty = min([await time_program(("-c", "pass"), {}) for _ in range(_ROUNDS)])
    helped = [(word, "--help") for word in SUBCOMMANDS]
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        environ = clean_environment({"TALARIA_HOME": folder, "TERM": "xterm"})
        log = Path(folder) / "output.log"
        async with run_program(("-m", "gateway", "run"), environ, log) as program:
            while b"Ctrl-C" not in await program.output.readline():
                pass
            running = _time_all(_READING, environ)
        alone = _time_all(_READING, environ)
        explained = _time_all(helped, environ)
    return [
        Figure(name="an empty Python", unit="s", value=empty),
        *(
            Figure(name=f"first line {when}, slowest: {words}", unit="s", value=took, at_most=_GOAL)
            for when, (took, words) in (
                ("of --help", max(explained)),
                ("beside a gateway", max(running)),
                ("without a gateway", max(alone)),
            )
        ),
    ]


def _time_all(lines: Sequence[tuple[str, ...]], environ: dict[str, str]) -> list[tuple[float, str]]:
    return [
        (min(_time(words, environ) for _ in range(_ROUNDS)), " ".join(words)) for words in lines
    ]


def _time(words: Sequence[str], environ: dict[str, str]) -> float:
    """Return seconds to the first byte that a command shows in a terminal."""
    ours, theirs = pty.openpty()
    started = time.perf_counter()
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "gateway", *words],
        environ | {"PYTHONPATH": str(ROOT)},
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, number) for number in range(3)],
    )
    os.close(theirs)
    try:
        os.read(ours, 1)
        took = time.perf_counter() - started
        while os.read(ours, 65_536):
            pass
    except OSError:  # the end of a terminal whose programs have ended
        pass
    finally:
        os.close(ours)
        os.waitpid(child, 0)
    return took
