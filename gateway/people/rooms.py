"""The conversation that a message belongs to, and how mentions in rooms are answered."""

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
"""Seconds; the message waits meanwhile."""
_NOT_ALONE = 60.0
"""Seconds for which a room with several members is cached as such. A room with one member is
checked every time: a second member must be noticed at the next turn.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomConversation:
    """A conversation's key and owner.

    `is_direct` marks the person's direct conversation. `room` is the room of the message, None
    for a direct message. `is_off` asks for silence.
    """

    key: str
    owner_id: PersonId
    is_direct: bool
    room: Room | None = None
    is_off: bool = False

    @property
    def room_id_of(self) -> RoomId | None:
        """The room that owns the conversation; None for a direct one."""
        return None if self.is_direct or self.room is None else self.room.id


class Rooms:
    """The known rooms and their answer modes.

    `person` gives each member a conversation of their own in the room, `room` gives all of them
    one, and `off` none. `full` continues a person's direct conversation in the room. Only
    owners can set it, and it applies to owners only: everyone else gets `person`, because
    nobody can share another person's private conversation. A room without a setting in which
    only the person and the bot are members counts as `full`, as long as that is certain.
    """

    def __init__(
        self,
        *,
        database: Database,
        adapters: Mapping[str, ChatAdapter],
        now: Callable[[], int],
        patience: float = _COUNT_TIMEOUT,
    ) -> None:
        """`patience` is how many seconds a platform may take to count a room's members."""
        self._database = database
        self._patience = patience
        self._adapters = adapters
        self._now = now
        self._known: OrderedDict[tuple[str, str], Room] = OrderedDict()
        self._crowded: OrderedDict[tuple[str, str, str | None], float] = OrderedDict()
        self._reading = 0

    def forget_known(self) -> None:
        """Drop the cache of modes."""
        self._known.clear()
        self._reading += 1

    async def place(
        self, platform: str, message: InboundMessage, person: Person
    ) -> RoomConversation:
        """Return the conversation of a person's message. Raises `StoreError`."""
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
        """Return whether a waiting message still belongs to its conversation. Raises
        `StoreError`.
        """
        if pending.message.address.is_direct:
            return True
        placed = await self.place(pending.platform, pending.message, pending.person)
        conversation = pending.conversation
        same = (placed.key, placed.owner_id) == (conversation.key, conversation.person_id)
        return same and not placed.is_off

    async def effective_mode(self, room: Room, address: Address, person: Person) -> Mode:
        """Return the mode that applies to a person at an address of a room."""
        if room.mode == "full":
            return "full" if person.is_owner else "person"
        if room.mode == "person" and not room.is_set and await self._is_alone(room, address):
            return "full"
        return room.mode

    async def _find(self, platform: str, message: InboundMessage) -> Room:
        """Return the room of a message, created if it is new, with its current title."""
        chat_id, title = message.address.chat_id, message.room_title
        known = self._known.get((platform, chat_id))
        reading = self._reading
        if known is None:
            known = await self._database.read(
                lambda c: rooms.find(c, platform=platform, chat_id=chat_id)
            )
        if known is None or (title and title != known.title):
            known = await self._enter(platform, chat_id, title or "")
        if reading == self._reading:  # otherwise the row may be older than the dropped cache
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
        """Return whether one person is certainly the only reader; unknown counts as no."""
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
