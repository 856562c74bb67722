"""Folds stand in the database as they were made, each under its session and its person."""

import sqlite3
from dataclasses import asdict, replace

import pytest

from agent_core.errors import StoreDamaged
from agent_core.ids import MessageId
from agent_core.state.conversations import compactions
from agent_core.state.conversations.compactions import NewCompaction
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn


def _compaction(made_after: int, **changes: object) -> NewCompaction:
    fields = {
        "turn_id": None,
        "made_after": MessageId(made_after),
        "shortened_to": MessageId(made_after),
        "summarized_to": MessageId(made_after - 2),
        "kept": (MessageId(1), MessageId(3)),
        "summary": "They spoke of Łódź.",
        "reason": "near",
        "tokens_before": 900,
        "tokens_after": 300,
        "created_at": 5,
    }
    return NewCompaction(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("left_out_from", [None, MessageId(4)])
def test_a_compaction_comes_back_as_it_was_written(
    connection: sqlite3.Connection, left_out_from: MessageId | None
) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    turn_id = add_turn(connection, dialogue)
    wanted = _compaction(9, turn_id=turn_id, left_out_from=left_out_from, reason="idle")
    wanted = replace(wanted, plan="1. [done] Go", found_tools="look()")
    mine = {"session_id": dialogue.session_id, "person_id": dialogue.person.id}

    written = compactions.insert(connection, wanted, **mine)

    assert asdict(written) == {**asdict(wanted), "id": written.id}
    assert compactions.list_of_session(connection, **mine) == [written]
    assert compactions.find_newest(connection, **mine) == written


def test_the_newest_compaction_is_the_one_written_last(connection: sqlite3.Connection) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    mine = {"session_id": dialogue.session_id, "person_id": dialogue.person.id}
    assert compactions.find_newest(connection, **mine) is None

    first = compactions.insert(connection, _compaction(9), **mine)
    second = compactions.insert(connection, _compaction(9, reason="overflow"), **mine)

    assert compactions.find_newest(connection, **mine) == second
    assert compactions.list_of_session(connection, **mine) == [first, second]


def test_nobody_else_sees_a_compaction_and_it_moves_with_its_session(
    connection: sqlite3.Connection,
) -> None:
    ann, bob = add_person(connection), add_person(connection, "bob")
    session_id = add_dialogue(connection, ann).session_id
    written = compactions.insert(
        connection, _compaction(9), session_id=session_id, person_id=ann.id
    )
    assert compactions.list_of_session(connection, session_id=session_id, person_id=bob.id) == []

    compactions.move(connection, session_ids=[session_id], person_id=bob.id)

    assert compactions.list_of_session(connection, session_id=session_id, person_id=ann.id) == []
    assert compactions.find_newest(connection, session_id=session_id, person_id=bob.id) == written


@pytest.mark.parametrize(
    "column",
    ["summary", "kept", "summarized_to", "made_after", "shortened_to", "left_out_from"],
)
def test_a_damaged_compaction_is_never_served(connection: sqlite3.Connection, column: str) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    mine = {"session_id": dialogue.session_id, "person_id": dialogue.person.id}
    compactions.insert(connection, _compaction(9), **mine)

    connection.execute(f"UPDATE compactions SET {column} = '12'")

    with pytest.raises(StoreDamaged):
        compactions.find_newest(connection, **mine)
