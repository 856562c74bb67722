"""The targets of the Makefile: present, explained, and clear about a Python that is too old."""

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.process

TARGETS = {
    *("setup", "fmt", "lint", "test", "test-fast", "check", "run", "demo", "bench", "faults"),
    *("docs", "hooks", "lock", "release-check", "clean"),
}


def make(folder: Path, *targets: str) -> subprocess.CompletedProcess[str]:
    # `make test` must not tell this make that it is a part of it.
    environ = {name: text for name, text in os.environ.items() if "MAKE" not in name}
    environ.pop("MFLAGS", None)
    return subprocess.run(
        ["make", "--no-print-directory", *targets],
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
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.lock")):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def test_every_target_is_there_and_explained() -> None:
    reported = set(re.findall(r"^  make ([a-z-]+) +\S", make(ROOT, "help").stdout, re.MULTILINE))
    text = ROOT.joinpath("Makefile").read_text()
    assert reported >= TARGETS
    assert reported == set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def test_the_parts_of_the_fast_tests_hold_every_folder_once() -> None:
    slow = {"bench", "contracts", "emulators", "fakes", "faults", "integration", "journeys"}
    assert count_in_parts("fast-1", "fast-2", "fast-3") == {
        file: 1
        for file in list_tests(ROOT / "tests")
        if file.relative_to(ROOT).parts[1] not in slow
    }


def test_the_parts_of_the_tests_hold_every_file_once() -> None:
    found = count_in_parts("test-1", "test-2", "test-3", "test-4", "test-5")
    assert found == dict.fromkeys(list_tests(ROOT / "tests"), 1)


def count_in_parts(*targets: str) -> Counter[Path]:
    """In how many of these calls of pytest each test module is."""
    found: Counter[Path] = Counter()
    for line in make(ROOT, "--dry-run", *targets).stdout.splitlines():
        words = line.split()
        tops = [top for word in words if word.startswith("tests") for top in ROOT.glob(word)]
        ignored = [ROOT / word[9:] for word in words if word.startswith("--ignore=")]
        found.update(
            file
            for top in tops
            for file in list_tests(top)
            if not any(map(file.is_relative_to, ignored))
        )
    return found


def list_tests(folder: Path) -> list[Path]:
    """The test modules of a folder, or the one that it is."""
    return [*folder.rglob("test_*.py")] if folder.is_dir() else [folder]


def test_no_target_is_mistaken_for_a_file() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", ROOT.joinpath("Makefile").read_text(), re.MULTILINE)
    assert phony
    assert set(phony[1].split()) >= TARGETS


def test_an_old_python_is_told_in_one_sentence(checkout: Path) -> None:
    old = checkout / "python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1 || exit 1\n')
    old.chmod(0o755)
    done = make(checkout, f"PYTHON={old}", "run")
    assert done.returncode == 2
    assert f"Talaria needs Python 3.11 or newer, but {old} is Python 3.9.1. Name" in done.stderr
    assert not checkout.joinpath(".venv").exists()


def test_a_python_that_is_not_there_is_told_too(checkout: Path) -> None:
    done = make(checkout, "PYTHON=/nowhere/python", "test")
    assert done.returncode == 2
    assert "/nowhere/python is not installed" in done.stderr


def is_installing(checkout: Path, target: str) -> bool:
    """Whether a target would install anything."""
    return "-m venv" in make(checkout, "--dry-run", target).stdout


def test_the_environment_is_made_once_and_again_when_a_lock_changes(checkout: Path) -> None:
    checkout.joinpath(".venv").mkdir()
    stamp = checkout / ".venv" / "ready"
    for path in (stamp, checkout / ".venv" / "ready-run"):
        path.touch()
    assert [is_installing(checkout, target) for target in ("setup", "run")] == [False, False]
    later = stamp.stat().st_mtime + 10
    os.utime(checkout / "requirements-dev.lock", (later, later))
    assert [is_installing(checkout, target) for target in ("setup", "run")] == [True, False]
    os.utime(checkout / "requirements.lock", (later, later))
    assert is_installing(checkout, "run")


def test_run_installs_the_runtime_only(checkout: Path) -> None:
    shown = make(checkout, "--dry-run", "run").stdout
    assert "-r requirements.lock" in shown
    assert "requirements-dev.lock" not in shown
    assert "-r requirements-dev.lock" in make(checkout, "--dry-run", "test").stdout


def test_docs_without_a_configuration_are_refused_in_one_sentence(checkout: Path) -> None:
    checkout.joinpath(".venv").mkdir()
    checkout.joinpath(".venv", "ready").touch()
    done = make(checkout, "docs")
    assert done.returncode == 2
    assert "mkdocs.yml is missing" in done.stderr
