"""The conversation that a message belongs to, and how mentions in rooms are answered."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

from adapters.abilities import CanCount
from adapters.contract import ChatAdapter
from adapters.errors import AdapterError
from adapters.ids import Address, PlatformUserId
from adapters.messages import InboundMessage, Presence
from agent_core.chats import Chat
from agent_core.ids import PersonId, RoomId
from agent_core.localization import Text
from agent_core.safe_names import read_plain_name
from agent_core.state.conversations.sessions import ConversationKind, name_conversation
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import presence, rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Mode, Room
from agent_core.state.queues.outbox import OutboxRow
from gateway.chats import read_chat
from gateway.conversation_keys import (
    is_housekeeping,
    name_own,
    name_program,
    name_shared,
)
from gateway.fairness import Signal
from gateway.people import room_privacy
from gateway.people.admission import slug_of
from gateway.queued_message import QueuedMessage
from gateway.texts import rooms as room_texts

K = TypeVar("K")
V = TypeVar("V")

_MOST_ROOMS = 4096
_ANONYMOUS_PAUSE = 3_600_000
"""Milliseconds between two notes to the anonymous senders of one room."""
_COUNT_TIMEOUT = 3.0
"""Seconds that counting a room's members may take; the message waits for it."""
_CONNECT_TIMEOUT = 15.0
"""Seconds that a turn of an earlier process waits for its platform to connect."""
_LOOK = 0.05
"""Seconds between two looks whether a platform is connected."""

