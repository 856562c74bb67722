"""The second look at failed tests: alone, at most ten, and only after a run that ended well."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tools.second_look import MOST, NoSecondLook, find_failed

PARTS = range(1, 6)
_CONFTEST = "from hypothesis import settings\nsettings.register_profile('few')\n"
_BUSY = """\
from pathlib import Path
def test_hasty():
    seen = Path(__file__).with_suffix(".seen")
    was_there = seen.exists()
    seen.touch()
    assert was_there
def test_calm():
    pass
"""
"""Its first test fails the first time, as one that looks too early does."""


def _part(folder: Path, name: str, status: str, failed: list[str] | None) -> None:
    folder.joinpath(name, "v/cache").mkdir(parents=True)
    folder.joinpath(name, "status").write_text(f"{status}\n")
    if failed is not None:
        text = json.dumps(dict.fromkeys(failed, True))
        folder.joinpath(name, "v/cache/lastfailed").write_text(text)


def test_the_failed_tests_of_all_parts_are_found(tmp_path: Path) -> None:
    _part(tmp_path, "1", "1", ["tests/a.py::test_one", "tests/a.py::test_two[x y]"])
    _part(tmp_path, "4", "1", ["tests/b.py::test_three"])
    tmp_path.joinpath("5/v/cache").mkdir(parents=True)  # a part without failures has no status
    assert find_failed(tmp_path) == [
        *("tests/a.py::test_one", "tests/a.py::test_two[x y]", "tests/b.py::test_three")
    ]


@pytest.mark.parametrize(
    ("status", "failed"),
    [
        ("1", None),  # a run that hung
        ("2", ["tests/broken.py"]),  # tests that can't be collected
        ("137", ["tests/a.py::test_one"]),  # killed
        ("1", [f"tests/a.py::test_{number}" for number in range(MOST + 1)]),
    ],
)
def test_what_is_more_than_a_few_tests_fails_at_once(
    tmp_path: Path, status: str, failed: list[str] | None
) -> None:
    _part(tmp_path, "1", "1", ["tests/a.py::test_one"])
    _part(tmp_path, "2", status, failed)
    with pytest.raises(NoSecondLook):
        find_failed(tmp_path)


def test_a_run_without_any_part_gets_none(tmp_path: Path) -> None:
    with pytest.raises(NoSecondLook):
        find_failed(tmp_path)


@pytest.mark.process
@pytest.mark.thorough
def test_make_passes_only_if_nothing_fails_twice(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for part in PARTS:
        checkout.joinpath("tests", str(part)).mkdir(parents=True)
        checkout.joinpath("tests", str(part), f"test_{part}.py").write_text("def test(): pass\n")
    checkout.joinpath("tests", "conftest.py").write_text(_CONFTEST)
    for name in ("Makefile", "pyproject.toml", "requirements-dev.lock", "tools/second_look.py"):
        checkout.joinpath(name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    checkout.joinpath(".venv").symlink_to(sys.prefix)
    busy = checkout / "tests" / "2" / "test_2.py"

    busy.write_text(_BUSY)
    done = _make_test(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed only alone: tests/2/test_2.py::test_hasty" in done.stdout
    assert "test_calm" not in done.stdout

    done = _make_test(checkout)
    assert (done.returncode, "alone" in done.stdout) == (0, False)

    busy.write_text("def test_wrong(): assert False\n")
    done = _make_test(checkout)
    assert done.returncode != 0
    assert "Some tests failed twice." in done.stdout

    busy.write_text("import os\ndef test_wrong(): assert False\ndef test_end(): os._exit(1)\n")
    done = _make_test(checkout)
    assert done.returncode != 0
    assert "Part 2 ended early, with status 1. There is no second look." in done.stdout


def _make_test(checkout: Path) -> subprocess.CompletedProcess[str]:
    # `make test` must not tell this make that it is a part of it.
    environ = {name: text for name, text in os.environ.items() if "MAKE" not in name}
    environ.pop("MFLAGS", None)
    environ.pop("PYTEST_ADDOPTS", None)
    folders = [f"TEST_{part}=tests/{part}" for part in PARTS]
    return subprocess.run(
        ["make", "--no-print-directory", "--old-file=.venv/ready", *folders, "test"],
        cwd=checkout,
        env=environ,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
