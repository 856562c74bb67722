"""Platform messages owed, one step at a time; the walks through all steps are beside."""

from dataclasses import replace

import pytest

from agent_core.chats import Chat
from agent_core.ids import OutboxId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Person
from agent_core.state.queues import dead_letters, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn

DEBT = NewOutboxMessage(chat=Chat(platform="telegram", address="chat"), body="Hello")


@pytest.fixture
def person(connection: Connection) -> Person:
    return add_person(connection)


@pytest.fixture
def turn_id(connection: Connection, person: Person) -> TurnId:
    return add_turn(connection, add_dialogue(connection, person))


def look(connection: Connection, row: OutboxRow) -> OutboxRow:
    found = outbox.find(connection, outbox_id=row.id)
    assert found is not None
    return found


def sent(connection: Connection, outgoing: NewOutboxMessage, message_id: str) -> OutboxRow:
    row = outbox.enqueue(connection, outgoing, now=1)
    outbox.mark_sending(connection, outbox_id=row.id)
    outbox.mark_sent(connection, outbox_id=row.id, message_id=message_id, body=row.body, now=2)
    return look(connection, row)


def test_an_attempt_keeps_the_last_anchor_there_was(connection: Connection) -> None:
    row = outbox.enqueue(connection, DEBT, now=1)
    outbox.mark_sending(connection, outbox_id=row.id, anchor="m7")
    assert look(connection, row).anchor == "m7"
    outbox.mark_missing(connection, outbox_id=row.id)
    outbox.mark_sending(connection, outbox_id=row.id, anchor=None)
    assert look(connection, row).anchor == "m7"
    live = outbox.open_live(connection, DEBT, anchor="m8", now=1)
    assert look(connection, live).anchor == "m8"


def test_what_is_queued_is_kept_whole(
    connection: Connection, person: Person, turn_id: TurnId
) -> None:
    outgoing = NewOutboxMessage(
        chat=Chat(platform="slack", address="c"),
        body="grüße 👋",
        person_id=person.id,
        turn_id=turn_id,
        part=3,
        answers="m7",
        is_silent=True,
    )
    row = outbox.enqueue(connection, outgoing, now=1)
    assert look(connection, row) == row
    assert row == OutboxRow(
        id=row.id,
        key=row.key,
        chat=Chat(platform="slack", address="c"),
        turn_id=turn_id,
        person_id=person.id,
        part=3,
        body="grüße 👋",
        answers="m7",
        is_silent=True,
        is_live=False,
        state="owed",
        message_id=None,
        shown=None,
        anchor=None,
        attempts=0,
        reason="",
        created_at=1,
        kind="message",
        buttons=(),
        question_id=None,
        file=None,
        is_whole=True,
    )
    assert outbox.find(connection, outbox_id=OutboxId(99)) is None


def test_a_message_is_sent_by_way_of_sending(connection: Connection) -> None:
    row = outbox.enqueue(connection, DEBT, now=1)
    outbox.mark_sending(connection, outbox_id=row.id)
    assert (look(connection, row).state, look(connection, row).shown) == ("sending", "Hello")
    outbox.mark_sent(connection, outbox_id=row.id, message_id="m1", body=row.body, now=2)
    after = look(connection, row)
    assert (after.state, after.message_id, after.shown) == ("sent", "m1", None)
    assert outbox.list_open(connection) == []


def test_a_body_that_changed_on_the_disk_is_not_whole(connection: Connection) -> None:
    row = outbox.enqueue(connection, DEBT, now=1)
    connection.execute("UPDATE outbox SET body = 'Hallo'")
    assert not look(connection, row).is_whole
    assert [row.is_whole for row in outbox.list_open(connection)] == [False]


def test_what_is_open_comes_oldest_first_behind_what_is_in_doubt(connection: Connection) -> None:
    rows = [outbox.enqueue(connection, replace(DEBT, body=str(n)), now=9 - n) for n in range(6)]
    outbox.mark_sending(connection, outbox_id=rows[1].id)
    outbox.mark_unsure(connection, outbox_id=rows[2].id, reason="cut")
    outbox.mark_sent(connection, outbox_id=rows[3].id, message_id="m", body=rows[3].body, now=2)
    outbox.mark_dead(connection, outbox_id=rows[4].id, reason="gone")
    assert [(row.body, row.state) for row in outbox.list_open(connection)] == [
        ("2", "unsure"),
        ("0", "owed"),
        ("1", "sending"),
        ("5", "owed"),
    ]
    counts = {
        state: outbox.count(connection, state=state)
        for state in ("owed", "sending", "unsure", "sent", "dead")
    }
    assert counts == {"owed": 2, "sending": 1, "unsure": 1, "sent": 1, "dead": 1}


