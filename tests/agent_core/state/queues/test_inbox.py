"""Platform events: kept once, given to one turn, and done."""

import sqlite3
from dataclasses import replace

import pytest

from agent_core.ids import InboxId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox
from agent_core.state.queues.inbox import InboxProgress, InboxRow
from tests.agent_core.state.rows import ROOM, Dialogue, add_dialogue, add_person, add_turn

STATES = ("received", "claimed", "done", "dead")


def store(
    connection: Connection, *event_ids: str, platform: str = "telegram", now: int = 7
) -> list[InboxRow]:
    events = [(event_id, f"payload of {event_id}") for event_id in event_ids]
    return inbox.store(connection, platform=platform, events=events, now=now)


def look(connection: Connection, columns: str = "event_id, state, turn_id") -> list[object]:
    return connection.execute(f"SELECT {columns} FROM inbox ORDER BY id").fetchall()


@pytest.fixture
def dialogue(connection: Connection) -> Dialogue:
    return add_dialogue(connection, add_person(connection))


@pytest.fixture
def turn_ids(connection: Connection, dialogue: Dialogue) -> list[TurnId]:
    other = add_dialogue(connection, add_person(connection, "bob"))
    return [add_turn(connection, dialogue), add_turn(connection, other)]


@pytest.fixture
def ids(connection: Connection, turn_ids: list[TurnId]) -> dict[str, InboxId]:
    """An event in each state, named after it; two belong to the first turn."""
    ids = {row.event_id: row.id for row in store(connection, *STATES)}
    inbox.claim(connection, inbox_ids=[ids["claimed"]], turn_id=turn_ids[0])
    inbox.claim(connection, inbox_ids=[ids["done"]], turn_id=turn_ids[0], is_over=True)
    inbox.park(connection, inbox_id=ids["dead"], reason="no JSON")
    return ids


