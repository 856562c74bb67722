"""Conversations, sessions and frozen prompts."""

import sqlite3

import pytest

from agent_core.errors import StoreDamaged
from agent_core.ids import PromptHash, SessionId
from agent_core.state.conversations import sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Connection
from agent_core.state.people import rooms
from tests.agent_core.state.rows import PROMPT, add_dialogue, add_person


def ensure(connection: Connection, key: str, person_id: int, *, is_direct: bool) -> Conversation:
    return sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key=key,
            kind="direct" if is_direct else "room",
            person_id=person_id,
            is_direct=is_direct,
        ),
        now=0,
    )


def test_a_direct_conversation_may_find_all_of_its_person_and_a_room_only_itself(
    connection: Connection,
) -> None:
    ann = add_person(connection)
    direct = ensure(connection, "direct", ann.id, is_direct=True)
    room = ensure(connection, "room", ann.id, is_direct=False)
    assert (direct.scope, direct.is_private) == (f"p{ann.id}", True)
    assert (room.scope, room.is_private) == (f"c{room.id}", False)
    assert room.id != ann.id, "the two scopes must not look alike by chance"


def test_a_conversation_is_made_once_and_found_again(connection: Connection) -> None:
    ann = add_person(connection)
    made = ensure(connection, "key", ann.id, is_direct=False)
    assert ensure(connection, "key", ann.id, is_direct=True) == made
    assert sessions.find_conversation(connection, key="key", person_id=ann.id) == made
    assert sessions.get_conversation(connection, conversation_id=made.id, person_id=ann.id) == made
    assert sessions.find_conversation(connection, key="other", person_id=ann.id) is None


def test_nobody_is_given_the_conversation_of_another(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    made = ensure(connection, "key", ann.id, is_direct=True)
    assert sessions.find_conversation(connection, key="key", person_id=bob.id) is None
    with pytest.raises(sqlite3.IntegrityError):
        ensure(connection, "key", bob.id, is_direct=True)
    with pytest.raises(IndexError):
        sessions.get_conversation(connection, conversation_id=made.id, person_id=bob.id)


def test_what_a_room_shares_is_found_by_everyone_who_asks_there(connection: Connection) -> None:
    ann = add_person(connection)
    room = rooms.insert(connection, platform="p", chat_id="1", title="Den", slug="den", now=0)
    made = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key="room:p:1::all",
            kind="room",
            person_id=room.person_id,
            is_direct=False,
            room_id=room.id,
        ),
        now=0,
    )
    assert (made.room_id, made.is_private) == (room.id, False)
    assert sessions.get_conversation(connection, conversation_id=made.id, person_id=ann.id) == made
    session_id = sessions.insert(connection, conversation_id=made.id, now=0)
    owner_id = sessions.find_owner(connection, session_id=session_id, person_id=ann.id)
    assert owner_id == room.person_id


def test_whose_conversation_it_is_is_told_to_nobody_else(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    session_id = add_dialogue(connection, ann).session_id
    assert sessions.find_owner(connection, session_id=session_id, person_id=ann.id) == ann.id
    assert sessions.find_owner(connection, session_id=session_id, person_id=bob.id) is None


def test_a_conversation_from_before_rooms_were_known_learns_where_it_is_held(
    connection: Connection,
) -> None:
    ann = add_person(connection)
    made = ensure(connection, "room:p:1::1", ann.id, is_direct=False)
    room = rooms.insert(connection, platform="p", chat_id="1", title="Den", slug="den", now=0)
    moved = sessions.ensure_conversation(
        connection,
        sessions.NewConversation(
            key=made.key, kind="room", person_id=ann.id, is_direct=False, room_id=room.id
        ),
        now=0,
    )
    assert (moved.id, moved.scope, moved.room_id) == (made.id, made.scope, room.id)
    assert sessions.find_conversation(connection, key=made.key, person_id=ann.id) == moved


def test_a_conversation_has_one_open_session_until_it_is_ended(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    conversation_id = dialogue.conversation.id
    opened = sessions.find_open(connection, conversation_id=conversation_id)
    assert opened is not None
    assert (opened.id, opened.prompt_hash, opened.title) == (dialogue.session_id, None, "")
    sessions.end(connection, conversation_id=conversation_id, now=5)
    assert sessions.find_open(connection, conversation_id=conversation_id) is None
    later = sessions.insert(connection, conversation_id=conversation_id, now=6)
    reopened = sessions.find_open(connection, conversation_id=conversation_id)
    assert reopened is not None
    assert (reopened.id, reopened.started_at, reopened.last_at) == (later, 6, 6)


def test_ending_one_conversation_leaves_the_others(connection: Connection) -> None:
    person = add_person(connection)
    one, other = (
        add_dialogue(connection, person, key="one"),
        add_dialogue(connection, person, key="other"),
    )
    sessions.end(connection, conversation_id=one.conversation.id, now=5)
    still = sessions.find_open(connection, conversation_id=other.conversation.id)
    assert still is not None
    assert still.id == other.session_id


def test_a_session_remembers_its_prompt_its_last_use_and_its_title(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    sessions.insert_prompt(connection, prompt_hash=PROMPT, system="be kind", tools="[]", now=1)
    sessions.touch(connection, session_id=dialogue.session_id, prompt_hash=PROMPT, now=9)
    sessions.set_title(connection, session_id=dialogue.session_id, title="Plans")
    opened = sessions.find_open(connection, conversation_id=dialogue.conversation.id)
    assert opened is not None
    assert (opened.prompt_hash, opened.last_at, opened.title) == (PROMPT, 9, "Plans")


@pytest.mark.parametrize("column", ["system", "tools", "shown"])
def test_an_altered_prompt_is_refused_until_it_is_written_again(
    connection: Connection, column: str
) -> None:
    def store() -> None:
        sessions.insert_prompt(connection, prompt_hash=PROMPT, system="first", tools="[1]", now=1)

    store()
    connection.execute(f"UPDATE prompts SET {column} = {column} || ' '")
    with pytest.raises(StoreDamaged, match=f"prompt {PROMPT} is damaged"):
        sessions.get_prompt(connection, prompt_hash=PROMPT)
    store()
    assert sessions.get_prompt(connection, prompt_hash=PROMPT) == ("first", "[1]", "[]")


def test_a_session_can_not_name_a_prompt_that_is_not_kept(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    with pytest.raises(sqlite3.IntegrityError):
        sessions.touch(
            connection, session_id=dialogue.session_id, prompt_hash=PromptHash("none"), now=1
        )


def test_a_session_takes_the_number_that_it_was_promised(connection: Connection) -> None:
    assert sessions.find_newest(connection) == 0
    dialogue = add_dialogue(connection, add_person(connection))
    promised = SessionId(dialogue.session_id + 5)
    opened = sessions.insert(
        connection, conversation_id=dialogue.conversation.id, session_id=promised, now=1
    )
    assert opened == promised == sessions.find_newest(connection)