RoomKey = tuple[str, str]
"""A platform, and the id of a chat on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomConversation:
    """The key, kind and owner of a conversation with the assistant or with a named agent.

    `base` is the assistant's key, beside which each agent has its own. `is_direct` marks the
    person's direct conversation. `room` is the room of the message, None for a direct message.
    `is_off` asks for silence.
    """

    base: str
    kind: ConversationKind
    owner_id: PersonId
    is_direct: bool
    agent: str = ""
    room: Room | None = None
    is_off: bool = False

    @property
    def key(self) -> str:
        """The key of the conversation itself."""
        return name_conversation(self.agent, self.base)

    @property
    def room_id_of(self) -> RoomId | None:
        """The room that owns the conversation; None for a direct one."""
        return None if self.is_direct or self.room is None else self.room.id


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRoom:
    """A room in which a direct conversation no longer continues, and the messages that say so."""

    room: Room
    rows: Sequence[OutboxRow]


@dataclass(slots=True, kw_only=True)
class Rooms:
    """The known rooms, their answer modes, and who was noticed in them.

    `person` gives each member a conversation of their own in the room, `room` gives all of them
    one, and `off` none. `full` continues one person's direct conversation. It needs that person's
    consent (`RoomConsent`), and the platform must count exactly one person before each turn. The
    first sign of anyone else ends it for good. An unknown count ends it, too.
    """

    database: Database
    adapters: Mapping[str, ChatAdapter]
    now: Callable[[], int]
    patience: float = _COUNT_TIMEOUT
    """Seconds that a platform may take to count a room's members."""
    _known: OrderedDict[RoomKey, Room] = field(default_factory=OrderedDict, init=False)
    _presence: OrderedDict[RoomKey, str | None] = field(default_factory=OrderedDict, init=False)
    """The only account noticed in a chat; None for several."""
    _noticed: dict[RoomKey, list[PlatformUserId]] = field(default_factory=dict, init=False)
    """Accounts that `record_presence` still has to write."""
    _explained: OrderedDict[RoomKey, int] = field(default_factory=OrderedDict, init=False)
    """When each room was last told about anonymous senders, in milliseconds since the epoch."""
    _reading: int = field(default=0, init=False)
    closed: Signal[ClosedRoom] = field(default_factory=Signal, init=False)
    """Emitted when the mode `full` ends without a command, and when a room gets another person."""

    async def end_restored(self) -> None:
        """End the mode `full` in rooms of a restored backup, before anything is sent there.

        Nobody knows who joined after the backup. Raises `StoreError`.
        """
        words, now = room_texts.FULL_UNSURE, self.now()

        def work(connection: Connection) -> None:
            for room in rooms.list_restored(connection):
                self._close(connection, (room.platform, room.chat_id), words, now)

        if await self.database.read(rooms.list_restored):
            await self.database.write("rooms.end_restored", work)

    def forget_known(self) -> None:
        """Drop the cache of modes."""
        self._known.clear()
        self._reading += 1

    def notice(self, platform: str, shown: Presence) -> None:
        """Notice accounts in a chat; never waits. `record_presence` has to follow."""
        key = (platform, shown.address.chat_id)
        if shown.address.is_direct or self._presence.get(key, "") is None:
            return
        new = [user_id for user_id in shown.user_ids if user_id != self._presence.get(key)]
        if new:
            self._noticed.setdefault(key, []).extend(new)

    def has_others(self, room: Room) -> bool:
        """Return whether several accounts are known to have been in a room."""
        return self._presence.get((room.platform, room.chat_id), "") is None

    async def record_presence(self, platform: str, address: Address) -> None:
        """Write the accounts noticed in a chat; end the mode `full` if there are several.

        Raises `StoreError`.
        """
        key = (platform, address.chat_id)
        user_ids = tuple(self._noticed.get(key, ()))
        if not user_ids:
            return
        now = self.now()

        def work(connection: Connection) -> tuple[str | None, ClosedRoom | None]:
            seen = presence.note(
                connection, platform=platform, chat_id=key[1], user_ids=user_ids, now=now
            )
            if seen is None or seen.others_at is None:
                return seen.user_id if seen else "", None
            return None, self._close(connection, key, room_texts.FULL_ENDED, now)

        only, closed = await self.database.write("rooms.notice", work)
        left = self._noticed.get(key, [])[len(user_ids) :]
        if left:
            self._noticed[key] = left
        else:
            self._noticed.pop(key, None)
        self._presence[key] = only
        _bound(self._presence)
        self._announce(closed)

    async def place(
        self, platform: str, message: InboundMessage, person: Person
    ) -> RoomConversation:
        """Return the conversation of a person's message. Raises `StoreError`."""
        address = message.address
        if message.is_program:
            key = name_program(address, person.id)
            kind: ConversationKind = "housekeeping" if is_housekeeping(address) else "program"
            return RoomConversation(base=key, kind=kind, owner_id=person.id, is_direct=True)
        if address.is_direct:
            return replace(_own(platform, address, person, None), agent=person.agent)
        await self.record_presence(platform, address)
        room = await self.find(platform, message)
        mode = await self.effective_mode(room, address, person)
        if mode == "full":
            direct = Address(chat_id="", is_direct=True)
            return replace(_own(platform, direct, person, room), agent=person.agent)
        if mode == "room":
            key = name_shared(platform, address)
            found = RoomConversation(
                base=key, kind="room", owner_id=room.person_id, is_direct=False, room=room
            )
        else:
            found = _own(platform, address, person, room, is_off=mode == "off")
        return replace(found, agent=room.agent)

    async def is_current(self, pending: QueuedMessage) -> bool:
        """Return whether a waiting message still belongs to its conversation. Raises `StoreError`.

        A message for a named agent stays with that agent, whoever answers in the chat by now.
        """
        if pending.message.address.is_direct:
            return True
        placed = await self.place(pending.platform, pending.message, pending.person)
        conversation = pending.conversation
        is_same = placed.base == conversation.base and placed.owner_id == conversation.person_id
        return is_same and not placed.is_off

    async def effective_mode(self, room: Room, address: Address, person: Person) -> Mode:
        """Return the mode that applies to a person at an address of a room.

        The mode `full` ends unless the platform counts exactly one person now. Raises `StoreError`.
        """
        if room.mode != "full":
            return room.mode
        if room.set_by != person.id:
            return "person"
        people = await self.count(room, address)
        if people == 1:
            # Somebody may have been noticed while the platform counted.
            await self.record_presence(room.platform, address)
            return "person" if self.has_others(room) else "full"
        if not people:
            await self._end(room, room_texts.FULL_UNSURE)
        return "person"

    async def is_readable(self, chat: Chat) -> bool:
        """Return whether others may read a chat in which an earlier process left a turn.

        Only a room in the mode `full` is counted; others may read every other room. Raises
        `StoreError`.
        """
        address = read_chat(chat.address)
        if address.is_direct:
            return False
        room = await self.database.read(rooms.find, platform=chat.platform, chat_id=address.chat_id)
        if room is None or room.mode != "full":
            return True
        await self._wait_until_connected(chat.platform)
        return await self.count(room, address) != 1

    async def _wait_until_connected(self, platform: str) -> None:
        """Wait for a platform that begins to connect with this process, but not for long."""
        adapter = self.adapters.get(platform)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CONNECT_TIMEOUT):
                while adapter and adapter.health().state != "connected":  # noqa: ASYNC110 - the contract has no signal
                    await asyncio.sleep(_LOOK)

    async def count(self, room: Room, address: Address) -> int | None:
        """Count the people in a room; None if that is unknown. Raises `StoreError`.

        A count above one ends the mode `full` for good.
        """
        adapter = self.adapters.get(room.platform)
        if adapter is None or not isinstance(adapter, CanCount):
            return None
        try:
            async with asyncio.timeout(self.patience):
                people = await adapter.count_people(address)
        except (AdapterError, TimeoutError):
            return None
        if people is not None and people > 1:
            await self._end(room, room_texts.FULL_ENDED, is_shared=True)
        return people

    async def explains_anonymity(self, platform: str, address: Address) -> bool:
        """Return whether to tell an anonymous sender that nobody knows who they are.

        Only in rooms that people use, and once an hour. Raises `StoreError`.
        """
        room = await self.database.read(rooms.find, platform=platform, chat_id=address.chat_id)
        if room is None or room.mode == "off":
            return False
        now, key = self.now(), (platform, address.chat_id)
        if now - self._explained.get(key, 0) < _ANONYMOUS_PAUSE:
            return False
        self._explained[key] = now
        _bound(self._explained)
        return True

    async def find(self, platform: str, message: InboundMessage) -> Room:
        """Return the room of a message, created if it is new, with its current title.

        Raises `StoreError`.
        """
        chat_id, title = message.address.chat_id, message.room_title
        known = self._known.get((platform, chat_id))
        reading = self._reading
        if known is None:
            known = await self.database.read(rooms.find, platform=platform, chat_id=chat_id)
        if known is None or (title and title != known.platform_title):
            known = await self._enter(platform, chat_id, title or "")
        if reading == self._reading:  # otherwise the row may be older than the dropped cache
            self._known[platform, chat_id] = known
            _bound(self._known)
        return known

    async def _enter(self, platform: str, chat_id: str, title: str) -> Room:
        slug = slug_of(read_plain_name(title) or f"{platform} {chat_id}")
        now = self.now()

        return await self.database.write(
            "rooms.enter",
            rooms.insert,
            platform=platform,
            chat_id=chat_id,
            title=title,
            slug=slug,
            now=now,
        )

    async def _end(self, room: Room, words: Text, *, is_shared: bool = False) -> None:
        """End the mode `full`; with `is_shared`, for good."""
        key, now = (room.platform, room.chat_id), self.now()

        def work(connection: Connection) -> ClosedRoom | None:
            if is_shared:
                presence.note_others(connection, platform=key[0], chat_id=key[1], now=now)
            return self._close(connection, key, words, now)

        closed = await self.database.write("rooms.close", work)
        if is_shared:
            self._presence[key] = None
            _bound(self._presence)
        self._announce(closed)

    def _close(
        self, connection: Connection, key: RoomKey, words: Text, now: int
    ) -> ClosedRoom | None:
        room = rooms.find(connection, platform=key[0], chat_id=key[1])
        if room is None:
            return None
        rows = room_privacy.close_questions(connection, room, room_texts.FULL_IMPOSSIBLE, now)
        rows += room_privacy.end_full(connection, room, words, self.adapters, now)
        return ClosedRoom(room=room, rows=rows)

    def _announce(self, closed: ClosedRoom | None) -> None:
        if closed:
            self.forget_known()
            self.closed.emit(closed)


def hide_private_quote(room: Room | None, message: InboundMessage) -> InboundMessage:
    """Leave out a quote of something said while a direct conversation continued in the room."""
    quote = message.quote
    if room is None or quote is None or not room_privacy.was_private(room, quote.sent_at):
        return message
    return replace(message, quote=None)


def _own(
    platform: str, address: Address, person: Person, room: Room | None, *, is_off: bool = False
) -> RoomConversation:
    return RoomConversation(
        base=name_own(platform, address, person),
        kind="direct" if address.is_direct else "room",
        owner_id=person.id,
        is_direct=address.is_direct,
        room=room,
        is_off=is_off,
    )


def _bound(cache: OrderedDict[K, V]) -> None:
    if len(cache) > _MOST_ROOMS:
        cache.popitem(last=False)