def test_an_attempt_that_changed_nothing_is_counted_and_queued_again(
    connection: Connection,
) -> None:
    row = outbox.enqueue(connection, DEBT, now=1)
    for attempts in (1, 2):
        outbox.mark_sending(connection, outbox_id=row.id)
        outbox.mark_waiting(connection, outbox_id=row.id, reason="offline")
        after = look(connection, row)
        assert (after.state, after.shown, after.attempts) == ("owed", None, attempts)
        assert after.reason == "offline"


def test_an_unsure_message_that_is_not_there_is_queued_again(connection: Connection) -> None:
    row = outbox.enqueue(connection, DEBT, now=1)
    outbox.mark_sending(connection, outbox_id=row.id)
    outbox.mark_unsure(connection, outbox_id=row.id, reason="cut")
    unsure = look(connection, row)
    assert (unsure.state, unsure.shown, unsure.attempts) == ("unsure", "Hello", 1)
    outbox.mark_missing(connection, outbox_id=row.id)
    after = look(connection, row)
    assert (after.state, after.shown, after.message_id) == ("owed", None, None)


def test_an_unsure_message_that_is_found_is_queued_as_a_change_of_itself(
    connection: Connection,
) -> None:
    row = outbox.enqueue(connection, DEBT, now=1)
    outbox.mark_sending(connection, outbox_id=row.id)
    outbox.mark_unsure(connection, outbox_id=row.id, reason="cut")
    outbox.mark_found(connection, outbox_id=row.id, message_id="m1")
    after = look(connection, row)
    assert (after.state, after.message_id, after.shown) == ("owed", "m1", None)


def test_what_an_earlier_process_was_sending_is_doubted(connection: Connection) -> None:
    rows = [outbox.enqueue(connection, DEBT, now=1) for _ in range(3)]
    outbox.mark_waiting(connection, outbox_id=rows[0].id, reason="offline")
    outbox.mark_waiting(connection, outbox_id=rows[0].id, reason="offline")
    outbox.mark_sending(connection, outbox_id=rows[0].id)
    outbox.mark_sent(connection, outbox_id=rows[1].id, message_id="m", body=rows[1].body, now=2)
    outbox.mark_interrupted(connection)
    assert look(connection, rows[0]).attempts == 1, "its looks are counted from here"
    states = [look(connection, row).state for row in rows]
    assert states == ["unsure", "sent", "owed"]
    assert look(connection, rows[0]).shown == "Hello"


def test_a_live_message_is_shown_and_then_queued_with_its_last_words(
    connection: Connection, turn_id: TurnId
) -> None:
    live = outbox.open_live(connection, replace(DEBT, turn_id=turn_id, body="Hel"), now=1)
    assert (live.state, live.shown, live.is_live) == ("sending", "Hel", True)
    assert outbox.find_live(connection, turn_id=turn_id) == live
    outbox.mark_found(connection, outbox_id=live.id, message_id="m1")
    assert look(connection, live).state == "sent"
    assert outbox.list_open(connection) == []
    assert outbox.has_open(connection, platform="telegram"), "its words are not final"
    settled = outbox.finalize_live(connection, outbox_id=live.id, body="Hello you")
    assert (settled.state, settled.body, settled.message_id) == ("owed", "Hello you", "m1")
    assert (settled.is_live, settled.is_whole) == (False, True)
    assert outbox.find_live(connection, turn_id=turn_id) is None


@pytest.mark.parametrize("is_doubted", [False, True])
def test_a_live_message_of_unknown_fate_is_looked_for_by_what_it_showed(
    connection: Connection, turn_id: TurnId, is_doubted: bool
) -> None:
    live = outbox.open_live(connection, replace(DEBT, turn_id=turn_id, body="Hel"), now=1)
    if is_doubted:
        outbox.mark_interrupted(connection)
    settled = outbox.finalize_live(connection, outbox_id=live.id, body="Hello you")
    assert (settled.state, settled.shown, settled.body) == ("unsure", "Hel", "Hello you")


