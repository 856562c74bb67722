"""A change of the archive is taken back, once, and only while nothing has changed it since."""

import pytest

from agent_core.ids import ArchiveId
from agent_core.memory.archive import undo, writes
from agent_core.memory.archive.entries import Content, parse_id
from agent_core.memory.archive.history import (
    ArchiveHistory,
    ArchiveRef,
    load_archive_history,
    parse_archive_ref,
)
from agent_core.memory.archive.undo import ArchiveUndoRefused, RestoredArchive
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.ledger import LedgerEntry, Origin
from tests.agent_core.memory.archive.conftest import BEGIN, Caller
from tests.agent_core.state.rows import Dialogue


@pytest.fixture
def call(database: Database, ann: Dialogue) -> Caller:
    return Caller(database, ann)


async def rows_of(database: Database, dialogue: Dialogue) -> list[LedgerEntry]:
    return await database.read(
        lambda c: ledger.find_entries(c, person_id=dialogue.person.id, target="archive")
    )


async def take_back(database: Database, dialogue: Dialogue, row: LedgerEntry) -> LedgerEntry:
    origin = Origin(actor="house", now=BEGIN)
    return await database.write(
        "undo",
        lambda c: undo.undo_archive_change(c, person_id=dialogue.person.id, row=row, origin=origin),
    )


async def texts(database: Database, dialogue: Dialogue) -> list[str]:
    person_id = dialogue.person.id
    known = await database.read(lambda c: archive.list_known(c, person_id=person_id))
    found = await database.read(
        lambda c: [archive.find(c, person_id=person_id, archive_id=one) for one in known]
    )
    return [entry.text for entry in found if entry]


