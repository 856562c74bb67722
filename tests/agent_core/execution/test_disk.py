"""The size of a workspace, wherever a command hides its files."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_core.errors import WorkspaceError
from agent_core.execution.disk import DiskGuard
from tests.agent_core.execution.plain_user import drop_rights_over_files

MOST = 1_000_000
FILE = bytes(2 * MOST)


def make_deep(place: Path) -> None:
    """Put a file where no path is long enough to name it."""
    above = os.open(place, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("a" * 200, dir_fd=above)
        below = os.open("a" * 200, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    file = os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=above)
    os.write(file, FILE)
    os.close(file)
    os.close(above)


def make_closed(place: Path) -> None:
    """Put a file into a folder that its owner may not list."""
    (place / "closed").mkdir()
    (place / "closed" / "f").write_bytes(FILE)
    (place / "closed").chmod(0)


@pytest.mark.parametrize("hide", [make_deep, make_closed])
@pytest.mark.usefixtures("plain_user")
async def test_hidden_files_count(tmp_path: Path, hide: Callable[[Path], None]) -> None:
    place = tmp_path / "anna"
    place.mkdir()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())  # new threads have none
    drop_rights_over_files()
    before = await DiskGuard(MOST).look(place)
    assert before.used < MOST
    hide(place)
    fresh = DiskGuard(MOST)
    assert await fresh.is_exceeded(place, before)
    with pytest.raises(WorkspaceError, match="full"):
        await fresh.check(place)


@pytest.mark.usefixtures("plain_user")
async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    place, other = tmp_path / "anna", tmp_path / "ben"
    place.mkdir()
    other.mkdir()
    (other / "f").write_bytes(FILE)
    (place / "link").symlink_to(other)
    assert (await DiskGuard(MOST).look(place)).used < MOST


@pytest.mark.usefixtures("plain_user")
async def test_where_nothing_can_be_measured_a_command_may_still_delete(tmp_path: Path) -> None:
    place = tmp_path / "anna"
    place.mkdir()
    make_deep(place)
    guard = DiskGuard(MOST)
    before = await guard.look(place)
    assert not await guard.is_exceeded(place, before)
