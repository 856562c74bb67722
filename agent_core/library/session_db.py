"""SessionDB: what one person and the assistant said, to list, read and search."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import MessageId, PersonId, SessionId, TurnId
from agent_core.memory.recall.message_search import search_messages
from agent_core.memory.recall.query import read_query
from agent_core.state.conversations import messages, session_list
from agent_core.state.conversations.session_list import ListedSession
from agent_core.state.engine.database import Connection, Database
from agent_core.state.search.search_scope import SearchFilter, scope_of_person
from agent_core.tools.clock import local_time
from agent_core.transcript import Message

_NO_TURN = TurnId(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWords:
    """A message that a search found. `said_at` is in milliseconds since the epoch, UTC."""

    message_id: MessageId
    session_id: SessionId
    role: str
    text: str
    said_at: int


class SessionDB:
    """The conversations of one person. Every method raises `StoreError`."""

    def __init__(self, database: Database, person_id: PersonId) -> None:
        self._database = database
        self._person_id = person_id

    async def list_sessions(self, limit: int = 20) -> Sequence[ListedSession]:
        """List the sessions that were used last, newest first."""
        return await self._database.read(
            session_list.list_newest, person_id=self._person_id, limit=limit
        )

    async def get_messages(self, session_id: SessionId) -> Sequence[Message]:
        """Return every message of a session, with tool calls and results; none of other people."""
        stored = await self._database.read(
            messages.list_session, session_id=session_id, person_id=self._person_id
        )
        return [one.message for one in stored]

    async def search_messages(self, query: str, limit: int = 10) -> Sequence[FoundWords]:
        """Search everything that was said, best first; see docs/memory.md."""

        def look(connection: Connection) -> list[FoundWords]:
            field = SearchFilter(
                person_id=self._person_id,
                scope=scope_of_person(self._person_id),
                except_turn=_NO_TURN,
            )
            found = search_messages(
                connection,
                field,
                read_query(query),
                limit=limit,
                clock=lambda moment: local_time(moment, "UTC"),
            )
            return [
                FoundWords(
                    message_id=hit.message.id,
                    session_id=hit.message.session_id,
                    role=hit.message.role,
                    text=hit.message.text,
                    said_at=hit.message.said_at,
                )
                for hit in found.hits
            ]

        return await self._database.read(look)
