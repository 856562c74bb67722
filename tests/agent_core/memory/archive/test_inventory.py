"""What there is to be searched is counted for each talk by itself, rarely, and told in one line."""

import asyncio
from dataclasses import dataclass, field

import pytest

from agent_core.agent.prompt.message_facts import describe_counts
from agent_core.ids import MessageId
from agent_core.memory.archive.inventory import (
    MOST_COUNTED,
    Inventory,
    SearchableCounts,
    SearchScope,
    VisibleMessages,
)
from agent_core.state.conversations import messages
from agent_core.state.conversations.messages import START, StoredMessage
from agent_core.state.engine.database import Connection, Database
from agent_core.transcript import Message, Role, TextPart
from tests.agent_core.memory.archive.conftest import BEGIN, DAY, Caller, meet
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_turn

NOTHING = SearchableCounts(messages=0, since=0, entries=0, tags=())


@dataclass
class Stock:
    """An inventory, asked for talks."""

    database: Database
    inventory: Inventory = field(init=False)

    def __post_init__(self) -> None:
        self.inventory = Inventory(self.database)

    async def look(
        self,
        dialogue: Dialogue,
        *in_view: StoredMessage,
        memory_owner: Dialogue | None = None,
        scope: str = "",
        now: int = BEGIN,
        summarized_to: MessageId = START,
    ) -> SearchableCounts:
        reach = SearchScope(
            owner_id=dialogue.conversation.person_id,
            scope=scope or dialogue.conversation.scope,
            memory_owner_id=(memory_owner or dialogue).person.id,
        )
        view = VisibleMessages(messages=in_view, summarized_to=summarized_to)
        return await self.inventory.look_up(reach, view, now=now)


@pytest.fixture
def stock(database: Database) -> Stock:
    return Stock(database)


async def say(
    database: Database, dialogue: Dialogue, *texts: str, role: Role = "user", now: int = BEGIN
) -> list[StoredMessage]:
    """Messages of one turn, as its session holds them."""

    def work(connection: Connection) -> list[StoredMessage]:
        turn_id = add_turn(connection, dialogue, now=now)
        said = [Message(role=role, parts=(TextPart(text=text),)) for text in texts]
        messages.append(connection, dialogue.shelf(turn_id), said, now=now)
        return messages.list_session(
            connection, session_id=dialogue.session_id, person_id=dialogue.person.id, after=START
        )

    return await database.write("say", work)


async def test_everything_said_and_kept_is_counted(
    database: Database, stock: Stock, ann: Dialogue, call: Caller
) -> None:
    assert await stock.look(ann) == NOTHING
    await say(database, ann, "tea", "milk", now=BEGIN - DAY)
    await say(database, ann, "Yes.", role="assistant")
    await say(database, ann, "outcome of a tool", role="tool")
    await call.keep("Lemons", "food", "sour")
    await call.keep("Soup", "food")
    stock.inventory.forget_archive(ann.person.id)
    assert await stock.look(ann) == SearchableCounts(
        messages=3, since=BEGIN - DAY, entries=2, tags=("food", "sour")
    )


async def test_what_stands_in_the_conversation_anyway_is_not_counted(
    database: Database, ann: Dialogue
) -> None:
    await say(database, ann, "tea", "milk")
    later = await database.write("later", lambda c: add_dialogue(c, ann.person, key="talk:ann"))
    seen = await say(database, later, "coffee", "")
    for in_view, count in (((), 3), (seen, 2)):
        found = await Stock(database).look(later, *in_view)
        assert found.messages == count


async def test_numbers_of_one_are_never_anothers_nor_a_rooms(
    database: Database, stock: Stock, ann: Dialogue, bob: Dialogue, call: Caller
) -> None:
    room = await meet(database, "den", kind="room")
    await say(database, ann, "tea", "milk")
    await call.keep("Lemons", "secret")
    await say(database, room, "coffee")
    await Caller(database, bob, room.person).keep("Rules", "house-rules")
    assert await stock.look(bob) == NOTHING
    assert await stock.look(room) == SearchableCounts(
        messages=1, since=BEGIN, entries=1, tags=("house-rules",)
    )
    mine = await stock.look(ann)
    assert (mine.messages, mine.tags) == (2, ("secret",))


