"""A move that is killed, or meets a full disk, is finished or taken back by the next start."""

import asyncio
import os
import random
import resource
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from agent_core.errors import StoreError
from agent_core.ids import SessionId, TurnId
from agent_core.schedule.job_editor import PAUSED_MOVED
from agent_core.state.conversations import past_import, sessions, turns
from agent_core.state.conversations.past_import import PastTurn
from agent_core.state.conversations.sessions import NewConversation
from agent_core.state.engine.database import Connection, Database
from agent_core.transcript import Message, TextPart
from gateway.app.settings import load
from gateway.errors import Declined
from gateway.interfaces.contexts import HomeContext, open_context
from gateway.operations import moves, privacy
from gateway.operations.import_types import ImportLine
from gateway.operations.imports import import_line
from gateway.operations.privacy_types import ExportPerson, ImportPerson
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import ana, give_job, greet, greeted
from tests.integration.processes import run_fork
from tests.patience import PATIENCE

NOW = 1_800_000_000_000
FULL = 7
MOST_DEATHS = 30
"""Deaths of one import; more would show that it does not go on from where it was."""
TABLES = ("messages", "turns", "sessions", "ledger", "archive", "jobs", "conversations")


@pytest.fixture
async def homes(tmp_path: Path) -> tuple[Path, Path]:
    """An export of Ana's, and another home of hers."""
    path, home = tmp_path / "ana.zip", tmp_path / "new"
    async with running(tmp_path / "old", greeted()) as old:
        await greet(old)
        await old.gateway.database.write("test.long", say_much)
        for text in ("Ana sails.", "Ana's boiler is from 1987."):
            slug = await find_slug(old)
            asked = ImportLine(person=slug, target="user", text=text, origin="test")
            await import_line(open_context(old.gateway), asked)
        for text in ("Take a pill.", "Water the fern."):
            await give_job(old, text, "0 9 * * *")
        target = ExportPerson(slug=await find_slug(old), target=str(path), moves=True)
        await privacy.export(open_context(old.gateway), target)
    async with running(home, greeted()) as new:
        await greet(new)
    return path, home


def say_much(connection: Connection) -> None:
    person = ana(connection)
    new = NewConversation(
        key=sessions.name_direct(person), kind="direct", person_id=person, is_direct=True
    )
    conversation = sessions.ensure_conversation(connection, new, now=1)
    said = [
        PastTurn(
            began_at=at,
            ended_at=at,
            said=((Message(role="user", parts=(TextPart(text=f"Word {at} " * 200),)), at),),
        )
        for at in range(1, 400)
    ]
    session_id = SessionId(sessions.find_newest(connection) + 1)
    past_import.begin_session(
        connection, conversation, session_id=session_id, title="Long", began_at=1
    )
    first = turns.find_newest(connection) + 1
    for number, turn in enumerate(said, start=first):
        past_import.insert_turn(connection, conversation, session_id, TurnId(number), turn)


async def find_slug(harness: Harness) -> str:
    def read(connection: Connection) -> str:
        row = connection.execute("SELECT slug FROM people WHERE id = ?", (ana(connection),))
        return str(row.fetchone()[0])

    return await harness.read(read)


def count_all(home: Path) -> dict[str, int]:
    with closing(sqlite3.connect(home / "state.db")) as connection:
        return {
            one: connection.execute(f"SELECT COUNT(*) FROM {one}").fetchone()[0] for one in TABLES
        }


def bring(home: Path, path: Path, last: int, most_bytes: int) -> None:
    """Import in a process that dies at the numbered commit, or has a disk of some size."""
    commits = count(1)

    def observe(event: str, names: object) -> None:
        if event == "committed" and next(commits) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    async def main() -> None:
        database = await Database.open(home / "state.db", observe=observe)
        if most_bytes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
        settings = load({"TALARIA_HOME": str(home)})
        context = HomeContext(
            home=home, database=database, now=lambda: NOW, load_settings=lambda: settings
        )
        asked = ImportPerson(slug=read_slug(home), path=str(path))
        try:
            await moves.import_person(context, asked)
        except StoreError:
            os._exit(FULL)
        await database.close()

    asyncio.run(main())


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.long)])
async def test_a_killed_import_is_finished_by_the_next_and_doubles_nothing(
    homes: tuple[Path, Path], tmp_path: Path, kills: int
) -> None:
    path, new = homes
    before = count_all(new)
    shutil.copytree(new, tmp_path / "whole")
    assert run_fork(bring, tmp_path / "whole", path, 0, 0) == 0
    wanted = count_all(tmp_path / "whole")
    assert wanted["messages"] > before["messages"] + 390
    dice, deaths = random.Random(38), [0]
    while sum(deaths) < kills:
        home = tmp_path / f"home-{len(deaths)}"
        shutil.copytree(new, home)
        deaths.append(0)
        while (code := run_fork(bring, home, path, dice.randint(1, 3), 0)) != 0:
            assert code == -signal.SIGKILL
            deaths[-1] += 1
            assert count_all(home)["jobs"] in (before["jobs"], wanted["jobs"])
            assert deaths[-1] <= MOST_DEATHS
        assert count_all(home) == wanted
        assert run_fork(bring, home, path, 0, 0) == 0
        assert count_all(home) == wanted
    print(f"{sum(deaths)} deaths in {len(deaths) - 1} imports: {deaths[1:]}")


