"""The keys of conversations that stand beside others, and of helpers."""

import sqlite3

import pytest

from agent_core.ids import CallId, TurnId
from agent_core.state.conversations import delegated_turns, sessions
from agent_core.state.conversations.sessions import (
    Conversation,
    ConversationKind,
    name_conversation,
)
from tests.agent_core.state.rows import add_person


def ensure(
    connection: sqlite3.Connection, kind: ConversationKind, key: str, agent: str = ""
) -> Conversation:
    person_id = add_person(connection).id
    made = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key=key, kind=kind, agent=agent, person_id=person_id, is_direct=False
        ),
        now=0,
    )
    stored = sessions.find_conversation(connection, key=key, person_id=person_id)
    assert stored == made
    return made


ROOM = "room:telegram:-100:5:7"


@pytest.mark.parametrize(
    ("kind", "key", "agent", "base"),
    [
        ("room", ROOM, "", ROOM),
        ("room", name_conversation("coder", ROOM), "coder", ROOM),
        ("aside", f"aside:12:{name_conversation('coder', ROOM)}", "coder", ROOM),
        ("aside", "aside:12:direct:7", "", "direct:7"),
        ("room", "room:discord:agent:x:7", "", "room:discord:agent:x:7"),
        ("job", "job:3:7", "", "job:3:7"),
    ],
)
def test_an_agents_conversation_stands_beside_another(
    connection: sqlite3.Connection, kind: ConversationKind, key: str, agent: str, base: str
) -> None:
    made = ensure(connection, kind, key, agent)
    assert (made.kind, made.agent, made.base) == (kind, agent, base)


def test_the_key_of_a_helper_names_the_turn_that_asked(connection: sqlite3.Connection) -> None:
    turn_id, call_id = TurnId(4), CallId("x/coder:y")
    asked = ensure(
        connection, "helper", delegated_turns.name_helper(turn_id, call_id, 2, "coder"), "coder"
    )
    assert delegated_turns.read_parent(asked) == 4
    assert asked.base == asked.key
