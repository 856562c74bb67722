"""Platform events: kept once, given to one turn, and done."""

import sqlite3

import pytest

from agent_core.ids import InboxId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn


def store(connection: Connection, *event_ids: str, platform: str = "telegram") -> list[InboxId]:
    events = [(event_id, f"payload of {event_id}") for event_id in event_ids]
    return [row.id for row in inbox.store(connection, platform=platform, events=events, now=7)]


def received(connection: Connection) -> list[str]:
    return [row.event_id for row in inbox.list_received(connection)]


@pytest.fixture
def turn_ids(connection: Connection) -> list[TurnId]:
    dialogue = add_dialogue(connection, add_person(connection))
    return [add_turn(connection, dialogue), add_turn(connection, dialogue)]


def test_events_come_back_in_the_order_in_which_they_came(connection: Connection) -> None:
    assert len(store(connection, "b", "a")) == 2
    store(connection, "c")
    rows = inbox.list_received(connection)
    assert [(row.platform, row.event_id, row.payload) for row in rows] == [
        ("telegram", "b", "payload of b"),
        ("telegram", "a", "payload of a"),
        ("telegram", "c", "payload of c"),
    ]


def test_an_event_that_comes_again_is_not_fresh(connection: Connection) -> None:
    (first,) = store(connection, "a")
    fresh = inbox.store(
        connection, platform="telegram", events=[("a", "other"), ("b", "b"), ("b", "b")], now=8
    )
    assert [(row.event_id, row.payload) for row in fresh] == [("b", "b")]
    assert inbox.list_received(connection)[0].payload == "payload of a"
    inbox.finish(connection, inbox_id=first)
    assert store(connection, "a") == [], "one that is done is not fresh either"


def test_the_same_id_of_another_platform_is_another_event(connection: Connection) -> None:
    store(connection, "a")
    assert len(store(connection, "a", platform="slack")) == 1
    assert received(connection) == ["a", "a"]


def test_an_event_belongs_to_the_turn_that_claimed_it_first(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    ids = store(connection, "a", "b", "c")
    inbox.claim(connection, inbox_ids=ids[:2], turn_id=turn_ids[0])
    inbox.claim(connection, inbox_ids=ids[1:], turn_id=turn_ids[1])
    assert received(connection) == []
    owners = connection.execute("SELECT turn_id FROM inbox ORDER BY id").fetchall()
    assert owners == [(turn_ids[0],), (turn_ids[0],), (turn_ids[1],)]


def test_what_a_turn_claims_that_is_over_already_is_done(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    one, other, waiting = store(connection, "a", "b", "c")
    inbox.claim(connection, inbox_ids=[one], turn_id=turn_ids[0])
    inbox.claim(connection, inbox_ids=[one, other], turn_id=turn_ids[1], is_over=True)
    rows = connection.execute("SELECT id, state, turn_id FROM inbox ORDER BY id").fetchall()
    assert rows == [
        (one, "claimed", turn_ids[0]),
        (other, "done", turn_ids[1]),
        (waiting, "received", None),
    ]


def test_a_turn_that_ends_finishes_its_own_events(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    one, other, waiting = store(connection, "a", "b", "c")
    inbox.claim(connection, inbox_ids=[one], turn_id=turn_ids[0])
    inbox.claim(connection, inbox_ids=[other], turn_id=turn_ids[1])
    inbox.finish_turn(connection, turn_id=turn_ids[0])
    states = dict(connection.execute("SELECT id, state FROM inbox").fetchall())
    assert states == {one: "done", other: "claimed", waiting: "received"}


def test_the_words_of_a_done_event_are_in_the_transcript_alone_except_on_the_page(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    one, other = store(connection, "a", "b")
    (page,) = store(connection, "c", platform="console")
    inbox.claim(connection, inbox_ids=[one, page], turn_id=turn_ids[0])
    inbox.finish_turn(connection, turn_id=turn_ids[0])
    inbox.claim(connection, inbox_ids=[other], turn_id=turn_ids[1], is_over=True)
    assert connection.execute("SELECT id FROM inbox WHERE payload <> ''").fetchall() == [(page,)]


def test_an_event_that_is_set_aside_is_kept_and_not_looked_at_again(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    (poison,) = store(connection, "a")
    assert inbox.count_dead(connection) == 0
    inbox.park(connection, inbox_id=poison, reason="no JSON")
    assert inbox.count_dead(connection) == 1
    assert received(connection) == []
    inbox.claim(connection, inbox_ids=[poison], turn_id=turn_ids[0])
    assert connection.execute("SELECT state, reason, payload FROM inbox").fetchall() == [
        ("dead", "no JSON", "payload of a")
    ]


def test_an_event_that_needs_no_turn_is_done_with_its_reason(connection: Connection) -> None:
    (one,) = store(connection, "a")
    inbox.finish(connection, inbox_id=one, reason="command")
    assert connection.execute("SELECT state, reason FROM inbox").fetchall() == [("done", "command")]


def test_a_platform_is_at_work_until_its_last_event_is_done(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    assert not inbox.has_open(connection, platform="telegram")
    ids = store(connection, "a")
    assert inbox.has_open(connection, platform="telegram")
    assert not inbox.has_open(connection, platform="slack")
    inbox.claim(connection, inbox_ids=ids, turn_id=turn_ids[0])
    assert inbox.has_open(connection, platform="telegram")
    inbox.finish_turn(connection, turn_id=turn_ids[0])
    assert not inbox.has_open(connection, platform="telegram")


def test_no_event_is_given_to_a_turn_that_is_not_there(connection: Connection) -> None:
    ids = store(connection, "a")
    with pytest.raises(sqlite3.IntegrityError):
        inbox.claim(connection, inbox_ids=ids, turn_id=TurnId(99))
