"""The script that sorts issues and pull requests."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agent_core.skills.bundled.scripts import refused, run

pytestmark = pytest.mark.process

NOW = ("--now", "2026-11-25T00:00:00Z")


def issue(number: int, title: str, **more: Any) -> dict[str, Any]:
    made = {"number": number, "title": title, "user": {"login": "ann"}, "labels": [], "comments": 0}
    return {**made, "updated_at": "2026-11-20T00:00:00Z", "body": None, **more}


def sort(folder: Path, *lists: object, words: tuple[str, ...] = ()) -> str:
    paths = []
    for number, one in enumerate(lists):
        paths.append(folder / f"{number}.json")
        paths[-1].write_text(json.dumps(one))
    done = run("github-triage", *map(str, paths), *NOW, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_issues_are_sorted_and_pages_that_overlap_count_once(tmp_path: Path) -> None:
    first = [issue(1, "Crash on start"), issue(2, "How can I log in?", comments=3)]
    second = [issue(1, "Crash on start"), issue(5, "Typo in the docs", assignees=[{"login": "b"}])]
    shown = sort(tmp_path, first, second)
    assert "# 3 issues, 0 pull requests" in shown
    assert "## Nobody answered (1)\n- #1 Crash on start (ann, 5 days)" in shown
    assert "- #1 Crash on start (bug)" in shown
    assert "- #2 How can I log in? (question)" in shown
    assert "- #5 Typo in the docs (documentation)" in shown


def test_titles_alike_are_likely_duplicates_and_others_are_not(tmp_path: Path) -> None:
    found = [
        issue(1, "Login fails with Safari"),
        issue(2, "Safari: login fails"),
        issue(3, "Login page is ugly"),
        issue(4, "Login fails with Safari", pull_request={"url": "x"}),
    ]
    shown = sort(tmp_path, found)
    assert "## Probably duplicates (1)\n- #1 and #2: 100% alike" in shown


def test_the_output_of_gh_is_read_too(tmp_path: Path) -> None:
    pull = {
        "number": 8,
        "title": "Add a test",
        "author": {"login": "bo"},
        "labels": [{"name": "x"}],
        "comments": [{"body": "Hm."}],
        "isDraft": False,
        "updatedAt": "2026-08-01T00:00:00Z",
    }
    draft = {**pull, "number": 9, "isDraft": True}
    shown = sort(tmp_path, [pull, draft])
    assert "# 0 issues, 2 pull requests" in shown
    assert "## Pull requests to review (1)\n- #8 Add a test (bo, 116 days)" in shown
    assert "## No change for 60 days (2)" in shown
    assert "No change" not in sort(tmp_path, [pull], words=("--stale", "200"))


def test_a_part_is_cut_with_its_count(tmp_path: Path) -> None:
    found = [issue(number, f"word{number}") for number in range(1, 6)]
    assert "- and 3 more" in sort(tmp_path, found, words=("--most", "2"))


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "issues.json"

    def why(text: str) -> str:
        file.write_text(text)
        return refused("github-triage", str(file))

    assert "is no JSON" in why("<html>")
    assert "is an error of GitHub: Not Found" in why('{"message": "Not Found"}')
    assert "must hold a list of issues" in why('{"a": 1}')
    assert "has no 'number'" in why('[{"title": "x"}]')
    assert "an entry of" in why("[1]")
    assert "is malformed" in why('[{"number": 1, "title": "x", "updated_at": "soon"}]')
    assert "there is no open issue" in why("[]")
    assert "No such file" in refused("github-triage", str(tmp_path / "gone.json"))
