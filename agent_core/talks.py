"""Where each talk stands: its open session and what was said in it, from memory or from disk."""

from dataclasses import dataclass
from itertools import count

from agent_core.history import History
from agent_core.ids import ConversationId, RoomId, SessionId, TurnId
from agent_core.state import messages, rooms, sessions, turns
from agent_core.state.database import Connection, Database
from agent_core.state.messages import START, StoredMessage
from agent_core.state.rooms import Room
from agent_core.state.sessions import Conversation, Session


@dataclass(frozen=True, slots=True)
class Standing:
    """The open session of a talk, if there is one, its transcript, and where it is held."""

    session: Session | None
    transcript: tuple[StoredMessage, ...]
    room: Room | None


class Numbers:
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


class Talks:
    """The talks of everybody. The database is the truth; what is at hand is checked against it
    when a turn is begun on it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._history = History()
        self._numbers: Numbers | None = None

    @property
    def numbers(self) -> Numbers:
        """The numbers to come; known once a talk was looked up."""
        assert self._numbers  # noqa: S101 - nobody needs a number before that
        return self._numbers

    async def know_numbers(self) -> Numbers:
        """The numbers to come, for whoever writes turns besides the agent. Raises `StoreError`."""
        if self._numbers is None:
            numbers = await self._database.read(_read_numbers)
            self._numbers = self._numbers or numbers
        return self._numbers

    async def look_up(
        self, conversation: Conversation, room_id: RoomId | None, *, is_afresh: bool = False
    ) -> Standing:
        """How a talk stands. `room_id` is where it is held. One that is looked up afresh may have
        been closed beside its turns. Raises `StoreError`.
        """
        known = self._history.enter(conversation.id) if room_id is None else None
        known = None if is_afresh else known
        if known and self._numbers:
            return Standing(*known, None)

        def look(connection: Connection) -> tuple[Standing, Numbers]:
            numbers = _read_numbers(connection)
            room = find_room(connection, room_id)
            session = sessions.find_open(connection, conversation_id=conversation.id)
            if session is None:
                return Standing(None, (), room), numbers
            known = self._history.recall(session.id)
            fresh = messages.list_session(
                connection,
                session_id=session.id,
                person_id=conversation.person_id,
                after=known[-1].id if known else START,
            )
            return Standing(session, (*known, *fresh), room), numbers

        standing, numbers = await self._database.read(look)
        self._numbers = self._numbers or numbers  # none was given before these were read
        if standing.session:
            self._history.keep(standing.session.id, standing.transcript)
        return standing

    def leave(self, conversation_id: ConversationId, standing: Standing) -> None:
        """Keep a talk at hand as its last turn left it: the next one need not read it."""
        if standing.session:
            self._history.leave(conversation_id, standing.session, standing.transcript)

    def forget_words(self) -> None:
        """Words were taken out of talks: all of them are read anew."""
        self._history.forget_words()

    def forget(self) -> None:
        """Something was done to talks beside the turns: what is at hand may not hold."""
        self._history.forget_talks()


def _read_numbers(connection: Connection) -> Numbers:
    return Numbers(turns.find_newest(connection), sessions.find_newest(connection))


def find_room(connection: Connection, room_id: RoomId | None) -> Room | None:
    """Where a talk is held; None for a direct one."""
    return None if room_id is None else rooms.find_by_id(connection, room_id=room_id)
