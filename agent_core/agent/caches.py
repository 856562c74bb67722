"""Where each talk stands: its open session and what was said in it, from memory or from disk."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from agent_core.ids import ConversationId, RoomId, SessionId, TurnId
from agent_core.models.images import choose
from agent_core.state.conversations import files, messages, sessions, turns
from agent_core.state.conversations.messages import START, StoredMessage
from agent_core.state.conversations.sessions import Conversation, Session
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import rooms
from agent_core.state.people.rooms import Room
from agent_core.transcript import ImagePart, Message, Part, RawPart, ToolCallPart

_MOST_WEIGHT = 16_000_000
"""Bytes, about, kept over all sessions; what is let go of is read again when needed."""
_OBJECTS = 500
"""Bytes that a message takes besides its words."""
_MOST_TALKS = 4096


@dataclass(frozen=True, slots=True)
class _Kept:
    transcript: tuple[StoredMessage, ...]
    weight: int


class TranscriptCache:
    """The transcripts of the sessions that were used last. The database is the truth.

    A transcript is handed out and taken back whole: what is let go of in between takes
    nothing from whoever is about to add to it.
    """

    def __init__(self, most_weight: int = _MOST_WEIGHT) -> None:
        self._most = most_weight
        self._sessions: OrderedDict[SessionId, _Kept] = OrderedDict()
        self._weight = 0
        self._open: OrderedDict[ConversationId, Session] = OrderedDict()

    def recall(self, session_id: SessionId) -> tuple[StoredMessage, ...]:
        """What is remembered of a session: its beginning up to some message, or nothing."""
        kept = self._sessions.get(session_id)
        return kept.transcript if kept else ()

    def keep(self, session_id: SessionId, transcript: tuple[StoredMessage, ...]) -> None:
        """Remember a session's transcript, which goes on from what was recalled of it."""
        old = self._sessions.pop(session_id, _Kept((), 0))
        fresh = transcript[len(old.transcript) :]
        kept = _Kept(transcript, old.weight + sum(_weigh(stored.message) for stored in fresh))
        self._sessions[session_id] = kept
        self._weight += kept.weight - old.weight
        while self._weight > self._most:
            _, dropped = self._sessions.popitem(last=False)
            self._weight -= dropped.weight

    def store_open(
        self,
        conversation_id: ConversationId,
        session: Session,
        transcript: tuple[StoredMessage, ...],
    ) -> None:
        """Remember a talk as its last turn left it, with all that its open session holds."""
        self.keep(session.id, transcript)
        self._open[conversation_id] = session
        if len(self._open) > _MOST_TALKS:
            self._open.popitem(last=False)

    def take_open(
        self, conversation_id: ConversationId
    ) -> tuple[Session, tuple[StoredMessage, ...]] | None:
        """A talk as it was left; it has to be left anew before it can be entered again.

        What happened to it since, beside the turns, is not in it.
        """
        session = self._open.pop(conversation_id, None)
        transcript = self.recall(session.id) if session else ()
        return (session, transcript) if session and transcript else None

    def clear(self) -> None:
        """Transcripts may not hold what they held: nothing is remembered of them."""
        self._open.clear()
        self._sessions.clear()
        self._weight = 0

    def clear_open(self) -> None:
        """Talks may not be as they were left."""
        self._open.clear()


def _weigh(message: Message) -> int:
    return _OBJECTS + sum(len(_content(part)) for part in message.parts)


def _content(part: Part) -> str:
    if isinstance(part, ToolCallPart):
        return part.arguments
    if isinstance(part, ImagePart):
        return part.file_key
    return part.payload if isinstance(part, RawPart) else part.text


@dataclass(frozen=True, slots=True)
class SessionState:
    """The open session of a talk, if there is one, its transcript, and where it is held."""

    session: Session | None
    transcript: tuple[StoredMessage, ...]
    room: Room | None


class IdAllocator:
    """Gives turns and sessions their numbers before they are written.

    Only one process has the database, and whoever opens either asks here. A number that is not
    used is missing, or, after a restart, given again.
    """

    def __init__(self, turn_id: TurnId, session_id: SessionId) -> None:
        """Both are the last ones that were used."""
        self._turns = count(turn_id + 1)
        self._sessions = count(session_id + 1)

    def next_turn(self) -> TurnId:
        """A number that no turn has."""
        return TurnId(next(self._turns))

    def next_session(self) -> SessionId:
        """A number that no session has."""
        return SessionId(next(self._sessions))


class SessionCache:
    """The talks of everybody. The database is the truth; what is at hand is checked against it
    when a turn is begun on it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache = TranscriptCache()
        self._numbers: IdAllocator | None = None

    @property
    def numbers(self) -> IdAllocator:
        """The numbers to come; known once a talk was looked up."""
        assert self._numbers  # noqa: S101 - nobody needs a number before that
        return self._numbers

    async def id_allocator(self) -> IdAllocator:
        """The numbers to come, for whoever writes turns besides the agent. Raises `StoreError`."""
        if self._numbers is None:
            numbers = await self._database.read(_read_numbers)
            self._numbers = self._numbers or numbers
        return self._numbers

    async def look_up(
        self, conversation: Conversation, room_id: RoomId | None, *, is_afresh: bool = False
    ) -> SessionState:
        """How a talk stands. `room_id` is where it is held. One that is looked up afresh may have
        been closed beside its turns. Raises `StoreError`.
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
                return SessionState(None, (), room), numbers
            known = self._cache.recall(session.id)
            fresh = messages.list_session(
                connection,
                session_id=session.id,
                person_id=conversation.person_id,
                after=known[-1].id if known else START,
            )
            return SessionState(session, (*known, *fresh), room), numbers

        standing, numbers = await self._database.read(look)
        self._numbers = self._numbers or numbers  # none was given before these were read
        if standing.session:
            self._cache.keep(standing.session.id, standing.transcript)
        return standing

    def store(self, conversation_id: ConversationId, standing: SessionState) -> None:
        """Keep a talk at hand as its last turn left it: the next one need not read it."""
        if standing.session:
            self._cache.store_open(conversation_id, standing.session, standing.transcript)

    def clear(self) -> None:
        """Words were taken out of talks: all of them are read anew."""
        self._cache.clear()

    def forget(self) -> None:
        """Something was done to talks beside the turns: what is at hand may not hold."""
        self._cache.clear_open()


def _read_numbers(connection: Connection) -> IdAllocator:
    return IdAllocator(turns.find_newest(connection), sessions.find_newest(connection))


def find_room(connection: Connection, room_id: RoomId | None) -> Room | None:
    """Where a talk is held; None for a direct one."""
    return None if room_id is None else rooms.find_by_id(connection, room_id=room_id)


_MOST_IMAGE_BYTES = 20_000_000
"""Bytes kept over all conversations; what is let go of is read again when needed."""


class ImageCache:
    """The bytes behind the pictures of transcripts. The database is the truth."""

    def __init__(self, database: Database, most_weight: int = _MOST_IMAGE_BYTES) -> None:
        self._database = database
        self._most = most_weight
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._weight = 0

    async def load_images(self, messages: Sequence[Message]) -> Mapping[str, bytes]:
        """The bytes, by key, of the pictures that a request with these messages shows.

        One that is not there (any more) or is damaged is left out. Raises `StoreError`.
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
        """Keep no picture at hand: some may be gone."""
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
