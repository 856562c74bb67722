"""What the index itself promises; what a person finds is tested with the recall tool."""

import sqlite3
from datetime import UTC, datetime

import pytest

from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.state.conversations import messages
from agent_core.state.search import message_index, passages
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import SearchFilter, Speaker
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn

REX = Term(word="rex")


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def field(scope: str = "p1", **asked: object) -> SearchFilter:
    return SearchFilter(person_id=PersonId(1), scope=scope, except_turn=TurnId(0), **asked)  # type: ignore[arg-type]


@pytest.fixture
def dialogue(connection: sqlite3.Connection) -> Dialogue:
    return add_dialogue(connection, add_person(connection))


def say(
    connection: sqlite3.Connection,
    dialogue: Dialogue,
    text: str,
    *,
    now: int = 0,
    role: Speaker = "user",
) -> MessageId:
    turn_id = add_turn(connection, dialogue)
    message = Message(role=role, parts=(TextPart(text=text),))
    return messages.append(connection, dialogue.shelf(turn_id), [message], now=now)[0]


@pytest.mark.parametrize("scope", ["", "p", "1", "p1 c1", 'p1" OR "c2', "P1", "p1\n"])
def test_a_scope_that_is_none_is_refused(connection: sqlite3.Connection, scope: str) -> None:
    with pytest.raises(ValueError, match="scope"):
        message_index.count_holders(connection, field=field(scope), term=REX, most=1)
    with pytest.raises(ValueError, match="scope"):
        message_index.list_messages(connection, field=field(scope), limit=1)


@pytest.mark.parametrize("word", ['a"b', '"', "nul\0", "%", "a OR", "\\", "", "_m202602", "a*"])
def test_a_word_that_the_index_can_not_have_is_refused(
    connection: sqlite3.Connection, word: str
) -> None:
    with pytest.raises(ValueError, match="no word of the index"):
        message_index.count_holders(connection, field=field(), term=Term(word=word), most=1)


def test_messages_of_one_transaction_are_one_piece_of_the_index(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    turn_id = add_turn(connection, dialogue)
    message = Message(role="user", parts=(TextPart(text="tea and honey"),))
    connection.execute("BEGIN")
    for now in range(50):
        messages.append(connection, dialogue.shelf(turn_id), [message, message], now=now)
    connection.execute("COMMIT")
    pieces = connection.execute("SELECT COUNT(DISTINCT segid) FROM message_search_idx")
    assert pieces.fetchone() == (1,)


def test_words_of_one_person_are_no_words_of_another(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    say(connection, dialogue, "Rex barks")
    strangers = [
        add_dialogue(connection, add_person(connection, f"p{number}")) for number in range(12)
    ]
    for stranger in strangers:
        say(connection, stranger, "Rex Rex Rex")
    assert message_index.count_holders(connection, field=field(), term=REX, most=100) == 1
    assert message_index.count_holders(connection, field=field("p11"), term=REX, most=100) == 0
    start = Term(word="r", is_start=True)
    assert message_index.count_holders(connection, field=field(), term=start, most=100) == 1


def test_a_count_goes_no_further_than_it_must(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    for _ in range(5):
        say(connection, dialogue, "Rex")
    assert message_index.count_holders(connection, field=field(), term=REX, most=3) == 3
    assert message_index.count_holders(connection, field=field(), most=100) == 5


def test_what_is_asked_besides_words_narrows_a_search(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    january = say(connection, dialogue, "Rex", now=at("2026-01-31T23:59"))
    march = say(connection, dialogue, "Rex", now=at("2026-03-01T00:00"), role="assistant")
    late = say(connection, dialogue, "Rex", now=at("2031-07-01T00:00"))

    def found(**asked: object) -> list[MessageId]:
        found = message_index.list_holders(connection, field=field(**asked), terms=[REX], limit=9)
        return [message_index.message_of(one) for one in found]

    assert found() == [late, march, january]
    assert found(role="assistant") == [march]
    assert found(platform="telegram", role="user") == [late, january]
    assert found(platform="slack") == []
    assert found(since=at("2026-02-01T00:00"), until=at("2026-04-01T00:00")) == [march]
    assert found(since=at("2026-03-01T00:01"), until=at("2026-03-02T00:00")) == []
    assert found(since=0, until=at("2027-01-01T00:00")) == [march, january]
    assert found(until=at("2026-03-01T00:00")) == [march, january]
    assert found(since=at("2026-03-01T00:00")) == [late, march]
    assert found(since=5, until=4) == []
    oldest = message_index.list_messages(connection, field=field(), limit=2, oldest_first=True)
    assert oldest == [january, march]


def test_around_a_message_is_what_was_said_before_and_after_in_its_session(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    other = add_dialogue(connection, dialogue.person, key="another")
    said = []
    for number in range(7):
        said.append(say(connection, dialogue, f"message {number}"))
        say(connection, other, "elsewhere")
    around = passages.list_around(
        connection, field=field(), session_id=dialogue.session_id, message_id=said[3]
    )
    assert [message.id for message in around] == said[1:6]
    first = passages.list_around(
        connection, field=field(), session_id=dialogue.session_id, message_id=said[0], reach=1
    )
    assert [message.id for message in first] == said[:2]


def test_what_is_beside_some_messages_is_told_for_all_at_once(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    stranger = add_dialogue(connection, add_person(connection, "bob"))
    said = []
    for number in range(7):
        said.append(say(connection, dialogue, f"message {number}"))
        foreign = say(connection, stranger, "elsewhere")
    beside = passages.list_beside(
        connection, field=field(), message_ids=[said[6], said[3], said[0], foreign]
    )
    assert beside == {said[0]: said[0:3], said[3]: said[1:6], said[6]: said[4:7]}
    near = passages.list_beside(connection, field=field(), message_ids=[said[3]], reach=1)
    assert near == {said[3]: said[2:5]}


def test_conversations_come_latest_first_and_those_of_others_never(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    room = add_dialogue(connection, dialogue.person, key="room", room=True)
    empty = add_dialogue(connection, dialogue.person, key="empty")
    stranger = add_dialogue(connection, add_person(connection, "bob"))
    for one in (dialogue, room, stranger):
        say(connection, one, "begin")
        say(connection, one, "end")
    everything = passages.list_latest(connection, field=field(), limit=9)
    assert everything == [empty.session_id, room.session_id, dialogue.session_id]
    overviews = passages.load_overviews(connection, field=field(), session_ids=everything)
    assert [(one.id, one.first, one.last) for one in overviews] == [
        (room.session_id, "begin", "end"),
        (dialogue.session_id, "begin", "end"),
    ]
    there = field(f"c{room.conversation.id}")
    assert passages.list_latest(connection, field=there, limit=9) == [room.session_id]
    assert passages.list_latest(connection, field=field("p2"), limit=9) == []


def test_reading_by_id_shows_nothing_of_another_person_or_room(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    room = add_dialogue(connection, dialogue.person, key="room", room=True)
    stranger = add_dialogue(connection, add_person(connection, "bob"))
    said = [say(connection, one, "Rex") for one in (dialogue, room, stranger)]
    read = passages.load_messages(connection, field=field(), message_ids=said)
    assert [one.id for one in read] == said[:2]
    there = field(f"c{room.conversation.id}")
    read = passages.load_messages(connection, field=there, message_ids=said)
    assert [one.id for one in read] == said[1:2]
    assert (
        passages.list_around(
            connection, field=there, session_id=dialogue.session_id, message_id=said[0]
        )
        == []
    )
    assert (
        passages.load_overviews(connection, field=field(), session_ids=[stranger.session_id]) == []
    )
