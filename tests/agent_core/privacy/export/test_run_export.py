"""An export is written by a program of its own, which ends with the gateway."""

import asyncio
import sqlite3
import zipfile
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import StoreError
from agent_core.execution.subprocesses.program import make_command
from agent_core.privacy.export.export_order import ExportOrder, dump_order, read_order
from agent_core.privacy.export.run_export import ExportBroken, run_export
from agent_core.privacy.progress import Progress, report_to_nobody
from agent_core.state.conversations import messages
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn
from tests.databases import open_database

pytestmark = pytest.mark.process


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_database(tmp_path / "state.db")
    yield opened
    await opened.close()


@pytest.fixture
async def order(database: Database, tmp_path: Path) -> ExportOrder:
    def work(connection: Connection) -> DataSubject:
        dialogue = add_dialogue(connection, add_person(connection))
        shelf = dialogue.shelf(add_turn(connection, dialogue))
        said = Message(role="user", parts=(TextPart(text="hello from lisbon"),))
        messages.append(connection, shelf, [said], now=1)
        people = (dialogue.person.id,)
        return DataSubject(person_ids=people, accounts=(("fake", "1"),), chats=(("fake", "2"),))

    folder = tmp_path / "draft"
    folder.mkdir()
    return ExportOrder(
        database=database.path,
        home=tmp_path,
        folder=folder,
        archive="talaria-ana",
        most_bytes=0,
        subject=await database.write("test", work),
        name="Ana \N{SNOWMAN}",
        now=1,
    )


def test_an_order_is_read_as_it_was_written(order: ExportOrder) -> None:
    assert read_order(dump_order(order)) == order


async def test_the_program_writes_the_archive_and_reports(order: ExportOrder) -> None:
    told: list[Progress] = []
    (path,) = await run_export(order, told.append)
    assert path == order.folder / "talaria-ana.zip"
    with zipfile.ZipFile(path) as archive:
        talks = [archive.read(name) for name in archive.namelist() if name.endswith(".md")]
    assert b"hello from lisbon" in b"".join(talks)
    assert told[0] == Progress(stage="pack", done=0, total=1)


async def test_what_goes_wrong_is_told(order: ExportOrder, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        await run_export(replace(order, folder=tmp_path / "nowhere"), report_to_nobody)
    with pytest.raises(StoreError):
        await run_export(replace(order, database=tmp_path / "nothing.db"), report_to_nobody)
    with pytest.raises(ExportBroken, match="status 1"):
        await run_export(replace(order, now=10**30), report_to_nobody)


async def test_the_program_ends_with_the_gateway(order: ExportOrder, tmp_path: Path) -> None:
    path = tmp_path / "held.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as held:
        held.execute("CREATE TABLE t (x)")
        held.execute("BEGIN EXCLUSIVE")  # so that the program waits
        process = await asyncio.create_subprocess_exec(
            *make_command("agent_core.privacy.export.export_program"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        waiting = replace(order, database=path)
        said, _ = await process.communicate(f"{dump_order(waiting)}\n".encode())
    assert (process.returncode, said) == (1, b"")
