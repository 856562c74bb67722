"""Queries over conversations, their sessions, and frozen prompts."""

from dataclasses import dataclass, replace

from agent_core.ids import AccountId, ConversationId, PersonId, PromptHash, RoomId, SessionId
from agent_core.state.engine.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An epoch of a conversation. `last_at` is when it was last used, in milliseconds."""

    id: SessionId
    prompt_hash: PromptHash | None
    title: str
    started_at: int
    last_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A stream of talk. `scope` is the search token of all it may find.

    `person_id` is whose transcript it is: a person, or a room whose people share one talk.
    `room_id` is where it is held, None for a direct talk.
    """

    id: ConversationId
    key: str
    person_id: PersonId
    scope: str
    room_id: RoomId | None = None

    @property
    def is_private(self) -> bool:
        """True if nobody but its person reads along."""
        return self.scope == f"p{self.person_id}"


_CONVERSATION = "id, key, person_id, scope, room_id"


def ensure_conversation(
    connection: Connection,
    *,
    key: str,
    person_id: PersonId,
    is_direct: bool,
    now: int,
    room_id: RoomId | None = None,
) -> Conversation:
    """The conversation of this key, made if it is new.

    A direct talk may find everything of its person; a room only what was said in it.
    """
    found = find_conversation(connection, key=key, person_id=person_id)
    if found and found.room_id == room_id:
        return found
    if found:
        return _move_into_room(connection, found, room_id)
    row = connection.execute(
        "INSERT INTO conversations (key, person_id, room_id, scope, created_at)"
        " VALUES (:key, :person_id, :room_id, '', :now) RETURNING id",
        {"key": key, "person_id": person_id, "room_id": room_id, "now": now},
    ).fetchone()
    conversation_id = ConversationId(row[0])
    scope = f"p{person_id}" if is_direct else f"c{conversation_id}"
    connection.execute(
        "UPDATE conversations SET scope = :scope WHERE id = :id",
        {"scope": scope, "id": conversation_id},
    )
    return Conversation(
        id=conversation_id, key=key, person_id=person_id, scope=scope, room_id=room_id
    )


def _move_into_room(
    connection: Connection, conversation: Conversation, room_id: RoomId | None
) -> Conversation:
    """A talk from before rooms were known learns where it is held."""
    connection.execute(
        "UPDATE conversations SET room_id = :room_id WHERE id = :id",
        {"room_id": room_id, "id": conversation.id},
    )
    return replace(conversation, room_id=room_id)


def find_conversation(
    connection: Connection, *, key: str, person_id: PersonId
) -> Conversation | None:
    """The conversation of this key, if it is this person's or room's."""
    row = connection.execute(
        f"SELECT {_CONVERSATION} FROM conversations WHERE key = :key AND person_id = :person_id",
        {"key": key, "person_id": person_id},
    ).fetchone()
    return _conversation(row) if row else None


def get_conversation(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId
) -> Conversation:
    """The conversation of this id; it must be this person's, or one that a room shares."""
    row = connection.execute(
        f"SELECT {_CONVERSATION} FROM conversations WHERE id = :conversation_id AND (person_id ="
        " :person_id OR person_id IN (SELECT id FROM people WHERE id = conversations.person_id"
        " AND kind = 'room'))",
        {"conversation_id": conversation_id, "person_id": person_id},
    ).fetchone()
    return _conversation(row)


def find_owner(
    connection: Connection, *, session_id: SessionId, person_id: PersonId
) -> PersonId | None:
    """Whose talk a session is part of: this person's, or a room's; None if somebody else's."""
    row = connection.execute(
        "SELECT people.id FROM sessions JOIN conversations"
        " ON conversations.id = sessions.conversation_id JOIN people"
        " ON people.id = conversations.person_id WHERE sessions.id = :session_id"
        " AND (people.id = :person_id OR people.kind = 'room')",
        {"session_id": session_id, "person_id": person_id},
    ).fetchone()
    return PersonId(row[0]) if row else None


