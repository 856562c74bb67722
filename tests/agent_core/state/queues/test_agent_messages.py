"""Messages between agents: stored once, without words, and found again with their chain."""

import json
import sqlite3
from dataclasses import replace

from agent_core.ids import CallId, PersonId, TurnId
from agent_core.state.conversations import delegated_turns, messages, turns
from agent_core.state.people import people
from agent_core.state.queues import agent_messages, inbox
from agent_core.state.queues.agent_messages import AGENT_EVENTS, AgentMessage
from agent_core.transcript import Message, ToolCallPart
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn


def compose(turn_id: TurnId, person_id: PersonId) -> AgentMessage:
    return AgentMessage(
        turn_id=turn_id,
        call_id=CallId("call-1"),
        agent="coder",
        chain=("", "writer"),
        base=f"direct:{person_id}",
        owner_id=person_id,
        person_id=person_id,
        is_private=True,
        room_id=None,
        is_tainted=False,
    )


def test_a_message_is_stored_once_and_its_words_are_those_of_the_call(
    connection: sqlite3.Connection,
) -> None:
    person = add_person(connection)
    person_id = person.id
    dialogue = add_dialogue(connection, person)
    turn_id = add_turn(connection, dialogue)
    message = compose(turn_id, person_id)
    arguments = json.dumps({"mode": "tell", "to": "coder", "text": "plums"})
    call = ToolCallPart(call_id=CallId("call-1"), name="message_agent", arguments=arguments)
    messages.append(
        connection, dialogue.shelf(turn_id), [Message(role="assistant", parts=(call,))], now=5
    )
    assert agent_messages.send(connection, message, now=5)
    assert not agent_messages.send(connection, message, now=6)
    assert agent_messages.count_of_turn(connection, turn_id=turn_id) == 1
    (row,) = inbox.list_received(connection)
    assert row.platform == AGENT_EVENTS
    assert "plums" not in row.payload
    assert agent_messages.read(row.payload) == message
    assert agent_messages.find_call(connection, message=message, person_id=person_id) == call
    other = replace(message, call_id=CallId("call-2"))
    assert agent_messages.find_call(connection, message=other, person_id=person_id) is None
    stranger = add_person(connection, "ben").id
    assert agent_messages.find_call(connection, message=message, person_id=stranger) is None


def test_the_chain_is_known_as_long_as_the_turn_of_the_recipient_runs(
    connection: sqlite3.Connection,
) -> None:
    person = add_person(connection)
    dialogue = add_dialogue(connection, person)
    sender, recipient = add_turn(connection, dialogue), add_turn(connection, dialogue)
    agent_messages.send(connection, compose(sender, person.id), now=5)
    (row,) = inbox.list_received(connection)
    assert agent_messages.find_chain(connection, turn_id=recipient) == ()
    inbox.claim(connection, inbox_ids=[row.id], turn_id=recipient)
    assert agent_messages.find_chain(connection, turn_id=recipient) == ("", "writer")


def test_the_end_of_a_turn_stops_its_helpers_and_theirs(connection: sqlite3.Connection) -> None:
    person = add_person(connection)
    first = add_turn(connection, add_dialogue(connection, person))

    def add_helper(of: TurnId) -> TurnId:
        key = delegated_turns.name_helper(of, CallId("c"), 1, "coder")
        return add_turn(connection, add_dialogue(connection, person, key=key, kind="helper"))

    second = add_helper(first)
    third = add_helper(second)
    delegated_turns.stop_all(connection, turn_id=first, now=9)
    found = [turns.find(connection, turn_id=turn_id) for turn_id in (first, second, third)]
    assert [turn.state for turn in found if turn] == ["running", "stopped", "stopped"]


def test_a_person_is_bound_to_an_agent_until_they_choose_another(
    connection: sqlite3.Connection,
) -> None:
    person_id = add_person(connection).id
    people.bind_agent(connection, person_id=person_id, agent="coder")
    found = people.find(connection, person_id=person_id)
    assert found
    assert found.agent == "coder"
