"""The words of the Makefile: there, explained, and plain about a Python that is too old."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

WORDS = {"setup", "fmt", "lint", "test", "check", "run", "demo", "bench", "faults", "lock"}


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # `make test` must not tell this make that it is a part of it.
    environ = {name: text for name, text in os.environ.items() if "MAKE" not in name}
    environ.pop("MFLAGS", None)
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh checkout without an environment; only what set-up looks at."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_every_word_is_there_and_explained() -> None:
    told = set(re.findall(r"^  make (\w+) +\S", make(ROOT, "help").stdout, re.MULTILINE))
    text = ROOT.joinpath("Makefile").read_text()
    assert told >= WORDS
    assert told == set(re.findall(r"^([a-z]+):", text, re.MULTILINE))


def test_no_word_is_mistaken_for_a_file() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", ROOT.joinpath("Makefile").read_text(), re.MULTILINE)
    assert phony
    assert set(phony[1].split()) >= WORDS


def test_an_old_python_is_told_in_one_sentence(checkout: Path) -> None:
    old = checkout / "python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1 || exit 1\n')
    old.chmod(0o755)
    done = make(checkout, f"PYTHON={old}", "run")
    assert done.returncode == 2
    assert f"Talaria needs Python 3.11 or newer, and {old} is Python 3.9.1: name" in done.stderr
    assert not checkout.joinpath(".venv").exists()


def test_a_python_that_is_not_there_is_told_too(checkout: Path) -> None:
    done = make(checkout, "PYTHON=/nowhere/python", "test")
    assert done.returncode == 2
    assert "/nowhere/python is not there" in done.stderr


def test_the_environment_is_made_once_and_again_when_the_lock_changes(checkout: Path) -> None:
    stamp = checkout / ".venv" / "ready"
    stamp.parent.mkdir()
    stamp.touch()
    assert make(checkout, "--dry-run", "setup").stdout.count("-m venv") == 0
    later = stamp.stat().st_mtime + 10
    lock = checkout / "requirements.lock"
    os.utime(lock, (later, later))
    assert make(checkout, "--dry-run", "setup").stdout.count("-m venv") == 1
