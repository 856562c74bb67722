"""Second look: runs the tests that failed once more, alone, and names those that pass only so.

The Makefile calls it after all parts of the tests, with their folder and the command for pytest.
"""

import json
import subprocess
import sys
from pathlib import Path

MOST = 10
"""Failed tests that get a second look. More of them have a cause of their own."""


class NoSecondLook(Exception):
    """What failed is more than a few tests. The text says what, for the developer."""


def find_failed(folder: Path) -> list[str]:
    """Return the ids of the tests that failed, from the caches and the statuses of all parts.

    Raises `NoSecondLook` if a part crashed, was stopped or could not collect its tests, or if too
    many tests failed.
    """
    failed: list[str] = []
    for status in sorted(folder.glob("*/status")):
        found = status.parent / "v" / "cache" / "lastfailed"
        code = status.read_text().strip()
        if (
            code != "1" or not found.exists()
        ):  # a run that hung also ends with 1, and keeps no cache
            raise NoSecondLook(f"Part {status.parent.name} ended early, with status {code}.")
        failed += json.loads(found.read_text())
    if not failed:
        raise NoSecondLook("No part of the tests says which test failed.")
    if len(failed) > MOST:
        raise NoSecondLook(f"{len(failed)} tests failed.")
    return failed


def main(folder: Path, command: list[str]) -> int:
    """Run the failed tests again; return 0 only if all of them pass now."""
    try:
        failed = find_failed(folder)
    except NoSecondLook as error:
        print(f"{error} There is no second look.", flush=True)
        return 1
    print(f"Running what failed once more, alone: {len(failed)} of the tests.", flush=True)
    if subprocess.run([*command, *failed], check=False).returncode:
        print("Some tests failed twice.")
        return 1
    print("=" * 80)
    for test in failed:
        print(f"passed only alone: {test}")
    print(
        "These tests look too early while the machine is busy. Repair them: see tests/patience.py."
    )
    print("=" * 80)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