async def test_each_kind_of_change_is_taken_back(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    await call("update", id=name, text="The boiler is from Meier.")
    await call("delete", id=name)
    added, changed, dropped = await rows_of(database, ann)
    back = await take_back(database, ann, dropped)
    assert back.origin.undoes == dropped.id
    assert await texts(database, ann) == ["The boiler is from Meier."]
    assert "Meier" in await call.search("boiler")
    with pytest.raises(ArchiveUndoRefused, match="overtaken"):
        await take_back(database, ann, added)
    assert changed.change.before == "[house] The boiler is from Huber."


async def test_a_change_of_words_gives_the_old_ones_back(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    await call("update", id=name, text="The boiler is from Meier.")
    added, changed = await rows_of(database, ann)
    await take_back(database, ann, changed)
    assert await texts(database, ann) == ["The boiler is from Huber."]
    assert "Nothing found" in await call.search("Meier")
    await take_back(database, ann, added)
    assert await texts(database, ann) == []
    with pytest.raises(ArchiveUndoRefused, match="undone"):
        await take_back(database, ann, added)


async def open_of(database: Database, dialogue: Dialogue, name: str) -> ArchiveHistory:
    archive_id = parse_id(name)
    assert archive_id
    found = await database.read(
        lambda c: load_archive_history(c, person_id=dialogue.person.id, archive_id=archive_id)
    )
    assert found
    return found


async def test_what_was_dropped_comes_again_under_its_own_name_and_can_be_undone_on_and_on(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    (row,) = await rows_of(database, ann)
    for turn in range(1, 6):
        row = await take_back(database, ann, row)
        history = await open_of(database, ann, name)
        assert history.name(row) == f"{name}-{turn + 1}"
        assert await texts(database, ann) == ([] if turn % 2 else ["The boiler is from Huber."])
        counts = [history.counts(one) for one in history.rows]
        assert counts == [not (turn - place) % 2 for place in range(turn + 1)]
    assert "Nothing found" in await call.search("boiler")


async def test_a_number_that_is_somebody_else_s_by_now_is_not_taken_from_them(
    database: Database, ann: Dialogue, bob: Dialogue, call: Caller
) -> None:
    await call.keep("The boiler is from Huber.")
    (added,) = await rows_of(database, ann)
    dropped = await take_back(database, ann, added)
    place = added.change.position
    await database.write(
        "reuse",
        lambda c: archive.insert(c, person_id=bob.person.id, text="tea", tags=(), now=place),
    )
    again = await take_back(database, ann, dropped)
    assert again.change.position > place
    assert await texts(database, ann) == ["The boiler is from Huber."]
    assert await texts(database, bob) == ["tea"]


async def test_the_newest_change_is_the_newest_that_still_counts_and_can_be_taken_back(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    first = await call.keep("The boiler is from Huber.")
    await call.keep("The car is from Meier.")
    await call("update", id=first, text="The boiler is from Otto.")
    left = await rows_of(database, ann)
    while left:
        newest = await database.read(
            lambda c: undo.find_newest_archive_change(c, person_id=ann.person.id)
        )
        assert newest == left.pop()
        await take_back(database, ann, newest)
    assert await texts(database, ann) == []
    assert (
        await database.read(lambda c: undo.find_newest_archive_change(c, person_id=ann.person.id))
        is None
    )


async def test_what_was_forgotten_does_not_come_back(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    name = await call.keep("The boiler is from Huber.")
    await call("delete", id=name)
    _, dropped = await rows_of(database, ann)
    await database.write(
        "forget",
        lambda c: ledger.redact(
            c, entry_id=dropped.id, is_wanted=lambda words: "boiler" in words, mark=FORGOTTEN
        ),
    )
    _, dropped = await rows_of(database, ann)
    with pytest.raises(ArchiveUndoRefused, match="forgotten"):
        await take_back(database, ann, dropped)


async def test_a_call_that_is_made_again_takes_back_once(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    await call.keep("The boiler is from Huber.")
    (added,) = await rows_of(database, ann)
    origin = Origin(actor="person", now=BEGIN, call_key="inbox:9")
    made = [
        await database.write(
            "undo",
            lambda c: undo.undo_archive_change(
                c, person_id=ann.person.id, row=added, origin=origin
            ),
        )
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert len(await rows_of(database, ann)) == 2


async def test_the_archive_is_led_back_to_a_moment_and_forwards_again(
    database: Database, ann: Dialogue, bob: Dialogue
) -> None:
    def origin(now: int) -> Origin:
        return Origin(actor="turn:1", now=now)

    def content(text: str) -> Content:
        return Content(text=text, tags=("house",))

    def live(connection: Connection) -> None:
        person_id = ann.person.id
        boiler = writes.insert_entry(
            connection, person_id=person_id, content=content("Huber"), origin=origin(BEGIN)
        )
        car = writes.insert_entry(
            connection, person_id=person_id, content=content("Meier"), origin=origin(BEGIN + 1)
        )
        writes.insert_entry(
            connection, person_id=bob.person.id, content=content("tea"), origin=origin(BEGIN + 8)
        )
        for text in ("Otto", "Paul"):
            writes.update_entry(
                connection,
                person_id=person_id,
                archive_id=boiler.id,
                text=text,
                tags=None,
                origin=origin(BEGIN + 10),
            )
        writes.delete_entry(
            connection, person_id=person_id, archive_id=car.id, origin=origin(BEGIN + 11)
        )
        writes.insert_entry(
            connection, person_id=person_id, content=content("rent"), origin=origin(BEGIN + 12)
        )

    async def slot(moment: int, now: int) -> RestoredArchive:
        return await database.write(
            "restore",
            lambda c: undo.restore_archive(
                c,
                person_id=ann.person.id,
                moment=moment,
                origin=Origin(actor="house", now=now),
            ),
        )

    await database.write("live", live)
    assert await slot(BEGIN + 5, BEGIN + 20) == RestoredArchive(rows=3, left_out=0)
    assert await texts(database, ann) == ["Huber", "Meier"]
    assert await slot(BEGIN + 5, BEGIN + 21) == RestoredArchive(rows=0, left_out=0)
    assert await slot(BEGIN + 15, BEGIN + 30) == RestoredArchive(rows=3, left_out=0)
    assert await texts(database, ann) == ["Paul", "rent"]
    assert await texts(database, bob) == ["tea"]
    assert await slot(0, BEGIN + 40) == RestoredArchive(rows=2, left_out=0)
    assert await texts(database, ann) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("mb2x3k9z", ArchiveRef(id=ArchiveId(int("mb2x3k9z", 36)))),
        (" MB2X3K9Z-2 ", ArchiveRef(id=ArchiveId(int("mb2x3k9z", 36)), change=2)),
        ("`mb2x3k9z`", ArchiveRef(id=ArchiveId(int("mb2x3k9z", 36)))),
        ("12345678", None),
        ("3", None),
        ("it", None),
        ("mb2x3k9z-", None),
        ("mb2x3k9z-99999", None),
    ],
)
def test_a_name_of_the_archive_is_never_taken_for_a_number(
    text: str, named: ArchiveRef | None
) -> None:
    assert parse_archive_ref(text) == named
