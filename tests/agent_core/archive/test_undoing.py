"""A change of the archive is taken back, once, and only while nothing has changed it since."""

import pytest

from agent_core.archive import undoing
from agent_core.archive.undoing import Overtaken
from agent_core.state import archive, ledger
from agent_core.state.database import Database
from agent_core.state.ledger import LedgerEntry, Origin
from tests.agent_core.archive.conftest import BEGIN, Caller
from tests.agent_core.state.rows import Talk


@pytest.fixture
def call(database: Database, ann: Talk) -> Caller:
    return Caller(database, ann)


async def rows_of(database: Database, talk: Talk) -> list[LedgerEntry]:
    return await database.read(
        lambda c: ledger.find_entries(c, person_id=talk.person.id, target="archive")
    )


async def take_back(database: Database, talk: Talk, row: LedgerEntry) -> LedgerEntry:
    origin = Origin(actor="house", now=BEGIN)
    return await database.write(
        "undo",
        lambda c: undoing.undo(c, person_id=talk.person.id, row=row, origin=origin),
    )


async def texts(database: Database, talk: Talk) -> list[str]:
    person_id = talk.person.id
    known = await database.read(lambda c: archive.list_known(c, person_id=person_id))
    found = await database.read(
        lambda c: [archive.find(c, person_id=person_id, archive_id=one) for one in known]
    )
    return [entry.text for entry in found if entry]


async def test_each_kind_of_change_is_taken_back(
    database: Database, ann: Talk, call: Caller
) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    await call("update", id=name, text="The boiler is from Meier.")
    await call("delete", id=name)
    added, changed, dropped = await rows_of(database, ann)
    back = await take_back(database, ann, dropped)
    assert back.origin.undoes == dropped.id
    assert await texts(database, ann) == ["The boiler is from Meier."]
    assert "Meier" in await call.search("boiler")
    with pytest.raises(Overtaken, match="changed again since"):
        await take_back(database, ann, added)
    assert changed.change.before == "[house] The boiler is from Huber."


async def test_a_change_of_words_gives_the_old_ones_back(
    database: Database, ann: Talk, call: Caller
) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    await call("update", id=name, text="The boiler is from Meier.")
    added, changed = await rows_of(database, ann)
    await take_back(database, ann, changed)
    assert await texts(database, ann) == ["The boiler is from Huber."]
    assert "Nothing found" in await call.search("Meier")
    await take_back(database, ann, added)
    assert await texts(database, ann) == []
    with pytest.raises(Overtaken, match="taken back already"):
        await take_back(database, ann, added)
