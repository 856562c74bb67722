"""Queries over conversations, their sessions, and frozen prompts.

A named agent has its own conversation beside each conversation of a person or a room. The key of
its conversation holds the agent's name and the other conversation's key. Both conversations belong
to the same person or room.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from agent_core.errors import StoreDamaged
from agent_core.ids import (
    AccountId,
    ConversationId,
    MessageId,
    PersonId,
    PromptHash,
    RoomId,
    SessionId,
    TurnId,
)
from agent_core.state.conversations.plans import Plan, read_plan
from agent_core.state.engine.connection import checksum, read_all, read_one
from agent_core.state.engine.database import Connection
from agent_core.state.search.search_scope import scope_of_conversation, scope_of_person


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A part of a conversation with one frozen prompt. `last_at` is its last use, in
    milliseconds.
    """

    id: SessionId
    prompt_hash: PromptHash | None
    title: str
    started_at: int
    last_at: int
    plan: Plan = ()


ConversationKind = Literal[
    "direct",
    "room",
    "program",
    "fork",
    "client",
    "job",
    "aside",
    "housekeeping",
    "helper",
    "task",
    "erased",
]
"""The reason for a conversation: a person's talk with the assistant (`direct`), a chat of several
people, a program or page, a fork of another conversation, calls of an MCP client, a job's runs, a
side question, or a program's own chores, such as a title (`housekeeping`). A `helper` works within
a call, a `task` in the background; see `delegated_turns`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation. `scope` is what its searches may find; see `search_scope`.

    `key` is its unique name. `agent` is the named agent that answers or works in it, "" for the
    assistant itself; a side question belongs to the agent that it was put to. `person_id` owns the
    transcript: a person, or a room with one conversation for all. `room_id` is its room, None for a
    direct chat.
    """

    id: ConversationId
    key: str
    kind: ConversationKind
    person_id: PersonId
    scope: str
    agent: str = ""
    room_id: RoomId | None = None
    removed_at: int | None = None
    """When its person removed the conversation, in milliseconds; a removed one can be restored."""

    @property
    def is_private(self) -> bool:
        """True if only its person reads it."""
        return self.scope == scope_of_person(self.person_id)

    @property
    def is_helper(self) -> bool:
        """True for the conversation of one helper; nobody reads or searches it."""
        return self.kind in ("helper", "task")

    @property
    def is_searchable(self) -> bool:
        """True if a search by its person finds its messages."""
        return not self.is_helper and self.kind != "housekeeping" and self.removed_at is None

    @property
    def base(self) -> str:
        """The key beside which the conversations of agents and of side questions stand."""
        key = self.key.split(":", 2)[2] if self.kind == "aside" else self.key
        return key.removeprefix(name_conversation(self.agent, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConversation:
    """A conversation to make; see `Conversation`. A direct one is private to its person."""

    key: str
    kind: ConversationKind
    person_id: PersonId
    is_direct: bool
    agent: str = ""
    room_id: RoomId | None = None


END = MessageId(2**63 - 1)
"""The position after every message."""
_SESSION = "id, prompt_hash, title, started_at, last_at, plan"
_CONVERSATION = "id, key, kind, agent, person_id, scope, room_id, removed_at"


def name_conversation(agent: str, key: str) -> str:
    """Return the key of an agent's conversation beside another one; "" is the assistant itself."""
    return f"agent:{agent}:{key}" if agent else key


def name_direct(person_id: PersonId) -> str:
    """Return the key of a person's direct conversation."""
    return f"direct:{person_id}"


def ensure_conversation(connection: Connection, new: NewConversation, *, now: int) -> Conversation:
    """Return the conversation of this key; create it if needed.

    A direct conversation may find everything of its person, a room only its own messages.
    """
    found = find_conversation(connection, key=new.key, person_id=new.person_id)
    if found and found.room_id == new.room_id:
        return found
    if found:
        return _move_into_room(connection, found, new.room_id)
    row = connection.execute(
        "INSERT INTO conversations (key, kind, agent, person_id, room_id, scope, created_at)"
        " VALUES (:key, :kind, :agent, :person_id, :room_id, '', :now) RETURNING id",
        asdict(new) | {"now": now},
    ).fetchone()
    conversation_id = ConversationId(row[0])
    scope = (
        scope_of_person(new.person_id) if new.is_direct else scope_of_conversation(conversation_id)
    )
    connection.execute(
        "UPDATE conversations SET scope = :scope WHERE id = :id",
        {"scope": scope, "id": conversation_id},
    )
    return Conversation(
        id=conversation_id,
        key=new.key,
        kind=new.kind,
        agent=new.agent,
        person_id=new.person_id,
        scope=scope,
        room_id=new.room_id,
    )


def _move_into_room(
    connection: Connection, conversation: Conversation, room_id: RoomId | None
) -> Conversation:
    """Record the room of a conversation that was made before the rooms table existed."""
    connection.execute(
        "UPDATE conversations SET room_id = :room_id WHERE id = :id",
        {"room_id": room_id, "id": conversation.id},
    )
    return replace(conversation, room_id=room_id)


def find_conversation(
    connection: Connection, *, key: str, person_id: PersonId
) -> Conversation | None:
    """Return the conversation of this key, if it belongs to this person or room."""
    found = connection.execute(
        f"SELECT {_CONVERSATION} FROM conversations WHERE key = :key AND person_id = :person_id",
        {"key": key, "person_id": person_id},
    )
    return read_one(Conversation, found)


def get_conversation(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId
) -> Conversation:
    """Return the conversation of this id; it must belong to this person, or to a room."""
    rows = connection.execute(
        f"SELECT {_CONVERSATION} FROM conversations WHERE id = :conversation_id AND (person_id ="
        " :person_id OR person_id IN (SELECT id FROM people WHERE id = conversations.person_id"
        " AND kind = 'room'))",
        {"conversation_id": conversation_id, "person_id": person_id},
    )
    return read_all(Conversation, rows)[0]


def find_owner(
    connection: Connection, *, session_id: SessionId, person_id: PersonId
) -> PersonId | None:
    """Return the owner of a session's conversation if it is this person or a room; else None."""
    row = connection.execute(
        "SELECT people.id FROM sessions JOIN conversations"
        " ON conversations.id = sessions.conversation_id JOIN people"
        " ON people.id = conversations.person_id WHERE sessions.id = :session_id"
        " AND (people.id = :person_id OR people.kind = 'room')",
        {"session_id": session_id, "person_id": person_id},
    ).fetchone()
    return PersonId(row[0]) if row else None


def find_open(connection: Connection, *, conversation_id: ConversationId) -> Session | None:
    """Return the open session of a conversation, if any."""
    found = connection.execute(
        f"SELECT {_SESSION} FROM sessions"
        " WHERE conversation_id = :conversation_id AND ended_at IS NULL ORDER BY id DESC LIMIT 1",
        {"conversation_id": conversation_id},
    )
    return read_one(Session, found, plan=_read_plan)


def insert(
    connection: Connection,
    *,
    conversation_id: ConversationId,
    session_id: SessionId | None = None,
    account_id: AccountId | None = None,
    now: int,
) -> SessionId:
    """Open a session that an account started; use its reserved id, if there is one."""
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


def list_lineage(
    connection: Connection, *, session_id: SessionId
) -> list[tuple[SessionId, MessageId]]:
    """List a session and the sessions that it branched from, oldest first.

    Each comes with the position of the last of its messages that the session shows.
    """
    found = [(session_id, END)]
    while row := connection.execute(
        "SELECT branched_from, branched_at FROM sessions"
        " WHERE id = :session_id AND branched_from IS NOT NULL",
        {"session_id": found[-1][0]},
    ).fetchone():
        found.append((SessionId(row[0]), MessageId(row[1])))
    return found[::-1]


def find_newest(connection: Connection) -> SessionId:
    """Return the id of the newest session of all; 0 if there is none."""
    row = connection.execute("SELECT MAX(id) FROM sessions").fetchone()
    return SessionId(row[0] or 0)


def end(connection: Connection, *, conversation_id: ConversationId, now: int) -> None:
    """Close the open session; the next turn starts a new one."""
    connection.execute(
        "UPDATE sessions SET ended_at = :now"
        " WHERE conversation_id = :conversation_id AND ended_at IS NULL",
        {"conversation_id": conversation_id, "now": now},
    )


def touch(
    connection: Connection, *, session_id: SessionId, prompt_hash: PromptHash, now: int
) -> None:
    """Record that a session is used now, with this frozen prompt."""
    connection.execute(
        "UPDATE sessions SET prompt_hash = :prompt_hash, last_at = :now WHERE id = :session_id",
        {"session_id": session_id, "prompt_hash": prompt_hash, "now": now},
    )


def use(connection: Connection, *, session_id: SessionId, now: int) -> Session | None:
    """Record that a session is used now, with its present frozen prompt.

    Returns it; None if it is closed.
    """
    found = connection.execute(
        f"UPDATE sessions SET last_at = :now WHERE id = :session_id RETURNING {_SESSION}, ended_at",
        {"session_id": session_id, "now": now},
    )
    return read_one(_read_open, found, plan=_read_plan)


def _read_plan(stored: str) -> Plan:
    return read_plan(stored) if stored else ()


def _read_open(ended_at: int | None, **fields: Any) -> Session | None:
    return Session(**fields) if ended_at is None else None


def has_used_skills(
    connection: Connection, *, conversation_id: ConversationId, person_id: PersonId, turn_id: TurnId
) -> bool:
    """Return whether a turn, or the person's previous turn in the conversation, used a skill."""
    row = connection.execute(
        "SELECT 1 FROM skill_uses WHERE turn_id IN (:turn_id, (SELECT MAX(id) FROM turns"
        " WHERE conversation_id = :conversation_id AND person_id = :person_id AND id < :turn_id))"
        " LIMIT 1",
        {"conversation_id": conversation_id, "person_id": person_id, "turn_id": turn_id},
    ).fetchone()
    return row is not None


def set_title(connection: Connection, *, session_id: SessionId, title: str) -> None:
    """Set the title of a session."""
    connection.execute(
        "UPDATE sessions SET title = :title WHERE id = :session_id",
        {"session_id": session_id, "title": title},
    )


def set_first_title(connection: Connection, *, session_id: SessionId, title: str) -> None:
    """Set the title of a session that has none; one that a person gave stays."""
    connection.execute(
        "UPDATE sessions SET title = :title WHERE id = :session_id AND title = ''",
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
    """Store a frozen prompt.

    A row with this hash but another content is damaged or redacted, and is written again. `shown`
    (JSON) lists the memory entries in the prompt; equal texts have equal lists.
    """
    connection.execute(
        "INSERT INTO prompts (hash, system, tools, shown, created_at, checksum)"
        " VALUES (:hash, :system, :tools, :shown, :now, :checksum) ON CONFLICT (hash) DO UPDATE SET"
        " system = excluded.system, tools = excluded.tools, shown = excluded.shown,"
        " checksum = excluded.checksum"
        " WHERE (prompts.system, prompts.tools, prompts.shown, prompts.checksum)"
        " <> (excluded.system, excluded.tools, excluded.shown, excluded.checksum)",
        {
            "hash": prompt_hash,
            "system": system,
            "tools": tools,
            "shown": shown,
            "now": now,
            "checksum": checksum(system, tools, shown),
        },
    )


def find_newest_prompt(connection: Connection) -> PromptHash | None:
    """Return the prompt that a direct conversation used last; None if there is none."""
    row = connection.execute(
        "SELECT prompt_hash FROM sessions JOIN conversations"
        " ON conversations.id = sessions.conversation_id"
        " WHERE kind = 'direct' AND prompt_hash IS NOT NULL ORDER BY last_at DESC LIMIT 1"
    ).fetchone()
    return PromptHash(row[0]) if row else None


def get_prompt(connection: Connection, *, prompt_hash: PromptHash) -> tuple[str, str, str]:
    """Return the system text, the tools (JSON) and the shown entries (JSON) of a frozen prompt.

    They are empty if it was redacted. Raises `StoreDamaged` if the row was altered.
    """
    *texts, expected = connection.execute(
        "SELECT system, tools, shown, checksum FROM prompts WHERE hash = :hash",
        {"hash": prompt_hash},
    ).fetchone()
    if checksum(*texts) != expected:
        raise StoreDamaged(f"prompt {prompt_hash} is damaged; restore a backup")
    system, tools, shown = texts
    return system, tools, shown
