"""Caches of the agent: open sessions with their histories, and images."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_core.agent.history import History, Told, weigh
from agent_core.agent.id_allocator import IdAllocator
from agent_core.ids import ConversationId, PersonId, RoomId, SessionId
from agent_core.machine import cache_bytes
from agent_core.models.images import choose
from agent_core.state.conversations import compactions, files, messages, sessions, turns
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import START
from agent_core.state.conversations.sessions import Conversation, Session
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import rooms
from agent_core.state.people.rooms import Room
from agent_core.transcript import Message

_MOST_CONVERSATIONS = 4096


class HistoryCache:
    """The histories of recently used sessions.

    Readers get a history as a value, so that an eviction never affects them. What the messages of
    an evicted session told stays known, so that its old messages need not be read again.
    """

    def __init__(self, most_weight: int | None = None) -> None:
        """`most_weight` is in approximate bytes; by default, it follows the machine's memory."""
        self._most = cache_bytes() if most_weight is None else most_weight
        self._sessions: OrderedDict[SessionId, History] = OrderedDict()
        self._weight = 0
        self._told: OrderedDict[SessionId, Told] = OrderedDict()
        self._open: OrderedDict[ConversationId, Session] = OrderedDict()

    def recall(self, session_id: SessionId) -> History | None:
        """The cached history of a session, without the messages that were added since."""
        return self._sessions.get(session_id)

    def recall_told(self, session_id: SessionId) -> Told:
        """Return the known part of what the beginning of a session told."""
        return self._told.get(session_id, Told())

    def keep(self, session_id: SessionId, history: History) -> None:
        """Cache a session's history in place of an older one."""
        old = self._sessions.pop(session_id, History())
        self._sessions[session_id] = history
        self._weight += history.weight - old.weight
        self._told[session_id] = history.told
        self._told.move_to_end(session_id)
        if len(self._told) > _MOST_CONVERSATIONS:
            self._told.popitem(last=False)
        while self._weight > self._most:
            _, dropped = self._sessions.popitem(last=False)
            self._weight -= dropped.weight

    def store_open(
        self, conversation_id: ConversationId, session: Session, history: History
    ) -> None:
        """Cache an open session and its complete history, as its last turn left it."""
        self.keep(session.id, history)
        self._open[conversation_id] = session
        if len(self._open) > _MOST_CONVERSATIONS:
            self._open.popitem(last=False)

    def take_open(self, conversation_id: ConversationId) -> tuple[Session, History] | None:
        """Remove and return an open session. It must be stored again before the next turn.

        Changes made outside of turns are not in it.
        """
        session = self._open.pop(conversation_id, None)
        history = self.recall(session.id) if session else None
        return (session, history) if session and history else None

    def clear(self) -> None:
        """Drop everything, because stored messages changed."""
        self._open.clear()
        self._sessions.clear()
        self._told.clear()
        self._weight = 0

    def clear_open(self) -> None:
        """Drop the open sessions, because something other than a turn changed them."""
        self._open.clear()


@dataclass(frozen=True, slots=True)
class SessionState:
    """A conversation's open session, if any, its history, and its room."""

    session: Session | None
    history: History
    room: Room | None


