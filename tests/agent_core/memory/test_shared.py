"""What several remember together: who sees it, how it is kept, and how cheap a look is."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from agent_core.ids import PersonId
from agent_core.memory.edits_within_limits import Refusal
from agent_core.memory.files import write_file
from agent_core.memory.shared import SharedList, SharedMemory
from agent_core.memory.store import MemoryLimits, MemoryStore
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import blocks, ledger
from agent_core.state.memory.blocks import Block, NewBlock
from agent_core.state.memory.ledger import Origin
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from tests.agent_core.memory.conftest import add

HAND = Origin(actor="turn:1", now=1)


@pytest.fixture
def memory(database: Database, folder: Path) -> SharedMemory:
    return SharedMemory(database, MemoryStore(database, folder, MemoryLimits(memory=60)))


async def make(database: Database, maker: Person, *readers: PersonId, limit: int = 40) -> Block:
    def work(connection: Connection) -> Block:
        new = NewBlock(slug="list", label="list", description="d", limit=limit, made_by=maker.id)
        block = blocks.insert(connection, new, now=1)
        for reader in readers:
            blocks.share(connection, block_id=block.id, person_id=reader)
        return block

    return await database.write("make", work)


async def look(memory: SharedMemory, reader: PersonId | None) -> dict[str, tuple[str, ...]]:
    return {one.target: one.entries for one in await memory.look(reader, 1)}


async def find(memory: SharedMemory, target: str, reader: PersonId | None) -> SharedList:
    return next(one for one in await memory.look(reader, 1) if one.target == target)


async def test_the_team_is_nobody_until_it_remembers(
    memory: SharedMemory, database: Database, ann: Person
) -> None:
    assert await look(memory, ann.id) == {"team": ()}
    assert await database.read(blocks.find_team) is None
    team = await find(memory, "team", ann.id)
    both = await asyncio.gather(
        memory.change(team, [add("One")], HAND), memory.change(team, [add("Two")], HAND)
    )
    assert not [one for one in both if isinstance(one, Refusal)]
    assert set((await look(memory, None))["team"]) == {"One", "Two"}

    def count(connection: Connection) -> int:
        row = connection.execute("SELECT COUNT(*) FROM people WHERE kind = 'team'").fetchone()
        return int(row[0])

    assert await database.read(count) == 1


async def test_a_file_that_somebody_makes_for_the_team_is_taken_in(
    memory: SharedMemory, database: Database, folder: Path, ann: Person
) -> None:
    assert await look(memory, ann.id) == {"team": ()}
    (folder / "team").mkdir(parents=True)
    (folder / "team" / "MEMORY.md").write_text("- By hand\n")
    assert await look(memory, ann.id) == {"team": ("By hand",)}
    team = await database.read(blocks.find_team)
    assert team
    (row,) = await database.read(lambda c: ledger.find_entries(c, person_id=team, target="memory"))
    assert row.origin.actor == "hand"


async def test_a_person_called_team_is_somebody_else(
    memory: SharedMemory, database: Database, folder: Path
) -> None:
    await database.write(
        "team", lambda c: people.insert(c, slug="team", name="Team", role="member", now=0)
    )
    team = await find(memory, "team", None)
    await memory.change(team, [add("One")], HAND)
    assert (folder / "team" / "MEMORY.md").read_text() == "- One\n"
    assert await look(SharedMemory(database, memory.store), None) == {"team": ("One",)}


async def test_a_block_is_seen_by_its_readers_only(
    memory: SharedMemory, database: Database, ann: Person, bob: Person
) -> None:
    block = await make(database, ann, ann.id)
    assert set(await look(memory, ann.id)) == {"team", "block:list"}
    assert set(await look(memory, bob.id)) == {"team"}
    assert set(await look(memory, None)) == {"team"}
    den = await database.write(
        "den",
        lambda c: rooms.insert(c, platform="p", chat_id="den", title="Den", slug="den", now=1),
    )
    team = await database.write("team", lambda c: blocks.make_team(c, now=1))
    for reader, seen in ((bob.id, [bob.id]), (den.person_id, [den.person_id]), (team, [None])):
        await database.write("share", partial(blocks.share, block_id=block.id, person_id=reader))
        for one in seen:
            assert set(await look(memory, one)) == {"team", "block:list"}
        await database.write(
            "unshare", partial(blocks.unshare, block_id=block.id, person_id=reader)
        )
        assert set(await look(memory, seen[0])) == {"team"}


async def test_who_is_joined_with_a_reader_sees_what_they_saw(
    memory: SharedMemory, database: Database, ann: Person, bob: Person
) -> None:
    block = await make(database, bob, bob.id)

    def join(connection: Connection) -> None:
        connection.execute(
            "UPDATE people SET joined_to = :ann WHERE id = :bob", {"ann": ann.id, "bob": bob.id}
        )

    await database.write("join", join)
    assert set(await look(memory, ann.id)) == {"team", "block:list"}
    (made,) = await database.read(lambda c: blocks.list_made(c, person_id=ann.id))
    assert made.made_by == ann.id
    (reader,) = await database.read(lambda c: blocks.list_readers(c, block_id=block.id))
    assert reader.id == ann.id
    is_new = await database.write(
        "again", lambda c: blocks.share(c, block_id=block.id, person_id=ann.id)
    )
    assert not is_new
    assert await database.write(
        "gone", lambda c: blocks.unshare(c, block_id=block.id, person_id=ann.id)
    )
    assert set(await look(memory, ann.id)) == {"team"}


async def test_a_block_has_a_limit_of_its_own(
    memory: SharedMemory, database: Database, ann: Person
) -> None:
    await make(database, ann, ann.id, limit=20)
    block = await find(memory, "block:list", ann.id)
    refused = await memory.change(block, [add("x" * 30)], HAND)
    assert isinstance(refused, Refusal)
    assert (refused.fault, refused.size) == ("full", 33)
    assert not isinstance(await memory.change(block, [add("x" * 10)], HAND), Refusal)
    seen = await find(memory, "block:list", ann.id)
    assert (seen.size, seen.limit) == (13, 20)
    assert memory.store.limits.memory == 60


async def test_a_hand_edit_of_a_block_is_seen_at_the_next_look_and_stays(
    memory: SharedMemory, database: Database, folder: Path, ann: Person
) -> None:
    block = await make(database, ann, ann.id)
    shared = await find(memory, "block:list", ann.id)
    await memory.change(shared, [add("One")], HAND)
    path = folder / "blocks" / "list" / "MEMORY.md"
    path.write_text("- One\n- Two\n")
    assert (await look(memory, ann.id))["block:list"] == ("One", "Two")
    path.unlink()
    assert (await look(memory, ann.id))["block:list"] == ("One", "Two")
    assert path.read_text() == "- One\n- Two\n", "what is lost is written anew"
    rows = await database.read(
        lambda c: ledger.find_entries(c, person_id=block.person_id, target="memory")
    )
    assert [row.origin.actor for row in rows] == ["turn:1", "hand"]


async def test_a_change_whose_file_could_not_be_written_is_seen_all_the_same(
    database: Database, folder: Path, ann: Person
) -> None:
    broken = True

    def put(path: Path, text: str, seen: str) -> bool:
        if broken:
            raise OSError("no space")
        return write_file(path, text, seen)

    memory = SharedMemory(database, MemoryStore(database, folder, write=put))
    await make(database, ann, ann.id)
    shared = await find(memory, "block:list", ann.id)
    await memory.change(shared, [add("One")], HAND)
    assert (await look(memory, ann.id))["block:list"] == ("One",)
    broken = False
    again = SharedMemory(database, MemoryStore(database, folder, write=put))
    assert (await look(again, ann.id))["block:list"] == ("One",)
    assert (folder / "blocks" / "list" / "MEMORY.md").read_text() == "- One\n"


async def test_the_same_call_changes_once(
    memory: SharedMemory, database: Database, ann: Person
) -> None:
    await make(database, ann, ann.id)
    shared = await find(memory, "block:list", ann.id)
    origin = replace(HAND, call_key="1:a")
    assert not await memory.is_made(shared, origin)
    for _ in range(2):
        await memory.change(shared, [add("One")], origin)
    assert (await look(memory, ann.id))["block:list"] == ("One",)
    assert await memory.is_made(shared, origin)


async def test_a_gateway_without_blocks_asks_once_whether_there_are_any(
    database: Database, folder: Path, ann: Person
) -> None:
    memory = SharedMemory(database, MemoryStore(database, folder))
    await look(memory, ann.id)
    await make(database, ann, ann.id)
    assert set(await look(memory, ann.id)) == {"team"}, "nobody said that one would be made"
    memory.expect_blocks()
    assert set(await look(memory, ann.id)) == {"team", "block:list"}
