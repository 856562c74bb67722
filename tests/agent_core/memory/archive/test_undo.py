"""A change of the archive is taken back, once, and only while nothing has changed it since."""

import pytest

from agent_core.ids import ArchiveId
from agent_core.memory.archive import undo, writes
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.archive.history import (
    ArchiveRef,
    parse_archive_ref,
)
from agent_core.memory.archive.undo import ArchiveUndoRefused, RestoredArchive
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.ledger import Origin
from tests.agent_core.memory.archive.conftest import BEGIN, Caller
from tests.agent_core.state.rows import Dialogue


async def test_each_kind_of_change_is_taken_back(call: Caller) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    await call("update", id=name, text="The boiler is from Meier.")
    await call("delete", id=name)
    added, changed, dropped = await call.rows()
    back = await call.take_back(dropped)
    assert back.origin.undoes == dropped.id
    assert await call.texts() == ["The boiler is from Meier."]
    assert "Meier" in await call.search("boiler")
    with pytest.raises(ArchiveUndoRefused, match="overtaken"):
        await call.take_back(added)
    assert changed.change.before == "[house] The boiler is from Huber."


async def test_a_change_of_words_gives_the_old_ones_back(call: Caller) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    await call("update", id=name, text="The boiler is from Meier.")
    added, changed = await call.rows()
    await call.take_back(changed)
    assert await call.texts() == ["The boiler is from Huber."]
    assert "Nothing found" in await call.search("Meier")
    await call.take_back(added)
    assert await call.texts() == []
    with pytest.raises(ArchiveUndoRefused, match="undone"):
        await call.take_back(added)


async def test_what_was_dropped_comes_again_under_its_own_name_and_can_be_undone_on_and_on(
    call: Caller,
) -> None:
    name = await call.keep("The boiler is from Huber.", "house")
    (row,) = await call.rows()
    for turn in range(1, 6):
        row = await call.take_back(row)
        history = await call.history(name)
        assert history.find(turn + 1) == row
        assert await call.texts() == ([] if turn % 2 else ["The boiler is from Huber."])
        counts = [history.counts(one) for one in history.rows]
        assert counts == [not (turn - place) % 2 for place in range(turn + 1)]
    assert "Nothing found" in await call.search("boiler")


async def test_a_number_that_is_somebody_else_s_by_now_is_not_taken_from_them(
    database: Database, bob: Dialogue, call: Caller
) -> None:
    await call.keep("The boiler is from Huber.")
    (added,) = await call.rows()
    dropped = await call.take_back(added)
    place = added.change.position
    await database.write(
        "reuse",
        lambda c: archive.insert(c, person_id=bob.person.id, text="tea", tags=(), now=place),
    )
    again = await call.take_back(dropped)
    assert again.change.position > place
    assert await call.texts() == ["The boiler is from Huber."]
    assert await Caller(database, bob).texts() == ["tea"]


async def test_the_newest_change_is_the_newest_that_still_counts_and_can_be_taken_back(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    first = await call.keep("The boiler is from Huber.")
    await call.keep("The car is from Meier.")
    await call("update", id=first, text="The boiler is from Otto.")
    left = await call.rows()
    while left:
        newest = await database.read(
            lambda c: undo.find_newest_archive_change(c, person_id=ann.person.id)
        )
        assert newest == left.pop()
        await call.take_back(newest)
    assert await call.texts() == []
    assert (
        await database.read(lambda c: undo.find_newest_archive_change(c, person_id=ann.person.id))
        is None
    )


async def test_what_was_forgotten_does_not_come_back(database: Database, call: Caller) -> None:
    name = await call.keep("The boiler is from Huber.")
    await call("delete", id=name)
    _, dropped = await call.rows()
    await database.write(
        "forget",
        lambda c: ledger.redact(
            c, entry_id=dropped.id, is_wanted=lambda words: "boiler" in words, mark=FORGOTTEN
        ),
    )
    _, dropped = await call.rows()
    with pytest.raises(ArchiveUndoRefused, match="forgotten"):
        await call.take_back(dropped)


async def test_a_call_that_is_made_again_takes_back_once(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    await call.keep("The boiler is from Huber.")
    (added,) = await call.rows()
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
    assert len(await call.rows()) == 2


async def test_the_archive_is_led_back_to_a_moment_and_forwards_again(
    database: Database, ann: Dialogue, bob: Dialogue, call: Caller
) -> None:
    def origin(now: int) -> Origin:
        return Origin(actor="turn:1", now=now)

    def content(text: str) -> ArchiveContent:
        return ArchiveContent(text=text, tags=("house",))

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
    assert await call.texts() == ["Huber", "Meier"]
    assert await slot(BEGIN + 5, BEGIN + 21) == RestoredArchive(rows=0, left_out=0)
    assert await slot(BEGIN + 15, BEGIN + 30) == RestoredArchive(rows=3, left_out=0)
    assert await call.texts() == ["Paul", "rent"]
    assert await Caller(database, bob).texts() == ["tea"]
    assert await slot(0, BEGIN + 40) == RestoredArchive(rows=2, left_out=0)
    assert await call.texts() == []


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
