"""Whose talk a message in a room belongs to, by the room's mode and who is in it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from adapters.contract import ChatAdapter
from adapters.errors import ChatGone, Unreachable
from adapters.ids import Address, PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Presence, Sender
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people, rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Mode, Room
from gateway.people.rooms import ClosedRoom, RoomConversation, Rooms
from gateway.texts import rooms as room_texts
from tests.databases import open_database
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
class Deployment:
    """The rooms of a gateway with one owner and one member."""

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
            "mode", lambda c: rooms.set_mode(c, room_id=room.id, mode=mode, by=self.ann.id, now=1)
        )
        self.rooms.forget_known()


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Deployment]:
    database = await open_database(tmp_path / "state.db")

    def work(connection: Connection) -> tuple[Person, Person]:
        return (
            people.insert(connection, slug="ann", name="Ann", role="owner", now=0),
            people.insert(connection, slug="bob", name="Bob", role="member", now=0),
        )

    ann, bob = await database.write("people", work)
    yield Deployment(database, ann, bob)
    await database.close()


async def test_a_direct_message_belongs_to_its_person_and_to_no_room(
    deployment: Deployment,
) -> None:
    dialogue = await deployment.place(address=DIRECT)
    assert dialogue == RoomConversation(
        base=f"direct:{deployment.ann.id}",
        kind="direct",
        owner_id=deployment.ann.id,
        is_direct=True,
    )
    assert dialogue.room_id_of is None


async def test_everyone_in_a_room_has_their_own_conversation(
    deployment: Deployment,
) -> None:
    mine, his = await deployment.place(deployment.ann), await deployment.place(deployment.bob)
    room = await deployment.find()
    assert (mine.key, his.key) == (
        f"room:fake:den::{deployment.ann.id}",
        f"room:fake:den::{deployment.bob.id}",
    )
    assert (mine.owner_id, mine.is_direct, mine.room_id_of) == (deployment.ann.id, False, room.id)
    thread = await deployment.place(address=replace(ROOM, thread_id="7"))
    assert (thread.key, thread.room_id_of) == (f"room:fake:den:7:{deployment.ann.id}", room.id)


async def test_a_shared_room_has_its_own_conversation(deployment: Deployment) -> None:
    await deployment.set("room")
    mine, his = await deployment.place(deployment.ann), await deployment.place(deployment.bob)
    room = await deployment.find()
    assert mine == his
    assert (mine.key, mine.owner_id) == ("room:fake:den::all", room.person_id)
    assert (mine.is_direct, mine.room_id_of) == (False, room.id)


async def test_full_continues_the_conversation_of_the_person_who_agreed_and_nobody_else_s(
    deployment: Deployment,
) -> None:
    deployment.chat.people = 1
    await deployment.set("full")
    mine = await deployment.place(deployment.ann)
    assert (mine.key, mine.is_direct, mine.room_id_of) == (
        f"direct:{deployment.ann.id}",
        True,
        None,
    )
    assert mine.room == await deployment.find()
    his = await deployment.place(deployment.bob)
    assert (his.key, his.is_direct) == (f"room:fake:den::{deployment.bob.id}", False)


async def test_off_asks_for_silence(deployment: Deployment) -> None:
    await deployment.set("off")
    assert (await deployment.place(deployment.ann)).is_off
    assert (await deployment.place(deployment.bob)).is_off
    assert not (await deployment.place(address=DIRECT)).is_off


async def test_a_member_count_alone_continues_nothing(deployment: Deployment) -> None:
    deployment.chat.people = 1
    for person in (deployment.ann, deployment.bob):
        assert not (await deployment.place(person)).is_direct


async def test_a_second_person_in_a_room_ends_full_for_good(deployment: Deployment) -> None:
    closed: list[ClosedRoom] = []
    deployment.rooms.closed.connect(closed.append)
    deployment.chat.people = 1
    await deployment.set("full")
    deployment.chat.people = 2
    assert not (await deployment.place()).is_direct
    deployment.chat.people = 1
    assert not (await deployment.place()).is_direct
    assert [row.body for one in closed for row in one.rows] == [room_texts.FULL_ENDED()]
    room = await deployment.find()
    assert deployment.rooms.has_others(room)
    assert room.mode == "person"


async def test_somebody_who_is_noticed_while_the_platform_counts_ends_full(
    deployment: Deployment,
) -> None:
    deployment.chat.people = 1
    await deployment.set("full")
    deployment.rooms.notice("fake", Presence(address=ROOM, user_ids=(PlatformUserId("1"),)))
    deployment.chat.gate = asyncio.Event()
    placing = asyncio.create_task(deployment.place())
    await asyncio.sleep(0)
    deployment.rooms.notice("fake", Presence(address=ROOM, user_ids=(PlatformUserId("2"),)))
    deployment.chat.gate.set()
    assert not (await placing).is_direct


@pytest.mark.parametrize("reported", [None, 0])
async def test_an_unknown_count_ends_full(deployment: Deployment, reported: int | None) -> None:
    await deployment.set("full")
    deployment.chat.people = reported
    assert not (await deployment.place()).is_direct
    deployment.chat.people = 1
    assert not (await deployment.place()).is_direct


@pytest.mark.parametrize("error", [Unreachable("down"), ChatGone("gone")])
async def test_a_count_that_fails_ends_full(
    deployment: Deployment, error: Unreachable | ChatGone
) -> None:
    deployment.chat.people = 1
    await deployment.set("full")
    deployment.chat.plan(error)
    assert not (await deployment.place()).is_direct


async def test_a_count_that_takes_too_long_ends_full(deployment: Deployment) -> None:
    deployment.chat.people = 1
    await deployment.set("full")
    deployment.chat.gate = asyncio.Event()
    assert not (await deployment.place()).is_direct


async def test_on_a_platform_that_can_not_count_full_ends(deployment: Deployment) -> None:
    await deployment.set("full")
    deployment.rooms = deployment.open(PlainChat())
    assert not (await deployment.place()).is_direct


async def test_a_mode_is_read_afresh_once_it_was_forgotten(deployment: Deployment) -> None:
    await deployment.place()
    room = await deployment.find()
    await deployment.database.write(
        "mode",
        lambda c: rooms.set_mode(c, room_id=room.id, mode="off", by=deployment.ann.id, now=1),
    )
    assert not (await deployment.place()).is_off
    deployment.rooms.forget_known()
    assert (await deployment.place()).is_off


async def test_a_rooms_title_is_updated_and_kept_if_omitted(
    deployment: Deployment,
) -> None:
    await deployment.place(title=None)
    assert (await deployment.find()).platform_title == ""
    await deployment.place(title="The Den")
    await deployment.place(title=None)
    assert (await deployment.find()).platform_title == "The Den"
    assert (await deployment.find()).slug == "fake-den"
    await deployment.place(title="The New Den")
    assert (await deployment.find()).platform_title == "The New Den"
