"""Command-line completion in real shells: a person types and presses Tab."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.integration.processes import environ, talaria
from tests.patience import PATIENCE

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
PREPARE = {
    "bash": 'talaria() {{ echo "GOT:" "$@"; }}; source {script}',
    "zsh": "talaria() {{ echo 'GOT:' $@; }}; autoload -U compinit; compinit -u -D; source {script}",
    "fish": "function talaria; echo 'GOT:' $argv; end; source {script}",
}
TYPED = [
    ("talaria vers\t", "GOT: version"),
    ("talaria turns repl\t", "GOT: turns replay"),
    ("talaria jobs add --lat\tcat\t", "GOT: jobs add --late catch_up"),
    ("talaria turns replay --mem\tno\t", "GOT: turns replay --memory now"),
    ("talaria check --js\t", "GOT: check --json"),
    ("talaria completion ba\t", "GOT: completion bash"),
]


class Terminal:
    """A shell at the other end of a pseudo-terminal."""

    def __init__(self, words: list[str], home: Path) -> None:
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            given = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "dumb", "PS1": "$ "}
            os.execvpe(words[0], words, given)
        self.shown = ""

    def type(self, text: str) -> None:
        """Type as a person does: each key after the shell has shown the one before.

        Shells take a Tab for a plain character while more input waits.
        """
        for key in text:
            before = len(self.shown)
            os.write(self.end, key.encode())
            self.reads_until(lambda before=before: len(self.shown) > before)

    def sees(self, text: str) -> bool:
        """Read until the terminal shows a text; False if it never does."""
        return self.reads_until(lambda: text in self.shown)

    def reads_until(self, is_met: Callable[[], bool]) -> bool:
        until = time.monotonic() + PATIENCE
        while not is_met() and time.monotonic() < until:
            if select.select([self.end], [], [], 0.2)[0]:
                try:
                    self.shown += os.read(self.end, 65536).decode(errors="replace")
                except OSError:
                    break
        return is_met()

    def close(self) -> None:
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.end)


@pytest.mark.process
@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_commands_verbs_options_and_values(shell: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / f"completion.{shell}"
    script.write_text(talaria(tmp_path / "home", "completion", shell).out)
    terminal = Terminal(SHELLS[shell], tmp_path)
    try:
        # The word is split, so that the echo of what is typed is not taken for what is printed.
        terminal.type(PREPARE[shell].format(script=script) + "; echo REA''DY\n")
        assert terminal.sees("READY"), terminal.shown
        for typed, expected in TYPED:
            terminal.type(typed + "\n")
            assert terminal.sees(expected), terminal.shown
    finally:
        terminal.close()


@pytest.mark.process
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_that_the_shell_can_read(shell: str, tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "completion", shell)
    assert (done.code, done.err) == (0, "")
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.out.encode(), check=True, timeout=PATIENCE)


def test_an_unknown_shell_is_refused_with_the_nearest(tmp_path: Path) -> None:
    done = talaria(tmp_path / "home", "completion", "fihs")
    assert done.code == 2
    assert done.err.startswith("SHELL: fihs is not known; did you mean fish?")


def test_printing_a_script_needs_no_home(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "gateway", "completion", "fish"],
        check=True,
        cwd=ROOT,
        env=environ(tmp_path / "home"),
        stdout=subprocess.DEVNULL,
        timeout=PATIENCE,
    )
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_saved_where_the_shell_looks(tmp_path: Path, shell: str) -> None:
    for _ in range(2):
        given = {"SHELL": f"/bin/{shell}", "HOME": str(tmp_path)}
        done = talaria(tmp_path / "home", "completion", "--install", **given)
        assert (done.code, done.err) == (0, "")
    saved = Path(done.out.partition("Saved as ")[2].partition(".\n")[0])
    assert saved.read_text() == talaria(tmp_path / "home", "completion", shell).out
    if shell == "zsh":
        assert (tmp_path / ".zshrc").read_text().count(str(saved.parent.name)) == 1


def test_an_unknown_shell_is_asked_for(tmp_path: Path) -> None:
    done = talaria(tmp_path, "completion", "--install", SHELL="/bin/tcsh")
    assert (done.code, done.err) == (2, "Name the shell that you use: bash, zsh or fish.\n")
