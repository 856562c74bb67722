"""The scripts of bundled skills with an input and what they print for it."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import skills_bundled

FOLDER = Path(skills_bundled.__file__).parent


@dataclass(frozen=True, kw_only=True)
class Script:
    """A script of a skill, and a call of it with an input of the skill's own cases."""

    skill: str
    name: str
    given: str
    options: tuple[str, ...] = ()
    printed: str

    @property
    def path(self) -> str:
        """The path within the skill."""
        return f"scripts/{self.name}"

    @property
    def sample(self) -> Path:
        """The input."""
        return FOLDER / self.skill / "evals/files" / self.given


SCRIPTS = (
    Script(
        skill="nginx-logs",
        name="nginx_report.py",
        given="access.log",
        printed="| 502 /api/orders | 5 |",
    ),
    Script(
        skill="csv-report",
        name="csv_report.py",
        given="sales.csv",
        options=("--group", "region", "--value", "amount", "--sum", "sum"),
        printed='"labels": ["North", "South"], "values": [350.5, 200.25]',
    ),
    Script(
        skill="github-triage",
        name="triage.py",
        given="issues.json",
        options=("--now", "2026-11-25T00:00:00Z"),
        printed="- #3 and #7: 80% alike",
    ),
    Script(
        skill="diff-review",
        name="diff_stats.py",
        given="change.diff",
        printed="- app/settings.py:2: possible key",
    ),
)


def run(skill: str, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run the script of a skill with the words of a command line, and bytes as its input."""
    (script,) = [one for one in SCRIPTS if one.skill == skill]
    command = [sys.executable, "-I", str(FOLDER / skill / script.path), *words]
    done = subprocess.run(command, check=False, capture_output=True, input=given, timeout=60)
    return subprocess.CompletedProcess(
        command, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def refused(skill: str, *words: str, given: bytes = b"") -> str:
    """Return the one sentence with which a script refuses its input."""
    done = run(skill, *words, given=given)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(".\n")
    assert "Traceback" not in done.stderr
    return done.stderr
