"""Whose talk a message in a room belongs to, by the room's mode and who is in it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from adapters.contract import ChatAdapter
from adapters.errors import ChatGone, Unreachable
from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Mode, Room
from gateway.people.rooms import RoomConversation, Rooms
from tests.fakes.chat import FakeChat, PlainChat

ROOM = Address(chat_id="den", is_direct=False)
DIRECT = Address(chat_id="1", is_direct=True)


def message(address: Address = ROOM, title: str | None = "The Den") -> InboundMessage:
    return InboundMessage(
        address=address,
        message_id=PlatformMessageId("1"),
        sender=Sender(user_id=PlatformUserId("1"), display_name="Ann"),
        text="hi",
        is_addressed=True,
        room_title=title,
        sent_at=0,
    )


@dataclass
class Hall:
    """The rooms of a house with one owner and one member."""

    database: Database
    ann: Person
    bob: Person
    chat: FakeChat = field(default_factory=FakeChat)

    def __post_init__(self) -> None:
        self.rooms = self.open(self.chat)

    def open(self, chat: ChatAdapter) -> Rooms:
        return Rooms(database=self.database, adapters={"fake": chat}, now=lambda: 1, patience=0.05)

    async def place(
        self, person: Person | None = None, address: Address = ROOM, title: str | None = "The Den"
    ) -> RoomConversation:
        return await self.rooms.place("fake", message(address, title), person or self.ann)

    async def find(self) -> Room:
        found = await self.database.read(lambda c: rooms.find(c, platform="fake", chat_id="den"))
        assert found
        return found

    async def set(self, mode: Mode) -> None:
        """As the command does it."""
        await self.place()
        room = await self.find()
        await self.database.write(
            "mode", lambda c: rooms.set_mode(c, room_id=room.id, mode=mode, by=self.ann.id)
        )
        self.rooms.forget_known()


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    database = await Database.open(tmp_path / "state.db")

    def work(connection: Connection) -> tuple[Person, Person]:
        return (
            people.insert(connection, slug="ann", name="Ann", role="owner", now=0),
            people.insert(connection, slug="bob", name="Bob", role="member", now=0),
        )

    ann, bob = await database.write("people", work)
    yield Hall(database, ann, bob)
    await database.close()


async def test_a_direct_message_belongs_to_its_person_and_to_no_room(hall: Hall) -> None:
    talk = await hall.place(address=DIRECT)
    assert talk == RoomConversation(
        key=f"direct:{hall.ann.id}", owner_id=hall.ann.id, is_direct=True
    )
    assert talk.room_id_of is None


async def test_in_a_room_with_others_everyone_has_a_talk_of_their_own(hall: Hall) -> None:
    mine, his = await hall.place(hall.ann), await hall.place(hall.bob)
    room = await hall.find()
    assert (mine.key, his.key) == (
        f"room:fake:den::{hall.ann.id}",
        f"room:fake:den::{hall.bob.id}",
    )
    assert (mine.owner_id, mine.is_direct, mine.room_id_of) == (hall.ann.id, False, room.id)
    thread = await hall.place(address=replace(ROOM, thread_id="7"))
    assert (thread.key, thread.room_id_of) == (f"room:fake:den:7:{hall.ann.id}", room.id)


async def test_a_shared_room_has_one_talk_that_is_its_own(hall: Hall) -> None:
    await hall.set("room")
    mine, his = await hall.place(hall.ann), await hall.place(hall.bob)
    room = await hall.find()
    assert mine == his
    assert (mine.key, mine.owner_id) == ("room:fake:den::all", room.person_id)
    assert (mine.is_direct, mine.room_id_of) == (False, room.id)


async def test_full_lets_an_owner_s_whole_talk_go_on_and_nobody_else_s(hall: Hall) -> None:
    await hall.set("full")
    mine, his = await hall.place(hall.ann), await hall.place(hall.bob)
    assert (mine.key, mine.is_direct, mine.room_id_of) == (f"direct:{hall.ann.id}", True, None)
    assert mine.room == await hall.find()
    assert (his.key, his.is_direct) == (f"room:fake:den::{hall.bob.id}", False)


async def test_off_asks_for_silence(hall: Hall) -> None:
    await hall.set("off")
    assert (await hall.place(hall.ann)).is_off
    assert (await hall.place(hall.bob)).is_off
    assert not (await hall.place(address=DIRECT)).is_off


async def test_who_is_alone_with_the_bot_has_their_whole_talk_there(hall: Hall) -> None:
    hall.chat.people = 1
    for person in (hall.ann, hall.bob):
        talk = await hall.place(person)
        assert (talk.key, talk.is_direct) == (f"direct:{person.id}", True)
        assert talk.room


async def test_a_second_person_in_a_room_is_noticed_at_once(hall: Hall) -> None:
    hall.chat.people = 1
    assert (await hall.place()).is_direct
    hall.chat.people = 2
    assert not (await hall.place()).is_direct
    hall.chat.people = 1
    assert not (await hall.place()).is_direct, "that they left may be noticed later"


@pytest.mark.parametrize("mode", ["person", "room", "off"])
async def test_what_an_owner_chose_holds_for_who_is_alone_too(hall: Hall, mode: Mode) -> None:
    await hall.set(mode)
    hall.chat.people = 1
    hall.rooms = hall.open(hall.chat)
    assert not (await hall.place(hall.ann)).is_direct


@pytest.mark.parametrize("told", [None, 0, 2, 900])
async def test_any_other_count_than_one_is_not_alone(hall: Hall, told: int | None) -> None:
    hall.chat.people = told
    assert not (await hall.place()).is_direct


@pytest.mark.parametrize("error", [Unreachable("down"), ChatGone("gone")])
async def test_a_count_that_fails_is_not_alone(hall: Hall, error: Unreachable | ChatGone) -> None:
    hall.chat.people = 1
    hall.chat.plan(error)
    assert not (await hall.place()).is_direct


async def test_a_count_that_takes_too_long_is_not_alone(hall: Hall) -> None:
    hall.chat.people = 1
    hall.chat.gate = asyncio.Event()
    assert not (await hall.place()).is_direct


async def test_on_a_platform_that_can_not_count_nobody_is_alone(hall: Hall) -> None:
    hall.rooms = hall.open(PlainChat())
    assert not (await hall.place()).is_direct


async def test_a_mode_is_read_afresh_once_it_was_forgotten(hall: Hall) -> None:
    await hall.place()
    room = await hall.find()
    await hall.database.write(
        "mode", lambda c: rooms.set_mode(c, room_id=room.id, mode="off", by=hall.ann.id)
    )
    assert not (await hall.place()).is_off
    hall.rooms.forget_known()
    assert (await hall.place()).is_off


async def test_a_room_learns_its_new_title_and_keeps_it_where_none_is_told(hall: Hall) -> None:
    await hall.place(title=None)
    assert (await hall.find()).title == ""
    await hall.place(title="The Den")
    await hall.place(title=None)
    assert (await hall.find()).title == "The Den"
    assert (await hall.find()).slug == "fake-den"
    await hall.place(title="The New Den")
    assert (await hall.find()).title == "The New Den"