STEPS: dict[str, Callable[[Path], bool]] = {
    "it begins to write": lambda path: any(path.parent.glob(".export-*")),
    "it writes": lambda path: any(path.parent.glob(".export-*/*")),
    "it has written": lambda path: any(path.parent.glob(".export-*/*.zip")),
    "the file is in its place": Path.exists,
}
"""What the disk shows at each step of a move, once the jobs are paused."""


def move_out(home: Path, path: Path, step: str) -> None:
    """Export with the jobs in a process that dies at a step; without one, as soon as they pause."""

    def observe(event: str, names: object) -> None:
        if event == "committed" and not step:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch() -> None:
        while not STEPS[step](path):
            pass
        os.kill(os.getpid(), signal.SIGKILL)

    async def main() -> None:
        database = await Database.open(home / "state.db", observe=observe)
        settings = load({"TALARIA_HOME": str(home)})
        context = HomeContext(
            home=home, database=database, now=lambda: NOW, load_settings=lambda: settings
        )
        if step:
            threading.Thread(target=watch, daemon=True).start()
        asked = ExportPerson(slug=read_slug(home), target=str(path), moves=True)
        await privacy.export(context, asked)
        await asyncio.sleep(PATIENCE)

    asyncio.run(main())


def read_slug(home: Path) -> str:
    with closing(sqlite3.connect(home / "state.db")) as connection:
        found = connection.execute(
            "SELECT people.slug FROM people JOIN accounts ON person_id = people.id"
            " WHERE platform = 'fake'"
        )
        return str(found.fetchone()[0])


def list_jobs(home: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(home / "state.db")) as connection:
        return connection.execute(
            "SELECT state, reason, next_slot FROM jobs WHERE kind = 'message' ORDER BY id"
        ).fetchall()


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("step", ["", *STEPS])
async def test_a_killed_move_leaves_the_jobs_running_here_or_in_the_file(
    tmp_path: Path, step: str
) -> None:
    home, path = tmp_path / "old", tmp_path / "out" / "ana.zip"
    path.parent.mkdir()
    async with running(home, greeted()) as harness:
        await greet(harness)
        for text in ("Take a pill.", "Water the fern."):
            await give_job(harness, text, "0 9 * * *")
    before = list_jobs(home)
    assert run_fork(move_out, home, path, step) == -signal.SIGKILL
    assert {state for state, _, _ in list_jobs(home)} == {"paused"}
    async with running(home, greeted()):
        after = list_jobs(home)
    if path.exists():
        assert [one[:2] for one in after] == [("paused", PAUSED_MOVED)] * 2
    else:
        assert after == before
    # Once the person has resumed them, no later start pauses or resumes anything.
    async with running(home, greeted()):
        assert list_jobs(home) == after


@pytest.mark.process
@pytest.mark.slow
async def test_a_move_after_a_killed_one_takes_its_jobs_along_or_lets_them_go_on(
    tmp_path: Path,
) -> None:
    home, path = tmp_path / "old", tmp_path / "ana.zip"
    async with running(home, greeted()) as harness:
        await greet(harness)
        await give_job(harness, "Take a pill.", "0 9 * * *")
    before = list_jobs(home)
    assert run_fork(move_out, home, path, "") == -signal.SIGKILL
    database = await Database.open(home / "state.db")
    context = HomeContext(home=home, database=database, now=lambda: NOW, load_settings=None)
    asked = ExportPerson(slug=read_slug(home), target=str(path), moves=True)
    path.touch()
    with pytest.raises(Declined):
        await privacy.export(context, asked)
    assert list_jobs(home) == before
    path.unlink()
    assert (await privacy.export(context, asked)).paused == 1
    await database.close()


@pytest.mark.process
@pytest.mark.slow
async def test_a_full_disk_stops_an_import_that_goes_on_later(homes: tuple[Path, Path]) -> None:
    path, home = homes
    before = count_all(home)
    assert run_fork(bring, home, path, 0, 300_000) == FULL
    assert count_all(home)["jobs"] == before["jobs"]
    assert run_fork(bring, home, path, 0, 0) == 0
    first = count_all(home)
    assert first["messages"] > before["messages"] + 390
    assert run_fork(bring, home, path, 0, 0) == 0
    assert count_all(home) == first
