"""Whose talk a message belongs to, and how much of its person may be seen where it was said."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from adapters.abilities import CanCount
from adapters.contract import ChatAdapter
from adapters.errors import AdapterError
from adapters.ids import Address
from adapters.messages import InboundMessage
from agent_core.ids import PersonId, RoomId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Mode, Room
from gateway import conversion
from gateway.conversion import QueuedMessage
from gateway.people.identity import slug_of

K = TypeVar("K")
V = TypeVar("V")

_MOST_ROOMS = 4096
_COUNT_TIMEOUT = 3.0
"""A message waits for that."""
_NOT_ALONE = 60.0
"""Seconds for which a room with others in it is taken to have them still. That a room is its
person's alone is asked every time: a second person must be noticed at the next turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomConversation:
    """Where a message belongs: the key of its conversation, and whose that is.

    `is_direct` says that it is the person's whole talk. `room` is where it was said, None in a
    direct message. `is_off` asks for silence.
    """

    key: str
    owner_id: PersonId
    is_direct: bool
    room: Room | None = None
    is_off: bool = False

    @property
    def room_id_of(self) -> RoomId | None:
        """The room that the conversation belongs to; a direct talk belongs to none."""
        return None if self.is_direct or self.room is None else self.room.id


class Rooms:
    """All rooms, and how mentions are answered in them.

    `person` gives everyone their own talk in a room, `room` gives all of them one, `off` none.
    `full` lets a person's whole direct talk go on in a room. As a setting it is the choice of an
    owner for rooms whose people they trust with what they keep private: it counts for
    owners only, and everybody else has `person` there, for nobody can choose that for another.
    A room in which nothing was chosen and where nobody is but the person and the bot is
    `full`, too, for as long as that is surely so.
    """

    def __init__(
        self,
        *,
        database: Database,
        adapters: Mapping[str, ChatAdapter],
        now: Callable[[], int],
        patience: float = _COUNT_TIMEOUT,
    ) -> None:
        """`patience` is how long, in seconds, a platform has to say who is in a room."""
        self._database = database
        self._patience = patience
        self._adapters = adapters
        self._now = now
        self._known: OrderedDict[tuple[str, str], Room] = OrderedDict()
        self._crowded: OrderedDict[tuple[str, str, str | None], float] = OrderedDict()
        self._reading = 0

    def forget_known(self) -> None:
        """Read the modes afresh from the database from now on."""
        self._known.clear()
        self._reading += 1

    async def place(
        self, platform: str, message: InboundMessage, person: Person
    ) -> RoomConversation:
        """The talk that a message of a person belongs to now. Raises `StoreError`."""
        address = message.address
        if address.is_direct:
            return _own(platform, address, person, None)
        room = await self._find(platform, message)
        mode = await self.effective_mode(room, address, person)
        if mode == "full":
            direct = Address(chat_id="", is_direct=True)
            return _own(platform, direct, person, room)
        if mode == "room":
            key = conversion.name_shared(platform, address)
            return RoomConversation(key=key, owner_id=room.person_id, is_direct=False, room=room)
        return _own(platform, address, person, room, is_off=mode == "off")

    async def is_current(self, pending: QueuedMessage) -> bool:
        """True if a message that has waited still belongs where it was put. Raises `StoreError`."""
        if pending.message.address.is_direct:
            return True
        talk = await self.place(pending.platform, pending.message, pending.person)
        conversation = pending.conversation
        same = (talk.key, talk.owner_id) == (conversation.key, conversation.person_id)
        return same and not talk.is_off

    async def effective_mode(self, room: Room, address: Address, person: Person) -> Mode:
        """How a person is answered at an address of a room now."""
        if room.mode == "full":
            return "full" if person.is_owner else "person"
        if room.mode == "person" and not room.is_set and await self._is_alone(room, address):
            return "full"
        return room.mode

    async def _find(self, platform: str, message: InboundMessage) -> Room:
        """The room of a message, made known if it is new, with its title as it is now."""
        chat_id, title = message.address.chat_id, message.room_title
        known = self._known.get((platform, chat_id))
        reading = self._reading
        if known is None:
            known = await self._database.read(
                lambda c: rooms.find(c, platform=platform, chat_id=chat_id)
            )
        if known is None or (title and title != known.title):
            known = await self._enter(platform, chat_id, title or "")
        if reading == self._reading:  # else what was read may be older than what was forgotten
            self._known[platform, chat_id] = known
            _bound(self._known)
        return known

    async def _enter(self, platform: str, chat_id: str, title: str) -> Room:
        slug = slug_of(title or f"{platform} {chat_id}")
        now = self._now()

        def work(connection: Connection) -> Room:
            return rooms.insert(
                connection, platform=platform, chat_id=chat_id, title=title, slug=slug, now=now
            )

        return await self._database.write("rooms.enter", work)

    async def _is_alone(self, room: Room, address: Address) -> bool:
        """True if surely nobody but one person can read along; what can't be told is no."""
        place = (room.platform, address.chat_id, address.thread_id)
        since = self._crowded.get(place)
        if since is not None and time.monotonic() - since < _NOT_ALONE:
            return False
        adapter = self._adapters.get(room.platform)
        count = await self._count(adapter, address) if isinstance(adapter, CanCount) else None
        if count != 1:
            self._crowded[place] = time.monotonic()
            _bound(self._crowded)
        return count == 1

    async def _count(self, adapter: CanCount, address: Address) -> int | None:
        try:
            async with asyncio.timeout(self._patience):
                return await adapter.count_people(address)
        except (AdapterError, TimeoutError):
            return None


def _own(
    platform: str, address: Address, person: Person, room: Room | None, *, is_off: bool = False
) -> RoomConversation:
    return RoomConversation(
        key=conversion.name_conversation(platform, address, person),
        owner_id=person.id,
        is_direct=address.is_direct,
        room=room,
        is_off=is_off,
    )


def _bound(cache: OrderedDict[K, V]) -> None:
    if len(cache) > _MOST_ROOMS:
        cache.popitem(last=False)
