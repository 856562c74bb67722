"""`talaria people export` and `erase`, beside a running gateway and without one."""

import asyncio
import os
import signal
import zipfile
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from agent_core.memory.store import MemoryStore
from agent_core.privacy.erasure.scrub import delete_loose_files, scrub_database
from agent_core.state.engine.database import Database
from agent_core.state.people import people
from agent_core.tools.mcp.sign_ins import clear_tokens
from agent_core.tools.mcp.token_files import TokenFolder
from gateway.people.data_erase import DataErase
from tests.integration.canaries import fill, search
from tests.integration.processes import run_fork, talaria, talaria_beside
from tests.integration.served import served
from tests.patience import until


async def test_export_and_erase_work_without_a_gateway(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "all.zip"
    await fill(home)
    done = talaria(home, "people", "export", "zebrana", str(target))
    assert done.code == 0, done.err
    with zipfile.ZipFile(target) as archive:
        assert "bluefishmemory" in archive.read("memory/MEMORY.md").decode()
    assert target.stat().st_mode & 0o077 == 0
    again = talaria(home, "people", "export", "zebrana", str(target))
    assert again.code == 1
    assert "exists already" in again.err

    kept = talaria(home, "people", "erase", "zebrana", given="no\n")
    assert kept.code == 1
    assert "No data was deleted." in kept.err
    unknown = talaria(home, "people", "erase", "nobody", "--yes")
    assert "There is no person nobody" in unknown.err
    last = talaria(home, "people", "erase", "olga", "--yes")
    assert "only owner" in last.err
    erased = talaria(home, "people", "erase", "zebrana", given="zebrana\n")
    assert erased.code == 0, erased.err
    assert "is erased" in erased.out
    assert search(home, "bluefish", "zebrana", "4711002") == []
    assert "zebrana" not in talaria(home, "people", "list").out


@pytest.mark.thorough
async def test_a_killed_erasure_is_finished_by_the_next(tmp_path: Path) -> None:
    """Kill it at each of its commits, and restart it until done."""
    home = tmp_path / "home"
    await fill(home)
    deaths = 0
    for _ in range(60):
        done = _erase_and_die(home, deaths + 1)
        if done == 0:
            break
        deaths += 1
    assert deaths > 5, "it has more commits than that"
    assert search(home, "bluefish", "zebrana", "4711002") == []


def _erase_and_die(home: Path, last: int) -> int:
    return run_fork(_erase, home, last)


def _erase(home: Path, last: int) -> None:
    """Run an erasure in a process that dies at the numbered commit."""
    commits = count(1)

    def observe(event: str, names: object) -> None:
        if event == "committed" and next(commits) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    async def main() -> None:
        database = await Database.open(home / "state.db", observe=observe)
        memory = MemoryStore(database, home / "memories")
        end_sign_ins = partial(clear_tokens, database, TokenFolder(home / "mcp_tokens"), [])
        erasing = DataErase(
            database,
            memory,
            home,
            now=lambda: 1,
            renew=lambda: None,
            end_sign_ins=end_sign_ins,
        )
        found = [one for one in await database.read(people.list_all) if one.slug == "zebrana"]
        if found:
            await erasing.erase(found[0].id)
        else:
            await erasing.resume()
            await delete_loose_files(database)
            await scrub_database(database)
        await database.close()

    asyncio.run(main())


async def test_a_running_gateway_exports_erases_and_forgets_the_person(tmp_path: Path) -> None:
    home, target = tmp_path / "home", tmp_path / "all.zip"
    await fill(home)
    async with served(home) as harness:
        done = await talaria_beside(home, "people", "export", "zebrana", str(target))
        assert done.code == 0, done.err
        erased = await talaria_beside(home, "people", "erase", "zebrana", "--yes")
        assert erased.code == 0, erased.err
        listed = await talaria_beside(home, "people", "list")
        assert "zebrana" not in listed.out
        turns = await talaria_beside(home, "turns", "list")
        assert "(erased)" in turns.out
        assert harness.gateway.identity._known == {}
    with zipfile.ZipFile(target) as archive:
        assert "bluefishmemory" in archive.read("memory/MEMORY.md").decode()
    assert search(home, "bluefish", "zebrana", "4711002") == []


async def test_words_are_forgotten_after_a_yes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    await fill(home)
    nothing = talaria(home, "people", "forget", "zebrana", "pelican")
    assert nothing.code == 1
    assert "found nothing of yours" in nothing.err
    kept = talaria(home, "people", "forget", "zebrana", "bluefishmemory", given="no\n")
    assert kept.code == 1
    assert "Notes: " in kept.out
    assert "deleted nothing" in kept.err
    assert search(home, "bluefishmemory")
    async with served(home):
        begun = await talaria_beside(
            home, "people", "forget", "zebrana", "bluefishmemory", given="yes\n"
        )
        assert begun.code == 0, begun.err
        memory = home / "memories" / "people" / "zebrana" / "MEMORY.md"
        await until(lambda: "bluefishmemory" not in memory.read_text())