def test_only_a_live_message_can_be_dropped(connection: Connection, turn_id: TurnId) -> None:
    live = outbox.open_live(connection, replace(DEBT, turn_id=turn_id), now=1)
    final = outbox.enqueue(connection, replace(DEBT, turn_id=turn_id), now=1)
    for row in (live, final):
        outbox.drop_live(connection, outbox_id=row.id)
    assert outbox.find(connection, outbox_id=live.id) is None
    assert look(connection, final) == final


def test_the_dead_are_kept_for_their_person_and_chat(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    outgoings = [
        replace(DEBT, person_id=ann.id, body="1"),
        replace(DEBT, person_id=ann.id, body="2"),
        replace(DEBT, person_id=ann.id, chat=Chat(platform="telegram", address="elsewhere")),
        replace(DEBT, person_id=ann.id, chat=Chat(platform="slack", address="chat")),
        replace(DEBT, person_id=bob.id),
    ]
    rows = [outbox.enqueue(connection, outgoing, now=1) for outgoing in outgoings]
    for row in rows:
        outbox.mark_sending(connection, outbox_id=row.id)
        outbox.mark_unsure(connection, outbox_id=row.id, reason="cut")
        outbox.mark_dead(connection, outbox_id=row.id, reason="gone")
    here = {"person_id": ann.id, "platform": "telegram", "chat": "chat"}
    assert dead_letters.has_dead(connection, **here)
    assert dead_letters.count_dead_of(connection, person_id=ann.id) == 4
    assert [row.id for row in dead_letters.list_dead(connection, limit=2)] == [
        rows[4].id,
        rows[3].id,
    ]
    revived = dead_letters.revive_dead(connection, **here)
    assert [(row.body, row.state, row.attempts, row.shown) for row in revived] == [
        ("1", "owed", 0, None),
        ("2", "owed", 0, None),
    ]
    assert not dead_letters.has_dead(connection, **here)
    assert dead_letters.count_dead_of(connection, person_id=ann.id) == 2
    assert dead_letters.count_dead_of(connection, person_id=bob.id) == 1


def test_the_newest_ids_are_of_these_chats_only(connection: Connection) -> None:
    one, topics = ("chat", "chat"), ("chat", "chat~")
    assert outbox.list_newest_ids(connection, platform="telegram", chats=one) == []
    sent(connection, DEBT, "m1")
    sent(connection, DEBT, "m2")
    sent(connection, replace(DEBT, chat=Chat(platform="telegram", address="chat 17")), "m3")
    sent(connection, replace(DEBT, chat=Chat(platform="telegram", address="elsewhere")), "m4")
    sent(connection, replace(DEBT, chat=Chat(platform="slack", address="chat")), "m5")
    outbox.enqueue(connection, DEBT, now=9)
    assert outbox.list_newest_ids(connection, platform="telegram", chats=one) == ["m2", "m1"]
    found = outbox.list_newest_ids(connection, platform="telegram", chats=topics)
    assert found == ["m3", "m2", "m1"]


def test_what_a_platform_knows_of_all_chats(connection: Connection) -> None:
    elsewhere = replace(DEBT, chat=Chat(platform="telegram", address="elsewhere"))
    sent(connection, DEBT, "m1")
    sent(connection, elsewhere, "m2")
    sent(connection, replace(DEBT, chat=Chat(platform="slack", address="chat")), "m3")
    outbox.enqueue(connection, DEBT, now=3)
    row = outbox.enqueue(connection, elsewhere, now=3)
    outbox.mark_sending(connection, outbox_id=row.id)
    assert sorted(outbox.list_all_newest_ids(connection, platform="telegram")) == ["m1", "m2"]
    outbox.mark_sent(
        connection, outbox_id=row.id, message_id="m4", body=row.body, version="v1", now=4
    )
    outbox.mark_sent(
        connection, outbox_id=row.id, message_id="m4", body=row.body, version="v2", now=5
    )
    found = outbox.list_all_newest_ids(connection, platform="telegram")
    assert sorted(found) == ["m1", "m2", "m4", "v1", "v2"]


def test_a_platform_is_at_work_while_something_is_queued_to_it(connection: Connection) -> None:
    assert not outbox.has_open(connection, platform="telegram")
    row = outbox.enqueue(connection, DEBT, now=1)
    assert outbox.has_open(connection, platform="telegram")
    assert not outbox.has_open(connection, platform="slack")
    outbox.mark_dead(connection, outbox_id=row.id, reason="gone")
    assert not outbox.has_open(connection, platform="telegram")