def test_events_come_back_in_the_order_in_which_they_came(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    rows = [*store(connection, "b", "a"), *store(connection, "c")]
    expected = [("telegram", event_id, f"payload of {event_id}") for event_id in "bac"]
    assert [(row.platform, row.event_id, row.payload) for row in rows] == expected
    assert inbox.list_received(connection) == rows
    ids = [row.id for row in reversed(rows)]
    assert inbox.find_received(connection, inbox_ids=ids) == rows
    inbox.claim(connection, inbox_ids=ids, turn_id=turn_ids[0])
    assert inbox.list_claimed(connection, turn_id=turn_ids[0]) == rows
    assert inbox.list_claimed(connection, turn_id=turn_ids[1]) == []


def test_an_event_that_comes_again_is_not_fresh(connection: Connection) -> None:
    events = [("a", "other"), ("b", "b"), ("b", "b")]
    (first,) = store(connection, "a")
    (fresh,) = inbox.store(connection, platform="telegram", events=events, now=8)
    assert (fresh.event_id, fresh.payload) == ("b", "b")
    assert inbox.list_received(connection) == [first, fresh]
    inbox.finish(connection, inbox_id=first.id)
    assert store(connection, "a") == [], "one that is done is not fresh either"


def test_the_same_id_of_another_platform_is_another_event(connection: Connection) -> None:
    rows = [*store(connection, "a"), *store(connection, "a", platform="slack")]
    assert inbox.list_received(connection) == rows
    assert inbox.find_event(connection, platform="slack", event_id="a") == rows[1]
    inbox.finish(connection, inbox_id=rows[1].id)
    inbox.drop_used(connection, platform="slack", event_id="a")
    assert inbox.list_received(connection) == rows[:1]


def test_only_a_received_event_waits(connection: Connection, ids: dict[str, InboxId]) -> None:
    (row,) = inbox.list_received(connection)
    assert row.event_id == "received"
    assert inbox.find_received(connection, inbox_ids=list(ids.values())) == [row]
    found = [inbox.find_event(connection, platform="telegram", event_id=one) for one in STATES]
    assert found == [row, None, None, None]


def test_progress_names_the_turn_with_its_chat_and_person(
    connection: Connection, ids: dict[str, InboxId], dialogue: Dialogue, turn_ids: list[TurnId]
) -> None:
    def of(event_id: str, platform: str = "telegram") -> InboxProgress | None:
        return inbox.find_progress(connection, platform=platform, event_id=event_id)

    person_id = dialogue.person.id
    turn = InboxProgress(is_over=False, turn_id=turn_ids[0], chat=ROOM, person_id=person_id)
    none = InboxProgress(is_over=False, turn_id=None, chat=None, person_id=None)
    over = [replace(turn, is_over=True), replace(none, is_over=True)]
    assert [of(one) for one in STATES] == [none, turn, *over]
    assert of("unknown") is of("done", "slack") is None


def test_only_a_processed_event_is_dropped(connection: Connection, ids: dict[str, InboxId]) -> None:
    for event_id in ids:
        inbox.drop_used(connection, platform="slack", event_id=event_id)
    assert look(connection, "event_id") == [(one,) for one in STATES]
    for event_id in ids:
        inbox.drop_used(connection, platform="telegram", event_id=event_id)
    assert look(connection, "event_id") == [("received",)]


def test_an_event_belongs_to_the_turn_that_claimed_it_first(
    connection: Connection, ids: dict[str, InboxId], turn_ids: list[TurnId]
) -> None:
    first, second = turn_ids
    inbox.claim(connection, inbox_ids=list(ids.values()), turn_id=second)
    expected = [
        ("received", "claimed", second),
        ("claimed", "claimed", first),
        ("done", "done", first),
        ("dead", "dead", None),
    ]
    assert look(connection) == expected
    inbox.finish_turn(connection, turn_id=first)
    assert look(connection) == [expected[0], ("claimed", "done", first), *expected[2:]]


def test_the_words_of_a_done_event_are_in_the_transcript_alone_except_on_the_page(
    connection: Connection, ids: dict[str, InboxId], turn_ids: list[TurnId]
) -> None:
    (page,) = store(connection, "page", platform="console")
    inbox.claim(connection, inbox_ids=[page.id], turn_id=turn_ids[0])
    inbox.finish_turn(connection, turn_id=turn_ids[0])
    kept = [("payload of received",), ("",), ("",), ("payload of dead",), ("payload of page",)]
    assert look(connection, "payload") == kept
    inbox.drop_payload(connection, inbox_id=page.id)
    assert look(connection, "payload") == [*kept[:4], ("",)]


def test_an_event_without_a_turn_keeps_its_reason(
    connection: Connection, ids: dict[str, InboxId]
) -> None:
    assert inbox.count_dead(connection) == 1
    inbox.finish(connection, inbox_id=ids["received"], reason="command")
    expected = [("done", "command"), ("claimed", ""), ("done", ""), ("dead", "no JSON")]
    assert look(connection, "state, reason") == expected


def test_notes_are_taken_once(
    connection: Connection, ids: dict[str, InboxId], turn_ids: list[TurnId]
) -> None:
    for event_id in ("done", "claimed"):
        inbox.keep_note(connection, inbox_id=ids[event_id], note=f"note of {event_id}")
    assert inbox.take_notes(connection, turn_id=turn_ids[1]) == []
    notes = inbox.take_notes(connection, turn_id=turn_ids[0])
    assert notes == ["note of claimed", "note of done"]
    assert inbox.take_notes(connection, turn_id=turn_ids[0]) == []
    assert look(connection, "reason")[3] == ("no JSON",)


def test_the_newest_message_of_a_turn_dates_it(
    connection: Connection, turn_ids: list[TurnId]
) -> None:
    ids = [store(connection, name, now=now)[0].id for name, now in (("a", 5), ("b", 9), ("c", 6))]
    inbox.claim(connection, inbox_ids=ids, turn_id=turn_ids[0])
    assert inbox.find_newest_at(connection, turn_id=turn_ids[0]) == 9
    assert inbox.find_newest_at(connection, turn_id=turn_ids[1]) is None


def test_a_platform_is_at_work_until_its_last_event_is_done(
    connection: Connection, ids: dict[str, InboxId], turn_ids: list[TurnId]
) -> None:
    store(connection, "a", platform="slack")
    assert inbox.has_open(connection, platform="telegram")
    inbox.finish(connection, inbox_id=ids["received"])
    assert inbox.has_open(connection, platform="telegram")
    inbox.finish_turn(connection, turn_id=turn_ids[0])
    assert not inbox.has_open(connection, platform="telegram")


def test_no_event_is_given_to_a_turn_that_is_not_there(connection: Connection) -> None:
    (row,) = store(connection, "a")
    with pytest.raises(sqlite3.IntegrityError):
        inbox.claim(connection, inbox_ids=[row.id], turn_id=TurnId(99))


def test_a_read_position_only_advances(connection: Connection) -> None:
    for reached in ({"one": "5", "two": "5"}, {"one": "4", "two": "6"}):
        inbox.advance_positions(connection, platform="slack", reached=reached)
    assert inbox.read_positions(connection, platform="slack") == {"one": "5", "two": "6"}
    assert inbox.read_positions(connection, platform="discord") == {}
