"""Several edits of one memory are made together or not at all, and know what they rest on."""

from pathlib import Path

import pytest

from agent_core.errors import StoreDamaged
from agent_core.ids import MessageId, TurnId
from agent_core.memory import files
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.files import parse
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.state.conversations import messages
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import shares
from agent_core.state.memory.ledger import MemoryTarget, Origin
from agent_core.state.people.people import Person
from agent_core.transcript import Message, TextPart
from tests.agent_core.memory.conftest import Notebook, add
from tests.agent_core.state.rows import add_dialogue, add_turn

TURN = Origin(actor="turn:1", now=5, evidence="remember this", call_key="1:call")


def remove(old: str, target: MemoryTarget = "memory") -> Edit:
    return Edit(action="remove", target=target, old=old)


@pytest.fixture
def store(database: Database, folder: Path) -> MemoryStore:
    return MemoryStore(database, folder, MemoryLimits(memory=60, user=40))


async def test_several_edits_change_both_lists_and_both_files(
    notebook: Notebook, folder: Path
) -> None:
    done = await notebook.change(add("one"), add("likes tea", "user"), add("two"), remove("one"))
    assert not isinstance(done, Refusal)
    assert [one.entries for one in done] == [("one",), ("likes tea",), ("one", "two"), ("two",)]
    assert await notebook.lists() == (("two",), ("likes tea",))
    home = folder / "people" / "ann"
    assert home.joinpath("MEMORY.md").read_text() == "- two\n"
    assert home.joinpath("USER.md").read_text() == "- likes tea\n"


async def test_of_several_edits_none_is_made_if_one_is_refused(notebook: Notebook) -> None:
    await notebook.change(add("one"))
    refused = await notebook.change(add("two"), add("x" * 50, "user"), remove("three"))
    assert isinstance(refused, Refusal)
    assert (refused.fault, refused.index) == ("none", 2)
    assert await notebook.lists() == (("one",), ())
    assert len(await notebook.rows()) == 1
    assert notebook.read() == "- one\n"


async def test_a_refused_batch_still_hears_what_was_done_by_hand(notebook: Notebook) -> None:
    await notebook.change(add("one"))
    notebook.save("- one\n- by hand\n")
    refused = await notebook.change(add("two"), remove("three"))
    assert isinstance(refused, Refusal)
    assert await notebook.lists() == (("one", "by hand"), ())


async def test_a_batch_repeated_after_a_crash_gives_the_same_answer(notebook: Notebook) -> None:
    edits = (
        add("one"),
        add("likes tea", "user"),
        Edit(action="rewrite", target="memory", text="- two\n- three\n"),
    )
    first = await notebook.change(*edits, call="1:toolu_1")
    await notebook.change(add("four"), call="1:toolu_2")
    assert await notebook.change(*edits, call="1:toolu_1") == first
    assert await notebook.lists() == (("two", "three", "four"), ("likes tea",))
    keys = [row.origin.call_key for row in await notebook.rows()]
    assert keys == ["1:toolu_1", "1:toolu_1#2.2", "1:toolu_1#2.3", "1:toolu_2"]


async def test_a_call_is_not_taken_for_one_whose_name_begins_like_its_own(
    notebook: Notebook,
) -> None:
    await notebook.change(add("one"), add("two"), call="1:a")
    done = await notebook.change(add("three"), call="1:a1")
    assert not isinstance(done, Refusal)
    assert await notebook.lists() == (("one", "two", "three"), ())


async def test_a_rewrite_is_made_of_plain_rows(notebook: Notebook) -> None:
    await notebook.change(add("one"), add("two"), add("three"))
    done = await notebook.change(
        Edit(action="rewrite", target="memory", text="- one\n- two, and more\n")
    )
    assert not isinstance(done, Refusal)
    (outcome,) = done
    assert [(c.operation, c.before, c.after) for c in outcome.changes] == [
        ("replace", "two", "two, and more"),
        ("remove", "three", None),
    ]
    assert outcome.entries == ("one", "two, and more")


async def test_a_rewrite_lets_nobody_else_see_anything(notebook: Notebook) -> None:
    edit = Edit(action="rewrite", target="user", text="- short answers", is_for_anyone=True)
    await notebook.change(edit)
    shared = await notebook.database.read(lambda c: shares.list_of(c, person_id=notebook.person.id))
    assert shared == []


async def test_a_crash_between_the_files_of_a_batch_loses_nothing(
    notebook: Notebook, database: Database, folder: Path, ann: Person, store: MemoryStore
) -> None:
    class Crash(Exception):
        pass

    def crash_at_the_second(path: Path, text: str, seen: str) -> bool:
        if path.name == "USER.md":
            raise Crash
        return files.write_file(path, text, seen)

    crashing = MemoryStore(database, folder, write=crash_at_the_second)
    with pytest.raises(Crash):
        await crashing.change_all(
            notebook.person.id, notebook.person.slug, (add("one"), add("two", "user")), TURN
        )
    assert notebook.read() == "- one\n"
    assert not folder.joinpath("people/ann/USER.md").exists()
    snapshot = await notebook.snapshot(9)
    assert (snapshot.memory, snapshot.user) == (("one",), ("two",))
    assert parse(folder.joinpath("people/ann/USER.md").read_text()) == ("two",)


async def test_a_change_rests_on_what_people_said_in_its_turn(notebook: Notebook) -> None:
    said = [Message(role="user", parts=(TextPart(text=text),)) for text in ("a", "b")]
    answer = Message(role="assistant", parts=(TextPart(text="noted"),))

    def dialogue(connection: Connection) -> tuple[TurnId, list[MessageId]]:
        place = add_dialogue(connection, notebook.person)
        turn_id = add_turn(connection, place)
        memory_list = place.shelf(turn_id)
        ids = messages.append(connection, memory_list, [said[0], answer, said[1]], now=1)
        return turn_id, [ids[0], ids[2]]

    turn_id, ids = await notebook.database.write("talk", dialogue)
    origin = Origin(actor=f"turn:{turn_id}", now=5)
    await notebook.store.change(notebook.person.id, "ann", add("one"), origin)
    (row,) = await notebook.rows()
    assert list(row.origin.message_ids) == ids


async def test_a_row_from_before_grounds_were_kept_is_still_good(
    database: Database, notebook: Notebook
) -> None:
    """Its checksum was made by the version before."""

    def insert(connection: Connection) -> None:
        connection.execute(
            "INSERT INTO ledger (person_id, target, operation, position, before, after, actor,"
            " evidence, call_key, created_at, checksum) VALUES (:person_id, 'memory', 'add', 0,"
            " NULL, 'likes tea', 'turn:7', 'I like tea', '7:call_1', 1000, :checksum)",
            {"person_id": notebook.person.id, "checksum": 3_129_241_320},
        )

    await database.write("old", insert)
    assert await notebook.lists() == (("likes tea",), ())


@pytest.mark.parametrize("damage", ["message_ids = '[4]'", "undoes = 1"])
async def test_a_row_that_rests_on_other_messages_than_were_written_is_damaged(
    database: Database, notebook: Notebook, damage: str
) -> None:
    await notebook.change(add("one"))

    def spoil(connection: Connection) -> None:
        connection.execute(f"UPDATE ledger SET {damage}")

    await database.write("damage", spoil)
    with pytest.raises(StoreDamaged, match="ledger"):
        await notebook.lists()
