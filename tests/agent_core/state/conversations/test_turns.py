"""Turns and the tool calls in them."""

import sqlite3

import pytest

from agent_core.chats import Chat, Place
from agent_core.ids import CallId, TurnId
from agent_core.models.catalog import bill
from agent_core.models.contract import Usage
from agent_core.state.conversations import turns, usage
from agent_core.state.conversations.turns import Step, TurnRequest
from agent_core.state.engine.database import Connection
from agent_core.transcript import make_source
from tests.agent_core.state.rows import PROMPT, ROOM, add_dialogue, add_person, add_turn
from tests.fakes.model import finish

ONE, TWO = CallId("one"), CallId("two")


def end(connection: Connection, turn_id: TurnId, state: str = "answered") -> None:
    turns.end(connection, turn_id=turn_id, state=state, reason="why", now=9)


def test_a_turn_is_running_until_it_ends(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    first, second = (add_turn(connection, dialogue, now=number) for number in (1, 2))
    assert [turn.id for turn in turns.list_running(connection)] == [first, second]
    end(connection, first)
    assert [turn.id for turn in turns.list_running(connection)] == [second]
    turn = turns.find(connection, turn_id=first)
    assert turn is not None
    assert (turn.state, turn.reason, turn.started_at, turn.ended_at) == ("answered", "why", 1, 9)
    assert turn.place == Place(chat=Chat(platform="telegram", address=ROOM))
    assert (turn.prompt_hash, turn.session_id) == (PROMPT, dialogue.session_id)
    assert turns.find(connection, turn_id=TurnId(99)) is None


def test_a_turn_ends_in_a_state_that_is_known(connection: Connection) -> None:
    turn_id = add_turn(connection, add_dialogue(connection, add_person(connection)))
    for state in ("answered", "stopped", "refused", "exhausted", "failed"):
        end(connection, turn_id, state)
    with pytest.raises(sqlite3.IntegrityError):
        end(connection, turn_id, "forgotten")


def test_the_latest_turn_is_the_one_of_this_conversation_and_person(
    connection: Connection,
) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    dialogue, room = (
        add_dialogue(connection, ann),
        add_dialogue(connection, ann, key="room", room=True),
    )
    add_turn(connection, dialogue)
    newest = add_turn(connection, dialogue)
    add_turn(connection, room)
    latest = turns.find_latest(
        connection, conversation_id=dialogue.conversation.id, person_id=ann.id
    )
    assert latest is not None
    assert latest.id == newest
    assert (
        turns.find_latest(connection, conversation_id=dialogue.conversation.id, person_id=bob.id)
        is None
    )


def test_recent_turns_come_newest_first_up_to_the_limit(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    ids = [add_turn(connection, dialogue) for _ in range(4)]
    assert [turn.id for turn in turns.list_recent(connection, limit=3)] == ids[:0:-1]


def test_each_attempt_is_counted(connection: Connection) -> None:
    turn_id = add_turn(connection, add_dialogue(connection, add_person(connection)))
    assert [turns.count_attempt(connection, turn_id=turn_id) for _ in range(2)] == [2, 3]


def test_a_call_stands_before_it_runs_and_its_outcome_after(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    turn_id, other = add_turn(connection, dialogue), add_turn(connection, dialogue)
    calls = [(ONE, "memory", "idempotent"), (TWO, "recall", "read")]
    turns.begin_steps(connection, turn_id=turn_id, calls=calls, now=1)
    turns.begin_steps(connection, turn_id=other, calls=[(ONE, "memory", "read")], now=1)
    found = Step(
        call_id=TWO,
        name="recall",
        outcome="found",
        is_error=True,
        sources=(make_source("fetched", "https://a.example"),),
    )
    turns.end_step(connection, turn_id=turn_id, step=found, now=2)
    steps = turns.list_steps(connection, turn_id=turn_id)
    assert steps == [Step(call_id=ONE, name="memory", outcome=None, is_error=False), found]
    assert [step.outcome for step in turns.list_steps(connection, turn_id=other)] == [None]


def test_a_call_that_is_noted_twice_keeps_its_outcome(connection: Connection) -> None:
    turn_id = add_turn(connection, add_dialogue(connection, add_person(connection)))
    for _ in range(2):
        turns.begin_steps(connection, turn_id=turn_id, calls=[(ONE, "memory", "read")], now=1)
        done = Step(call_id=ONE, name="memory", outcome="done", is_error=False)
        turns.end_step(connection, turn_id=turn_id, step=done, now=2)
    turns.begin_steps(connection, turn_id=turn_id, calls=[(ONE, "memory", "read")], now=3)
    assert [step.outcome for step in turns.list_steps(connection, turn_id=turn_id)] == ["done"]


def test_an_effect_is_one_of_three(connection: Connection) -> None:
    turn_id = add_turn(connection, add_dialogue(connection, add_person(connection)))
    with pytest.raises(sqlite3.IntegrityError):
        turns.begin_steps(connection, turn_id=turn_id, calls=[(ONE, "shell", "harmless")], now=1)


def test_a_turn_takes_the_number_that_it_was_promised(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    assert turns.find_newest(connection) == 0
    first = add_turn(connection, dialogue)
    asked = TurnRequest(
        person_id=dialogue.person.id,
        account_id=None,
        place=Place(chat=Chat(platform="p", address="c")),
        turn_id=TurnId(first + 5),
    )
    promised = turns.insert(
        connection,
        conversation=dialogue.conversation,
        session_id=dialogue.session_id,
        request=asked,
        prompt_hash=PROMPT,
        now=1,
    )
    assert promised == turns.find_newest(connection) == first + 5
    assert turns.exists(connection, turn_id=promised)
    assert not turns.exists(connection, turn_id=TurnId(first + 1))


def test_a_turn_inserted_with_its_ending_is_one_that_ended_later(connection: Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    running = add_turn(connection, dialogue, now=3)
    for model, purpose in (("old", "turn"), ("m", "turn"), ("mini", "compaction")):
        answer = bill(finish(model=model, usage=Usage()), purpose)
        person_id = dialogue.person.id
        usage.insert(connection, answer, person_id=person_id, turn_id=running, now=4)
    end(connection, running)
    asked = TurnRequest(
        person_id=dialogue.person.id,
        account_id=None,
        place=Place(chat=Chat(platform="telegram", address=ROOM)),
        turn_id=TurnId(running + 1),
        ending=("answered", "why", "m", 9),
    )
    ended = turns.insert(
        connection,
        conversation=dialogue.conversation,
        session_id=dialogue.session_id,
        request=asked,
        prompt_hash=PROMPT,
        now=3,
    )
    rows = connection.execute(
        "SELECT * FROM turns WHERE id IN (?, ?) ORDER BY id", (running, ended)
    ).fetchall()
    assert rows[0][1:] == rows[1][1:]
    assert turns.list_running(connection) == []
