"""Workspace files in data requests: export, forget, erase."""

import os
from pathlib import Path

import pytest

from gateway.texts import privacy
from tests.integration.accounts import ChatAccount, make_owner
from tests.integration.canaries import Planter, make_chat
from tests.integration.harness import running
from tests.integration.privacy.deletions import settled
from tests.integration.privacy.exports import unpack

pytestmark = pytest.mark.process


def make_workspace(home: Path, slug: str) -> Path:
    workspace = home / "workspaces" / slug
    (workspace / "deep").mkdir(parents=True)
    (workspace / "deep" / "note").write_text(f"bluefish of {slug}")
    (workspace / "other").write_text("nothing")
    (workspace / "link").symlink_to("/etc/passwd")
    os.mkfifo(workspace / "pipe")
    return workspace


async def test_an_export_has_the_workspaces_files_and_follows_no_link(
    tmp_path: Path,
) -> None:
    make_workspace(tmp_path, "zebrana")
    make_workspace(tmp_path, "benedikt")
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        await ana.says("/export")
        files = unpack(harness, ana)
    assert {name: text for name, text in files.items() if name.startswith("workspace/")} == {
        "workspace/zebrana/deep/note": "bluefish of zebrana",
        "workspace/zebrana/other": "nothing",
    }
    assert "`workspace/`" in files["README.md"]


async def test_forget_names_workspace_files_with_the_words(tmp_path: Path) -> None:
    make_workspace(tmp_path, "zebrana")
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        ana = ChatAccount(harness, "4711001", "Zebrana")
        await ana.says("hello")
        await ana.says("I like the bluefish")
        await ana.says("/forget bluefish")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        shown = "\n".join(one.text for one in harness.chat.shown)
    named = privacy.describe_workspace_files(["deep/note"]).strip()
    assert "The words are still in these files in your workspace" in named
    assert named in shown


async def test_erase_removes_the_workspace_in_any_state(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, "zebrana")
    kept = make_workspace(tmp_path, "olga")
    deep = os.open(workspace, os.O_RDONLY)
    for _ in range(1500):  # deeper than Python's recursion, and longer than a path may be
        os.mkdir("folder", dir_fd=deep)
        below = os.open("folder", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.fchmod(deep, 0)
    os.close(deep)
    async with running(tmp_path, Planter(), chat=make_chat()) as harness:
        olga, ana = (
            ChatAccount(harness, "4711002", "Olga"),
            ChatAccount(harness, "4711001", "Zebrana"),
        )
        await olga.says("hello")
        await make_owner(harness, olga.user)
        await ana.says("hello")
        await ana.says("/erase me")
        await ana.presses(privacy.ERASE_YES())
        await ana.presses(privacy.ERASE_SURE())
        await settled(harness)
    assert not workspace.exists()
    assert (kept / "deep" / "note").exists()
