"""The check of commit messages: its rules, and that git runs it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tools.commit_msg import find_faults

pytestmark = pytest.mark.process

BODY = "\n\nA queue without a limit fills the memory.\n"


@pytest.mark.parametrize(
    "message",
    [
        f"outbox: limit the queue of a chat{BODY}",
        f"agent_core/state, docs: limit the queue{BODY}",
        f"{'outbox: ' + 'x' * 64}{BODY}",
        f"outbox: limit the queue{BODY}\nhttps://example.com/{'x' * 80}\n",
        f"outbox: limit the queue{BODY}\nCo-authored-by: Ann {'x' * 80}\n",
        f"outbox: limit the queue{BODY}# a comment of git{'x' * 80}\n",
        f"outbox: limit the queue{BODY}# {'-' * 24} >8 {'-' * 24}\n+{'x ' * 80}\n",
        "Merge branch 'main' into outbox",
        'Revert "outbox: limit the queue"\n\nThis reverts commit 1234567.\n',
        "fixup! outbox: limit the queue",
    ],
)
def test_a_message_of_the_right_form_passes(message: str) -> None:
    assert find_faults(message) == []


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (f"Limit the queue{BODY}", "Write the subject as `area: imperative subject`"),
        (f"Outbox: limit the queue{BODY}", "the area in lower case"),
        (f"outbox:limit the queue{BODY}", "Write the subject as"),
        (f"{'outbox: ' + 'x' * 65}{BODY}", "Shorten the subject to 72 characters. It has 73."),
        (f"outbox: limit the queue.{BODY}", "Remove the full stop"),
        ("outbox: limit the queue", "Add a body"),
        ("outbox: limit the queue\n\nSigned-off-by: Ann <ann@example.com>\n", "Add a body"),
        ("outbox: limit the queue\nA queue fills the memory.\n", "Leave the second line blank."),
        (f"outbox: limit the queue\n\n{'x ' * 40}\n", "Wrap the body at 72 characters."),
        ("", "Write the subject as"),
    ],
)
def test_a_message_of_another_form_is_refused(message: str, fault: str) -> None:
    assert fault in " ".join(find_faults(message))


def test_git_runs_the_check(tmp_path: Path) -> None:
    for name in (".githooks/commit-msg", "tools/commit_msg.py"):
        tmp_path.joinpath(name).parent.mkdir()
        shutil.copy(ROOT / name, tmp_path / name)

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        settings = ("user.name=Ann", "user.email=ann@example.com", "core.hooksPath=.githooks")
        options = [option for setting in settings for option in ("-c", setting)]
        return subprocess.run(
            ["git", *options, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    git("init")
    refused = git("commit", "--allow-empty", "-m", "Limit the queue")
    assert refused.returncode == 1
    assert "The commit message was refused:\nWrite the subject as" in refused.stderr
    assert git("commit", "--allow-empty", "-m", f"outbox: limit the queue{BODY}").returncode == 0
