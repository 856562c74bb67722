"""One process a home."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from agent_core.errors import StoreBusy, StoreError
from agent_core.state.engine.database import Database
from tests.agent_core.state.conftest import StartScript, read_file, write_file

HOLD = """
import asyncio, sys
from pathlib import Path
from agent_core.state.engine.database import Database

async def main():
    database = await Database.open(Path(sys.argv[1]))
    print("open", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_second_process_is_told_which_one_holds_the_home(
    path: Path, start_script: StartScript
) -> None:
    holder = start_script(HOLD, path)
    try:
        assert holder.stdout is not None
        assert await asyncio.to_thread(holder.stdout.readline) == "open\n"
        with pytest.raises(StoreBusy, match=f"already open by process {holder.pid};"):
            await Database.open(path)
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    database = await Database.open(path)  # a killed holder holds nothing
    await database.close()


async def test_a_home_is_not_opened_twice_in_one_process_either(
    database: Database, path: Path
) -> None:
    with pytest.raises(StoreBusy, match=f"{path} is already open by process {os.getpid()};"):
        await Database.open(path)
    await database.write("still", lambda connection: None)


async def test_the_lock_file_says_how_the_last_life_ended(path: Path) -> None:
    lock = path.with_name("state.lock")
    database = await Database.open(path)
    assert lock.read_text() == f"{os.getpid()} running\n"
    await database.close()
    assert lock.read_text() == f"{os.getpid()} clean\n"
    assert not path.with_name("state.db-wal").exists()


async def test_a_failed_start_leaves_the_mark_of_the_life_before(path: Path) -> None:
    await (await Database.open(path)).close()
    whole = read_file(path)
    write_file(path, b"no database at all, but long enough to be read as one" * 100)
    path.with_name("state.lock").write_text("1 clean\n")
    with pytest.raises(StoreError):
        await Database.open(path)
    # Damage was seen: the file that is put in its place is not taken on trust.
    assert path.with_name("state.lock").read_text() == f"{os.getpid()} running\n"
    write_file(path, whole)
    await (await Database.open(path)).close()


async def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("my notes")
    with pytest.raises(StoreError, match=f"{home} can't be used: there is a file where a folder"):
        await Database.open(home / "state.db")
    with pytest.raises(StoreError, match="there is a file where a folder must be"):
        await Database.open(home / "deeper" / "state.db")
    assert home.read_text() == "my notes"


async def test_a_home_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)  # root may write everywhere
    try:
        with pytest.raises(StoreError, match=r"home.* can't be used: Permission denied"):
            await Database.open(home / "state.db")
    finally:
        if is_root:
            os.seteuid(0)
    assert list(home.iterdir()) == []


async def test_a_database_that_is_a_folder_is_refused(path: Path) -> None:
    (path / "something").parent.mkdir(parents=True)
    with pytest.raises(StoreError, match=f"{path} is a folder"):
        await Database.open(path)
