"""The time from the start of each command to its first output, on a terminal and in a pipe.

`python -m bench.first_lines` prints the time of every command and verb into a pipe, best of five.
"""

import asyncio
import os
import pty
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.console_home import fill_home
from bench.figures import Figure
from bench.processes import ROOT, clean_environment, run_program, time_program
from gateway.interfaces.parser import Parser
from gateway.interfaces.subcommands import SUBCOMMANDS, load_arguments

_ROUNDS = 3
_ROUNDS_OF_ALL = 5
_SHOWN = 3
"""Slowest commands of each kind that are figures."""
_GOAL = 0.3
"""Seconds; beyond them, people wonder whether something happens."""
_READING = (
    *(("check",), ("models", "list"), ("people", "list"), ("turns", "list"), ("jobs", "list")),
    *(("memory", "log"), ("skills", "list"), ("tools", "list"), ("approvals", "list")),
    *(("agents", "list"), ("secrets", "list"), ("mcp", "list"), ("tokens", "list")),
    *(("logins", "list"), ("plugins", "list"), ("logs",), ("doctor",), ("completion", "bash")),
    *(("webhooks", "list"), ("console",), ("version",), ("--help",)),
    *(("jobs", "show", "1"), ("turns", "show", "1"), ("turns", "undelivered"), ("memory", "show")),
    *(("skills", "log"), ("skills", "show", "research"), ("agents", "check"), ("mcp", "test")),
    *(("skills", "check"), ("restore", "--check", "/none"), ("import", "hermes", "/none")),
    *(("service", "status"), ("secrets", "check"), ("turns", "replay", "1")),
)
"""Commands that end on their own, and change nothing but a link to the console."""
_WRITING = (("backup",),)
"""Commands whose first line is measured where they have nothing to write."""
_CHANGING = (
    *(("jobs", "pause", "1"), ("jobs", "resume", "1"), ("jobs", "preview", "1")),
    *(("jobs", "undo", "1"), ("skills", "archive", "none"), ("memory", "undo", "1")),
    *(("webhooks", "pause", "1"), ("tokens", "revoke", "1"), ("logins", "end")),
)
"""Commands that import much where no gateway runs. People look at them in a terminal."""
_MESSAGES, _PEOPLE, _JOBS = 20_000, 50, 10
_JOB = ("jobs", "add", "--person", "person-1", "--cron", "0 9 * * *", "--message", "Look")


def list_verbs() -> list[tuple[str, ...]]:
    """List the help of each verb of each command."""
    found: list[tuple[str, ...]] = []
    for word in SUBCOMMANDS:
        parser = Parser(prog=f"talaria {word}")
        load_arguments(word)(parser)
        found += [(word, verb, "--help") for verb in parser.list_verbs()]
    return found


async def measure() -> list[Figure]:
    """Return the slowest commands of each kind, best of three rounds, beside an empty Python."""
    empty = min([await time_program(("-c", "pass"), {}) for _ in range(_ROUNDS)])
    helped = [(word, "--help") for word in SUBCOMMANDS]
    kinds: dict[str, list[tuple[float, str]]] = {}
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        bare = clean_environment({"TALARIA_HOME": f"{folder}/bare", "TERM": "xterm"})
        kinds["of --help"] = _time_all(helped, bare, _time_terminal)
        kinds["of --help in a pipe"] = _time_all(helped, bare, _time_pipe)
        kinds["without a database"] = _time_all((*_READING, *_WRITING), bare, _time_terminal)
        kinds["without a database in a pipe"] = _time_all((*_READING, *_WRITING), bare, _time_pipe)
        environ = await _prepare(folder) | {"TERM": "xterm"}
        log = Path(folder) / "output.log"
        async with run_program(("-m", "gateway", "run"), environ, log) as program:
            while b"Ctrl-C" not in await program.output.readline():
                pass
            kinds["beside a gateway"] = _time_all(_READING, environ, _time_terminal)
            kinds["beside a gateway in a pipe"] = _time_all(_READING, environ, _time_pipe)
        kinds["without a gateway"] = _time_all(_READING, environ, _time_terminal)
        kinds["without a gateway in a pipe"] = _time_all(_READING, environ, _time_pipe)
        kinds["of a change without a gateway"] = _time_all(_CHANGING, environ, _time_terminal)
    return [
        Figure(name="an empty Python", unit="s", value=empty),
        *(
            Figure(name=f"first line {when}: {words}", unit="s", value=took, at_most=_GOAL)
            for when, found in kinds.items()
            for took, words in sorted(found, reverse=True)[:_SHOWN]
        ),
    ]


async def print_all() -> None:
    """Print the time of every command and verb into a pipe, the slowest first."""
    lines = ((word, "--help") for word in SUBCOMMANDS)
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        environ = await _prepare(folder)
        every = (*lines, *list_verbs(), *_READING, *_WRITING)
        for took, words in sorted(_time_all(every, environ, _time_pipe, _ROUNDS_OF_ALL))[::-1]:
            print(f"{took:.2f} s  {words}")


async def _prepare(folder: str) -> dict[str, str]:
    """Fill a home with messages and jobs; return the environment of its commands."""
    home = await fill_home(folder, _MESSAGES, _PEOPLE)
    environ = clean_environment({"TALARIA_HOME": str(home)})
    for _ in range(_JOBS):
        _time_pipe(_JOB, environ)
    return environ


def _time_all(
    lines: Sequence[tuple[str, ...]],
    environ: dict[str, str],
    take: Callable[[Sequence[str], dict[str, str]], float],
    rounds: int = _ROUNDS,
) -> list[tuple[float, str]]:
    return [(min(take(words, environ) for _ in range(rounds)), " ".join(words)) for words in lines]


def _time_terminal(words: Sequence[str], environ: dict[str, str]) -> float:
    """Return seconds to the first byte that a command shows in a terminal."""
    return _time(words, environ, *pty.openpty())


def _time_pipe(words: Sequence[str], environ: dict[str, str]) -> float:
    """Return seconds to the first byte that a command writes into a pipe."""
    return _time(words, environ, *os.pipe())


def _time(words: Sequence[str], environ: dict[str, str], ours: int, theirs: int) -> float:
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


if __name__ == "__main__":
    asyncio.run(print_all())
