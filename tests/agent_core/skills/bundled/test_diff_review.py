"""The script that counts what a diff changes."""

import subprocess
from pathlib import Path

import pytest

from tests.agent_core.skills.bundled.scripts import refused, run

pytestmark = pytest.mark.process


def git(folder: Path, *words: str) -> bytes:
    settings = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    command = ("git", *settings, *words)
    return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout


def test_a_diff_of_git_with_new_renamed_deleted_and_binary_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    same = "a = 1\n" * 20
    (tmp_path / "old name.py").write_text(f"{same}b = 2\n-- sql\n++i\n")
    (tmp_path / "gone.py").write_text("x\n" * 3)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    git(tmp_path, "mv", "old name.py", "new name.py")
    (tmp_path / "new name.py").write_text(f"{same}b = 3\n++i\n--- no header\n")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "fresh.py").write_text("y = 1\x0c\nz = 2")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "poetry.lock").write_text("locked\n")
    git(tmp_path, "add", "-A")
    shown = run("diff-review", "-", given=git(tmp_path, "diff", "--cached", "-M")).stdout
    assert "# 5 files, 5 lines added, 5 removed" in shown
    assert "- new name.py: +2 -2, renamed" in shown
    assert "- gone.py: +0 -3, deleted" in shown
    assert "- fresh.py: +2 -0, new" in shown
    assert "- picture.png: +0 -0, binary" in shown
    assert "- poetry.lock is a lock file: read why" in shown
    assert "no test does" not in shown


def test_a_plain_diff_and_what_to_look_at_first(tmp_path: Path) -> None:
    file = tmp_path / "change.diff"
    added = "".join(f"+line {number}\n" for number in range(9))
    file.write_text(
        "--- a/app.js\t2026-11-01 10:00:00\n+++ b/app.js\t2026-11-02 10:00:00\n"
        f"@@ -1,0 +1,13 @@\n{added}+<<<<<<< ours\n"
        '+const apiKey = "abcdefgh1234"\n+console.log(x) // TODO\n+try { f() } catch (e) {}\n'
    )
    shown = run("diff-review", str(file)).stdout
    assert "- app.js: +13 -0" in shown
    assert "code changes, but no test does" in shown
    assert "- app.js:10: conflict marker" in shown
    assert "- app.js:11: possible key\n" in shown
    assert "abcdefgh1234" not in shown
    assert "- app.js:12: open end" in shown
    assert "- app.js:12: left from debugging" in shown
    assert "- app.js:13: swallowed error" in shown
    assert "- and 5 more" in run("diff-review", str(file), "--most", "1").stdout


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no unified diff in -" in refused("diff-review", "-", given=b"hello\n")
    assert "there is no unified diff" in refused("diff-review", "-")
    cut = b"--- a/x.py\n+++ b/x.py\n@@ -1,5 +1,5 @@\n a\n"
    assert "the diff of x.py is cut off" in refused("diff-review", "-", given=cut)
    mixed = cut + b"diff --git a/y b/y\n"
    assert "the diff of x.py is cut off" in refused("diff-review", "-", given=mixed)
    assert "no file name above it" in refused("diff-review", "-", given=b"@@ -1 +1 @@\n-a\n+b\n")
    assert "No such file" in refused("diff-review", str(tmp_path / "gone.diff"))