def _conversation(row: tuple[int, str, int, str, int | None]) -> Conversation:
    return Conversation(
        id=ConversationId(row[0]),
        key=row[1],
        person_id=PersonId(row[2]),
        scope=row[3],
        room_id=None if row[4] is None else RoomId(row[4]),
    )


def find_open(connection: Connection, *, conversation_id: ConversationId) -> Session | None:
    """The session that a conversation is in, if one is open."""
    row = connection.execute(
        "SELECT id, prompt_hash, title, started_at, last_at FROM sessions"
        " WHERE conversation_id = :conversation_id AND ended_at IS NULL ORDER BY id DESC LIMIT 1",
        {"conversation_id": conversation_id},
    ).fetchone()
    if row is None:
        return None
    return Session(
        id=SessionId(row[0]),
        prompt_hash=PromptHash(row[1]) if row[1] else None,
        title=row[2],
        started_at=row[3],
        last_at=row[4],
    )


def insert(
    connection: Connection,
    *,
    conversation_id: ConversationId,
    session_id: SessionId | None = None,
    account_id: AccountId | None = None,
    now: int,
) -> SessionId:
    """Open a session, begun by an account; with the number that it was promised, if any."""
    row = connection.execute(
        "INSERT INTO sessions (id, conversation_id, account_id, started_at, last_at)"
        " VALUES (:id, :conversation_id, :account_id, :now, :now) RETURNING id",
        {
            "id": session_id,
            "conversation_id": conversation_id,
            "account_id": account_id,
            "now": now,
        },
    ).fetchone()
    return SessionId(row[0])


def find_newest(connection: Connection) -> SessionId:
    """The number of the newest session of all; 0 before the first."""
    row = connection.execute("SELECT MAX(id) FROM sessions").fetchone()
    return SessionId(row[0] or 0)


def end(connection: Connection, *, conversation_id: ConversationId, now: int) -> None:
    """Close whatever session is open; the next turn starts a new one."""
    connection.execute(
        "UPDATE sessions SET ended_at = :now"
        " WHERE conversation_id = :conversation_id AND ended_at IS NULL",
        {"conversation_id": conversation_id, "now": now},
    )


def touch(
    connection: Connection, *, session_id: SessionId, prompt_hash: PromptHash, now: int
) -> None:
    """Note that a session was used now, with this frozen prompt."""
    connection.execute(
        "UPDATE sessions SET prompt_hash = :prompt_hash, last_at = :now WHERE id = :session_id",
        {"session_id": session_id, "prompt_hash": prompt_hash, "now": now},
    )


def use(connection: Connection, *, session_id: SessionId, now: int) -> None:
    """Note that a session was used now, with the frozen prompt that it has."""
    connection.execute(
        "UPDATE sessions SET last_at = :now WHERE id = :session_id",
        {"session_id": session_id, "now": now},
    )


def set_title(connection: Connection, *, session_id: SessionId, title: str) -> None:
    """Name a session."""
    connection.execute(
        "UPDATE sessions SET title = :title WHERE id = :session_id",
        {"session_id": session_id, "title": title},
    )


def insert_prompt(
    connection: Connection,
    *,
    prompt_hash: PromptHash,
    system: str,
    tools: str,
    now: int,
    shown: str = "[]",
) -> None:
    """Keep a frozen prompt; one that is known already stays, unless its words were taken out.

    `shown` (JSON) is what of memories it shows; the same text shows the same.
    """
    connection.execute(
        "INSERT INTO prompts (hash, system, tools, shown, created_at)"
        " VALUES (:hash, :system, :tools, :shown, :now) ON CONFLICT (hash) DO UPDATE SET"
        " system = excluded.system, tools = excluded.tools, shown = excluded.shown"
        " WHERE prompts.system = ''",
        {"hash": prompt_hash, "system": system, "tools": tools, "shown": shown, "now": now},
    )


def get_prompt(connection: Connection, *, prompt_hash: PromptHash) -> tuple[str, str, str]:
    """The system text, the tools (JSON) and what is shown (JSON) of a frozen prompt."""
    row = connection.execute(
        "SELECT system, tools, shown FROM prompts WHERE hash = :hash", {"hash": prompt_hash}
    ).fetchone()
    return row[0], row[1], row[2]
