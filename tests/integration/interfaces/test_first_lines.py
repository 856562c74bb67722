"""The first line of each command: nothing heavy is imported before it."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database
from gateway.interfaces.subcommands import SUBCOMMANDS
from tests.architecture.source import ROOT
from tests.integration.interfaces.digest_home import add_people, write
from tests.integration.processes import PATIENCE, environ, talaria

pytestmark = pytest.mark.process

HEAVY = (
    *("aiohttp", "aiosqlite", "anthropic", "discord", "fastapi", "http.client", "jinja2"),
    *("openai",),
    *("prompt_toolkit", "pydantic", "rich", "ruamel.yaml", "slack_sdk", "telegram"),
)
"""Modules that take a tenth of a second or more, or bring those that do."""
LISTING = (
    *(("people", "list"), ("turns", "list"), ("tokens", "list"), ("webhooks", "list")),
    *(("approvals", "list"), ("logins", "list"), ("memory", "log"), ("mcp", "list")),
)
"""Commands that show rows of the database, or of one file."""
ASKING = (*LISTING, ("tools", "list"), ("skills", "list"), ("console",), ("backup",), ("logs",))
"""Commands that ask the gateway first, or read one file."""


def list_heavy(home: Path, *lines: tuple[str, ...]) -> dict[str, list[str]]:
    """Run command lines in one fresh interpreter each, and list the heavy modules that it has."""
    code = (
        "import json, os, sys\n"
        "from gateway.__main__ import main\n"
        "heavy, lines = map(json.loads, sys.argv[1:])\n"
        "found = {}\n"
        "for line in lines:\n"
        "    read, write = os.pipe()\n"
        "    if not os.fork():\n"
        "        quiet = os.open(os.devnull, os.O_WRONLY)\n"
        "        os.dup2(quiet, 1), os.dup2(quiet, 2)\n"
        "        try:\n"
        "            main(line)\n"
        "        except SystemExit:\n"
        "            pass\n"
        "        loaded = [one for one in heavy if one in sys.modules]\n"
        "        os.write(write, json.dumps(loaded).encode())\n"
        "        os._exit(0)\n"
        "    os.close(write)\n"
        "    found[' '.join(line)] = json.loads(os.read(read, 10_000) or '[\"failed\"]')\n"
        "    os.wait()\n"
        "print(json.dumps(found))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(HEAVY), json.dumps(lines)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        cwd=ROOT,
        env=environ(home),
    )
    return dict(json.loads(done.stdout))


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    lines = [("--help",), ("version",), *((word, "--help") for word in SUBCOMMANDS)]
    found = list_heavy(tmp_path, *lines, ("completion", "bash"))
    assert len(found) == len(SUBCOMMANDS) + 3
    assert {line: heavy for line, heavy in found.items() if heavy} == {}


def test_a_command_that_asks_the_gateway_imports_nothing_heavy(tmp_path: Path) -> None:
    found = list_heavy(tmp_path, *ASKING)
    assert {line: heavy for line, heavy in found.items() if heavy} == {}


async def test_a_list_without_a_gateway_imports_only_what_reads_the_database(
    tmp_path: Path,
) -> None:
    await (await Database.open(tmp_path / "state.db")).close()
    found = list_heavy(tmp_path, *LISTING)
    assert {line: set(heavy) - {"aiosqlite"} for line, heavy in found.items()} == {
        line: set() for line in found
    }
    assert "aiosqlite" in found["people list"]


async def test_a_job_is_shown_without_what_runs_it(tmp_path: Path) -> None:
    await write(tmp_path, add_people)
    assert "Digest" in talaria(tmp_path, "jobs", "list").out
    found = list_heavy(tmp_path, ("jobs", "list"), ("jobs", "show", "1"))
    assert {line: set(heavy) - {"aiosqlite"} for line, heavy in found.items()} == {
        "jobs list": set(),
        "jobs show 1": set(),
    }


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("check",), "ok    python "),
        (("doctor",), "ok    python "),
        (("backup",), "Backing up "),
        (("skills", "list"), "Skills of "),
        (("models", "list"), "The configured models"),
        (("agents", "list"), "Agents of "),
        (("plugins", "list"), "Plug-ins that are installed"),
    ],
)
async def test_a_pipe_gets_the_first_line_before_anything_heavy_is_imported(
    tmp_path: Path, words: tuple[str, ...], first: str
) -> None:
    await (await Database.open(tmp_path / "state.db")).close()
    lines = run_in_pipe(tmp_path, "-X", "importtime", "-m", "gateway", *words).splitlines()
    names = [line.rpartition("|")[2].strip() for line in lines]
    place = next(at for at, line in enumerate(lines) if line.startswith(first))
    assert "gateway.interfaces.parser" in names[:place]
    assert not set(HEAVY) & set(names[:place])
    assert "pydantic" in names[place:]


def test_a_heavy_command_is_seen(tmp_path: Path) -> None:
    assert "pydantic" in list_heavy(tmp_path, ("check",))["check"]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("check",), "Loading ..."),
        (("models", "list"), "Loading ..."),
        (("people", "list"), "No gateway is running. Opening the database ..."),
    ],
)
async def test_a_terminal_shows_what_a_slow_command_waits_for(
    tmp_path: Path, words: tuple[str, ...], first: str
) -> None:
    await (await Database.open(tmp_path / "state.db")).close()
    shown = run_in_terminal(tmp_path, "-X", "importtime", "-m", "gateway", *words)
    lines = shown.splitlines()
    place = next(at for at, line in enumerate(lines) if first in line)
    before = {line.rpartition("|")[2].strip() for line in lines[:place]}
    assert "gateway.interfaces.waiting" in before
    assert not set(HEAVY) & before
    assert set(HEAVY) & {line.rpartition("|")[2].strip() for line in lines[place:]}


def test_what_was_waited_for_is_not_left_on_the_terminal(tmp_path: Path) -> None:
    shown = run_in_terminal(tmp_path, "-m", "gateway", "models", "list")
    assert "Loading ...\r\x1b[KThe configured models" in shown
    assert "\r\nReading the settings ...\r\x1b[K" in shown
    assert "Price table of" in shown


@pytest.mark.parametrize("words", [("--help",), ("people", "--help"), ("jobs", "add", "--help")])
def test_help_has_colours_on_a_terminal_only(tmp_path: Path, words: tuple[str, ...]) -> None:
    pytest.importorskip("rich")
    plain = talaria(tmp_path, *words).out
    assert "\x1b" not in plain
    arguments = ("-m", "gateway", *words)
    coloured = run_in_terminal(tmp_path, *arguments, TERM="xterm-256color")
    assert "\x1b[32m--" in coloured or "\x1b[36m" in coloured
    assert re.sub(r"\x1b\[[\d;]*[mK]", "", coloured).replace("\r", "") == plain
    for setting in ({"NO_COLOR": "1", "TERM": "xterm-256color"}, {"TERM": "dumb"}):
        assert run_in_terminal(tmp_path, *arguments, **setting).replace("\r\n", "\n") == plain


def test_help_without_rich_is_plain(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'rich':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from gateway.__main__ import main\n"
        "main(['--help'])"
    )
    shown = run_in_terminal(tmp_path, "-c", code, TERM="xterm-256color")
    assert shown.replace("\r\n", "\n") == talaria(tmp_path, "--help").out


def run_in_pipe(home: Path, *arguments: str) -> str:
    """Return everything that a program writes into one pipe, in the order of its writing."""
    return subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=True,
        cwd=ROOT,
        env=environ(home),
    ).stdout


def run_in_terminal(home: Path, *arguments: str, **variables: str) -> str:
    """Return everything that a program shows in a terminal of its own."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env=environ(home) | variables,
    ) as program:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65_536):
                shown += piece
        except OSError:  # Linux's end of a terminal whose programs have ended
            pass
        os.close(ours)
    assert program.returncode == 0
    return shown.decode()