class SessionCache:
    """The open sessions of all conversations. The start of a turn verifies its session."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache = HistoryCache()
        self._numbers: IdAllocator | None = None

    @property
    def numbers(self) -> IdAllocator:
        """The id allocator; available after the first `look_up`."""
        assert self._numbers  # noqa: S101 - nobody needs a number before that
        return self._numbers

    async def id_allocator(self) -> IdAllocator:
        """The id allocator, read from the database if needed. Raises `StoreError`."""
        if self._numbers is None:
            numbers = await self._database.read(_read_numbers)
            self._numbers = self._numbers or numbers
        return self._numbers

    async def look_up(
        self, conversation: Conversation, room_id: RoomId | None, *, is_afresh: bool = False
    ) -> SessionState:
        """Return a conversation's state. `room_id` is its room; `is_afresh` skips the cache.

        Raises `StoreError`.
        """
        known = self._cache.take_open(conversation.id) if room_id is None else None
        known = None if is_afresh else known
        if known and self._numbers:
            return SessionState(*known, None)

        def look(connection: Connection) -> tuple[SessionState, IdAllocator]:
            numbers = _read_numbers(connection)
            room = find_room(connection, room_id)
            session = sessions.find_open(connection, conversation_id=conversation.id)
            if session is None:
                return SessionState(None, History(), room), numbers
            found = self._read(connection, session.id, conversation.person_id)
            return SessionState(session, found, room), numbers

        state, numbers = await self._database.read(look)
        self._numbers = self._numbers or numbers  # no id was allocated before this read
        self._numbers.skip(numbers)
        if state.session:
            self._cache.keep(state.session.id, state.history)
        return state

    def _read(self, connection: Connection, session_id: SessionId, person_id: PersonId) -> History:
        """Read a session's history: only the messages that are not known, and that a call shows."""
        compaction = compactions.find_newest(connection, session_id=session_id, person_id=person_id)
        end = compaction.summarized_to if compaction else START
        known = self._cache.recall(session_id)
        if known is None or known.summarized_to > end:
            told = self._cache.recall_told(session_id)
            start = _read_start(connection, session_id, person_id, (compaction, told))
            known, after = start, end
        else:
            after = known.newest
        fresh = messages.list_session(
            connection, session_id=session_id, person_id=person_id, after=after
        )
        return known.extend(fresh).under(compaction)

    def store(self, conversation_id: ConversationId, state: SessionState) -> None:
        """Cache a session as its last turn left it."""
        if state.session:
            self._cache.store_open(conversation_id, state.session, state.history)

    def clear(self) -> None:
        """Drop every history, because stored messages changed."""
        self._cache.clear()

    def forget(self) -> None:
        """Drop the open sessions, because something other than a turn changed them."""
        self._cache.clear_open()


def _read_start(
    connection: Connection,
    session_id: SessionId,
    person_id: PersonId,
    known: tuple[Compaction | None, Told],
) -> History:
    """Read a session's history up to the end of what its compaction replaces.

    The replaced messages are read only for what they told, as far as that is not known.
    """
    compaction, told = known
    if compaction is None:
        return History(told=told)
    end = compaction.summarized_to
    hidden = messages.list_session(
        connection, session_id=session_id, person_id=person_id, after=told.last, until=end
    )
    kept = messages.list_chosen(connection, message_ids=compaction.kept, person_id=person_id)
    return History(
        messages=tuple(kept),
        summarized_to=end,
        told=told.extend(hidden),
        weight=weigh(kept),
    )


def _read_numbers(connection: Connection) -> IdAllocator:
    return IdAllocator(turns.find_newest(connection), sessions.find_newest(connection))


def find_room(connection: Connection, room_id: RoomId | None) -> Room | None:
    """The room of a conversation; None for a direct one."""
    return None if room_id is None else rooms.find_by_id(connection, room_id=room_id)


_MOST_IMAGE_BYTES = 20_000_000
"""Bytes kept over all conversations."""


class ImageCache:
    """The bytes of the images in transcripts."""

    def __init__(self, database: Database, most_weight: int = _MOST_IMAGE_BYTES) -> None:
        self._database = database
        self._most = most_weight
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._weight = 0

    async def load_images(self, messages: Sequence[Message]) -> Mapping[str, bytes]:
        """The bytes, by key, of the images that a request with these messages shows.

        Missing or damaged images are left out. Raises `StoreError`.
        """
        keys = choose(messages)
        found = {key: self._kept[key] for key in keys if key in self._kept}
        fresh = [key for key in keys if key not in found]
        if fresh:

            def look(connection: Connection) -> list[files.StoredFile | None]:
                return [files.find(connection, key=key) for key in fresh]

            read = await self._database.read(look)
            found |= {file.key: file.data for file in read if file}
        for key, data in found.items():
            self._keep(key, data)
        return found

    def forget(self) -> None:
        """Drop every image, because some may be deleted."""
        self._kept.clear()
        self._weight = 0

    def _keep(self, key: str, data: bytes) -> None:
        if key not in self._kept:
            self._weight += len(data)
        self._kept[key] = data
        self._kept.move_to_end(key)
        while self._weight > self._most:
            _, dropped = self._kept.popitem(last=False)
            self._weight -= len(dropped)
