"""At the start of a gateway the files of everybody are compared with their ledger, once."""

import logging
from pathlib import Path

import pytest

from agent_core.memory.sync import scan_all
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from tests.agent_core.memory.conftest import Desk, Notebook


@pytest.fixture
def reported(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="agent_core.memory.sync")
    return caplog


async def go_round(notebook: Notebook) -> None:
    await scan_all(notebook.store, notebook.database, lambda: 9)


async def test_what_was_done_by_hand_while_nobody_looked_becomes_rows_and_a_line_of_the_log(
    notebook: Notebook, other: Notebook, bob: Person, reported: pytest.LogCaptureFixture
) -> None:
    await notebook.add("one")
    notebook.save("- one\n- two\n- three\n")
    other.save("- of bob\n")
    await go_round(notebook)
    assert [row.origin.actor for row in await notebook.rows()] == ["turn:1", "hand", "hand"]
    assert [row.change.after for row in await other.rows()] == ["of bob"]
    assert [record.message for record in reported.records] == [
        f"{notebook.path} was edited by hand: added 2 new rows to the ledger",
        f"{other.path} was edited by hand: added 1 new row to the ledger",
        "memory owners compared with the ledger: 2",
    ]


async def test_a_missing_and_a_torn_file_are_written_anew(
    notebook: Notebook, other: Notebook, reported: pytest.LogCaptureFixture
) -> None:
    for one in (notebook, other):
        await one.add("one")
    notebook.lose()
    other.path.write_bytes(b"- o" + bytes(600))
    await go_round(notebook)
    assert notebook.read() == other.read() == "- one\n"
    assert len(await other.rows()) == 1
    assert [record.message for record in reported.records][:2] == [
        f"{one.path} was missing or torn; rewrote it from the ledger" for one in (notebook, other)
    ]


async def test_one_line_is_logged_when_everything_agrees(
    notebook: Notebook, other: Notebook, reported: pytest.LogCaptureFixture
) -> None:
    await notebook.add("one")
    then = notebook.path.stat().st_mtime_ns
    await go_round(notebook)
    assert notebook.path.stat().st_mtime_ns == then
    assert not other.path.exists()
    assert [record.message for record in reported.records] == [
        "memory owners compared with the ledger: 2"
    ]


async def test_rooms_are_compared_in_their_own_folders(
    notebook: Notebook, database: Database, folder: Path
) -> None:
    def meet(connection: Connection) -> Room:
        return rooms.insert(connection, platform="p", chat_id="1", title="Den", slug="den", now=0)

    den = await database.write("den", meet)
    path = folder / "rooms" / "den" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_text("- Rent is due\n")
    await go_round(notebook)
    rows = await notebook.read_rows(den.person_id)
    assert [row.origin.actor for row in rows] == ["hand"]


async def test_what_can_t_be_compared_is_logged_and_hinders_nobody_else(
    notebook: Notebook,
    other: Notebook,
    database: Database,
    ann: Person,
    desk: Desk,
    reported: pytest.LogCaptureFixture,
) -> None:
    cleo = await database.write(
        "cleo", lambda c: people.insert(c, slug="cleo", name="Cleo", role="member", now=0)
    )
    await notebook.add("one")
    await database.write("damage", lambda c: c.execute("UPDATE ledger SET after = 'x'").rowcount)
    other.path.mkdir(parents=True)
    desk.save(cleo, "- by hand\n")
    await go_round(notebook)
    assert "memory of ann: row 1 of the ledger is damaged" in reported.text
    assert "can't read a memory file" in reported.text
    assert [row.change.after for row in await notebook.read_rows(cleo.id)] == ["by hand"]


async def test_everybody_is_compared_however_many_there_are(
    notebook: Notebook, database: Database, desk: Desk
) -> None:
    def meet(connection: Connection) -> list[Person]:
        return [
            people.insert(connection, slug=f"p{number}", name="P", role="member", now=0)
            for number in range(205)
        ]

    everybody = await database.write("meet", meet)
    for person in (everybody[0], everybody[99], everybody[100], everybody[204]):
        desk.save(person, "- by hand\n")
    await go_round(notebook)
    for person in (everybody[0], everybody[99], everybody[100], everybody[204]):
        assert len(await notebook.read_rows(person.id)) == 1
