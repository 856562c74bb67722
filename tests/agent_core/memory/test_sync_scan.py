"""At the start of a gateway the files of everybody are compared with their ledger, once."""

import logging
from pathlib import Path

import pytest

from agent_core.memory.store import MemoryStore
from agent_core.memory.sync import scan_all
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import LedgerEntry, Origin
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from tests.agent_core.memory.conftest import Desk, add

TURN = Origin(actor="turn:1", now=5)


@pytest.fixture
def reported(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="agent_core.memory.sync")
    return caplog


async def rows(database: Database, person: Person) -> list[LedgerEntry]:
    return await database.read(
        lambda c: ledger.find_entries(c, person_id=person.id, target="memory")
    )


async def go_round(store: MemoryStore, database: Database) -> None:
    await scan_all(store, database, lambda: 9)


async def test_what_was_done_by_hand_while_nobody_looked_becomes_rows_and_a_line_of_the_log(
    database: Database,
    store: MemoryStore,
    ann: Person,
    bob: Person,
    desk: Desk,
    reported: pytest.LogCaptureFixture,
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    desk.save(ann, "- one\n- two\n- three\n")
    desk.save(bob, "- of bob\n")
    await go_round(store, database)
    assert [row.origin.actor for row in await rows(database, ann)] == ["turn:1", "hand", "hand"]
    assert [row.change.after for row in await rows(database, bob)] == ["of bob"]
    assert [record.message for record in reported.records] == [
        f"{desk.path(ann)} was edited by hand: added 2 new rows to the ledger",
        f"{desk.path(bob)} was edited by hand: added 1 new row to the ledger",
        "compared the memory files of 2 owners with the ledger",
    ]


async def test_a_missing_and_a_torn_file_are_written_anew(
    database: Database,
    store: MemoryStore,
    ann: Person,
    bob: Person,
    desk: Desk,
    reported: pytest.LogCaptureFixture,
) -> None:
    for person in (ann, bob):
        await store.change(person.id, person.slug, add("one"), TURN)
    desk.lose(ann)
    desk.path(bob).write_bytes(b"- o" + bytes(600))
    await go_round(store, database)
    assert desk.read(ann) == desk.read(bob) == "- one\n"
    assert len(await rows(database, bob)) == 1
    assert [record.message for record in reported.records][:2] == [
        f"{desk.path(person)} was missing or torn; rewrote it from the ledger"
        for person in (ann, bob)
    ]


async def test_one_line_is_logged_when_everything_agrees(
    database: Database,
    store: MemoryStore,
    ann: Person,
    bob: Person,
    desk: Desk,
    reported: pytest.LogCaptureFixture,
) -> None:
    await store.change(ann.id, ann.slug, add("one"), TURN)
    then = desk.path(ann).stat().st_mtime_ns
    await go_round(store, database)
    assert desk.path(ann).stat().st_mtime_ns == then
    assert not desk.path(bob).exists()
    assert [record.message for record in reported.records] == [
        "compared the memory files of 2 owners with the ledger"
    ]


async def test_rooms_are_compared_in_their_own_folders(
    database: Database, store: MemoryStore, folder: Path
) -> None:
    def meet(connection: Connection) -> Room:
        return rooms.insert(connection, platform="p", chat_id="1", title="Den", slug="den", now=0)

    den = await database.write("den", meet)
    path = folder / "rooms" / "den" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_text("- Rent is due\n")
    await go_round(store, database)
    found = await database.read(
        lambda c: ledger.find_entries(c, person_id=den.person_id, target="memory")
    )
    assert [row.origin.actor for row in found] == ["hand"]


async def test_what_can_t_be_compared_is_logged_and_hinders_nobody_else(
    database: Database,
    store: MemoryStore,
    ann: Person,
    bob: Person,
    desk: Desk,
    reported: pytest.LogCaptureFixture,
) -> None:
    cleo = await database.write(
        "cleo", lambda c: people.insert(c, slug="cleo", name="Cleo", role="member", now=0)
    )
    await store.change(ann.id, ann.slug, add("one"), TURN)
    await database.write("damage", lambda c: c.execute("UPDATE ledger SET after = 'x'").rowcount)
    desk.path(bob).mkdir(parents=True)
    desk.save(cleo, "- by hand\n")
    await go_round(store, database)
    assert "memory of ann: row 1 of the ledger is damaged" in reported.text
    assert "can't read a memory file" in reported.text
    assert [row.change.after for row in await rows(database, cleo)] == ["by hand"]


async def test_everybody_is_compared_however_many_there_are(
    database: Database, store: MemoryStore, desk: Desk
) -> None:
    def meet(connection: Connection) -> list[Person]:
        return [
            people.insert(connection, slug=f"p{number}", name="P", role="member", now=0)
            for number in range(205)
        ]

    everybody = await database.write("meet", meet)
    for person in (everybody[0], everybody[99], everybody[100], everybody[204]):
        desk.save(person, "- by hand\n")
    await go_round(store, database)
    for person in (everybody[0], everybody[99], everybody[100], everybody[204]):
        assert len(await rows(database, person)) == 1