async def test_a_room_shows_a_persons_numbers_of_that_room_only(
    database: Database, stock: Stock, ann: Dialogue, call: Caller
) -> None:
    den = await meet(database, "den", kind="room")
    await say(database, ann, "tea", "milk")
    await call.keep("Lemons", "secret")
    here = await database.write(
        "here", lambda c: add_dialogue(c, ann.person, key="room:p:1::1", room=True)
    )
    await say(database, here, "hello")
    assert await stock.look(here, memory_owner=den) == SearchableCounts(
        messages=1, since=BEGIN, entries=0, tags=()
    )
    everywhere = await stock.look(ann)
    assert (everywhere.messages, everywhere.entries) == (3, 1)


async def test_a_conversation_whose_owner_is_not_known_has_no_archive(
    database: Database, ann: Dialogue, call: Caller
) -> None:
    await call.keep("Lemons")
    reach = SearchScope(owner_id=ann.person.id, scope=ann.conversation.scope, memory_owner_id=None)
    assert (
        await Inventory(database).look_up(reach, VisibleMessages(messages=()), now=BEGIN) == NOTHING
    )


async def test_a_running_session_counts_once_and_a_new_one_again(
    database: Database, stock: Stock, ann: Dialogue
) -> None:
    await stock.look(ann)
    seen = await say(database, ann, "tea")
    await database.close()  # whoever asked it now would fail
    assert await stock.look(ann, *seen) == NOTHING
    for _ in range(2):
        assert await stock.look(ann, *seen, now=BEGIN + DAY) == NOTHING


async def test_a_new_session_is_told_what_was_said_before(
    database: Database, stock: Stock, ann: Dialogue
) -> None:
    await stock.look(ann)
    seen = await say(database, ann, "tea", "milk")
    assert (await stock.look(ann, *seen)).messages == 0
    assert (await stock.look(ann)).messages == 2


async def test_numbers_are_counted_anew_after_a_day_and_when_people_are_joined(
    database: Database, stock: Stock, ann: Dialogue
) -> None:
    await stock.look(ann)
    other = await database.write("other", lambda c: add_dialogue(c, ann.person, key="talk:ann"))
    seen = await say(database, ann, "tea")
    await say(database, other, "milk", "bread")
    assert (await stock.look(ann, *seen, now=BEGIN + DAY)).messages == 0
    assert (await stock.look(ann, *seen, now=BEGIN + DAY + 1)).messages == 2
    await say(database, other, "soup")
    stock.inventory.forget()
    assert (await stock.look(ann, *seen)).messages == 3


async def test_what_a_conversation_no_longer_shows_can_be_searched(
    database: Database, stock: Stock, ann: Dialogue
) -> None:
    seen = await say(database, ann, "tea", "milk", "bread")
    assert (await stock.look(ann, *seen)).messages == 0
    for _ in range(2):
        compacted = await stock.look(ann, *seen, summarized_to=seen[1].id)
        assert compacted.messages == 2


async def test_a_count_that_a_change_has_overtaken_is_not_kept(
    database: Database, stock: Stock, ann: Dialogue, call: Caller
) -> None:
    seen = await say(database, ann, "tea")
    counting = asyncio.create_task(stock.look(ann, *seen))
    await asyncio.sleep(0)  # the database is being asked now
    stock.inventory.forget_archive(ann.person.id)
    await counting
    await call.keep("Lemons")
    assert (await stock.look(ann, *seen)).entries == 1


def test_the_line_names_what_there_is_and_is_left_out_for_nothing() -> None:
    assert describe_counts(NOTHING, "UTC") == ()
    many = SearchableCounts(
        messages=1204, since=BEGIN, entries=12, tags=tuple(f"tag-{n}" for n in range(13))
    )
    (line,) = describe_counts(many, "UTC")
    assert line.startswith("You can search: 1,204 messages since 2026-02-02; archive: 12 entries")
    assert line.endswith(
        "(tags: tag-0, tag-1, tag-2, tag-3, tag-4, tag-5, tag-6, tag-7, tag-8,"
        " tag-9, tag-10, tag-11, …)"
    )
    one = SearchableCounts(messages=1, since=BEGIN, entries=0, tags=())
    assert describe_counts(one, "America/New_York") == (
        "You can search: 1 message since 2026-02-01",
    )
    kept = SearchableCounts(messages=0, since=0, entries=1, tags=())
    assert describe_counts(kept, "UTC") == ("You can search: archive: 1 entry",)
    full = SearchableCounts(messages=MOST_COUNTED, since=BEGIN, entries=0, tags=())
    assert "over 100,000 messages" in describe_counts(full, "UTC")[0]
