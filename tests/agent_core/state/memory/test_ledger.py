"""The ledger keeps each change with its ground, for one person only."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.errors import StoreDamaged, StoreError
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Change, LedgerEntry, Origin, Projection
from agent_core.state.people import people
from tests.databases import open_database

ANN, BOB = PersonId(1), PersonId(2)
ADDED = Change(operation="add", position=0, before=None, after="one")
CALL = Origin(actor="turn:1", now=5, evidence="words", call_key="1:call")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_database(tmp_path / "state.db")

    def meet(connection: Connection) -> None:
        for slug in ("ann", "bob"):
            people.insert(connection, slug=slug, name=slug, role="member", now=0)

    await database.write("meet", meet)
    yield database
    await database.close()


async def record(database: Database, change: Change = ADDED, origin: Origin = CALL) -> LedgerEntry:
    return await database.write(
        "record",
        lambda connection: ledger.record(
            connection, person_id=ANN, target="user", change=change, origin=origin
        ),
    )


async def test_a_row_is_read_back_as_it_was_written(database: Database) -> None:
    first = await record(database)
    changed = Change(operation="replace", position=0, before="one", after="two")
    second = await record(database, changed, Origin(actor="hand", now=6))
    found = await database.read(
        lambda connection: ledger.find_entries(connection, person_id=ANN, target="user")
    )
    assert found == [first, second]
    assert (first.change, first.origin, second.change) == (ADDED, CALL, changed)


async def test_rows_belong_to_one_person_and_one_list(database: Database) -> None:
    await record(database)
    for person_id, target in ((BOB, "user"), (ANN, "memory")):
        found = await database.read(
            lambda connection, person_id=person_id, target=target: ledger.find_entries(
                connection, person_id=person_id, target=target
            )
        )
        assert found == []


async def test_a_call_is_found_by_its_key_and_its_person(database: Database) -> None:
    made = await record(database)
    assert [made] == await database.read(
        lambda connection: ledger.find_call(connection, person_id=ANN, call_key="1:call")
    )
    for person_id, key in ((BOB, "1:call"), (ANN, "1:other")):
        assert (
            await database.read(
                lambda connection, person_id=person_id, key=key: ledger.find_call(
                    connection, person_id=person_id, call_key=key
                )
            )
            == []
        )


async def test_a_call_is_recorded_once_only(database: Database) -> None:
    await record(database)
    with pytest.raises(StoreError):
        await record(database)


async def test_a_damaged_row_is_never_served(database: Database) -> None:
    await record(database)

    def spoil(connection: Connection) -> None:
        connection.execute("UPDATE ledger SET evidence = 'others'")

    await database.write("spoil", spoil)
    with pytest.raises(StoreDamaged, match="row 1 of the ledger"):
        await database.read(
            lambda connection: ledger.find_entries(connection, person_id=ANN, target="user")
        )


async def test_a_projection_is_kept_for_each_list_of_each_person(database: Database) -> None:
    first = Projection(current="a", previous=None, base=1)
    second = Projection(current="b", previous="", base=2)

    def save(connection: Connection) -> list[Projection | None]:
        for projection in (second, first):
            ledger.save_projection(connection, person_id=ANN, target="user", projection=projection)
        ledger.save_projection(connection, person_id=ANN, target="memory", projection=second)
        return [
            ledger.find_projection(connection, person_id=ANN, target="user"),
            ledger.find_projection(connection, person_id=ANN, target="memory"),
            ledger.find_projection(connection, person_id=BOB, target="user"),
        ]

    assert await database.write("save", save) == [first, second, None]
