"""Words that somebody says all the time: what is found behind the newest of them."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.memory.recall.message_search import (
    LIKELY,
    MOST_HOLDERS,
    MOST_READ,
    POOL,
    Found,
    search_messages,
)
from agent_core.memory.recall.query import read_query
from agent_core.state.conversations import messages
from agent_core.state.people.people import Person
from agent_core.state.search.search_scope import SearchFilter
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn
from tests.agent_core.state.schema import create_schema


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    create_schema(connection)
    yield connection
    connection.close()


@pytest.fixture
def dialogue(connection: sqlite3.Connection) -> Dialogue:
    return add_dialogue(connection, add_person(connection))


def say(
    connection: sqlite3.Connection,
    dialogue: Dialogue,
    *texts: str,
    at: str = "1970-01-01",
    by: Person | None = None,
) -> list[MessageId]:
    now = int(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() * 1000)
    connection.execute("BEGIN")
    shelf = dialogue.shelf(add_turn(connection, dialogue, by=by))
    said = [Message(role="user", parts=(TextPart(text=text),)) for text in texts]
    ids = messages.append(connection, shelf, said, now=now)
    connection.execute("COMMIT")
    return ids


def search(connection: sqlite3.Connection, query: str, limit: int = 5) -> Found:
    field = SearchFilter(person_id=PersonId(1), scope="p1", except_turn=TurnId(0))
    return search_messages(
        connection,
        field,
        read_query(query),
        limit=limit,
        clock=lambda moment: datetime.fromtimestamp(moment / 1000, UTC),
    )


def test_two_frequent_words_are_found_together_however_long_ago_that_was(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    (both,) = say(connection, dialogue, "tea and coffee")
    for word in ("tea", "coffee"):
        say(connection, dialogue, *[f"{word} again"] * (MOST_HOLDERS + 1))
    found = search(connection, "coffee tea")
    assert found.hits[0].message.id == both
    assert not found.is_exact
    assert found.count > MOST_HOLDERS


def test_a_rare_word_beside_a_frequent_one_is_found_however_long_ago_that_was(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    (rare,) = say(connection, dialogue, "tea with marzipan")
    say(connection, dialogue, *["tea again"] * (MOST_HOLDERS + 1))
    assert search(connection, "tea marzipan").hits[0].message.id == rare


def test_a_frequent_word_is_found_in_the_month_that_is_asked_for(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    say(connection, dialogue, *["tea again"] * 3, at="2023-05-31T23:59")
    june = say(connection, dialogue, "tea by the sea", at="2023-06-30T23:59")
    december = say(connection, dialogue, "tea by the fire", at="2023-12-31T23:59")
    say(connection, dialogue, *["tea again"] * (MOST_HOLDERS + 1), at="2024-06-15")
    for query, expected in (("tea in June 2023", june), ("tea 2023-12", december)):
        assert [search(connection, query).hits[0].message.id] == expected
    assert search(connection, "tea in June").hits[0].message.id not in june


def test_a_month_that_is_asked_for_widens_no_span_of_time(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    say(connection, dialogue, "tea by the sea", at="2023-06-15")
    field = SearchFilter(
        person_id=PersonId(1), scope="p1", except_turn=TurnId(0), since=1_700_000_000_000
    )
    found = search_messages(
        connection, field, read_query("tea June 2023"), limit=5, clock=lambda _: datetime.now(UTC)
    )
    assert found == Found(hits=(), count=0)


def test_a_count_is_exact_where_all_could_be_looked_at(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    say(connection, dialogue, *["tea", "coffee", "tea and coffee", "milk"] * 3)
    found = search(connection, "tea coffee", limit=2)
    assert (found.count, found.is_exact, len(found.hits)) == (9, True, 2)


def test_words_that_are_everywhere_are_looked_for_in_the_newest_messages(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    say(connection, dialogue, "to be or not to be")
    (new, *_) = say(connection, dialogue, "not to be", *["milk"] * 9)
    found = search(connection, "not to be")
    assert found.hits[0].message.id == new
    assert (found.count, found.is_exact) == (2, True)
    say(connection, dialogue, *["milk"] * MOST_READ)
    assert search(connection, "not to be") == Found(hits=(), count=0, is_exact=False)


def test_what_was_never_said_is_not_found(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    say(connection, dialogue, "tea")
    assert search(connection, "coffee") == Found(hits=(), count=0)


def test_the_words_of_a_named_person_are_found_among_many_that_only_name_them(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    ben = add_person(connection, "ben")
    (told,) = say(connection, dialogue, "the pottery is closed")
    say(connection, dialogue, *["Ann, the pottery"] * (POOL + 1), by=ben)
    assert POOL + 2 < LIKELY
    found = search(connection, "What did Ann say of the pottery?", limit=POOL)
    assert found.hits[0].message.id == told


def test_the_words_of_a_named_person_are_found_where_nobody_writes_names(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    ben = add_person(connection, "ben")
    (told,) = say(connection, dialogue, "the pottery is closed")
    say(connection, dialogue, *["the pottery is open"] * (POOL + 1), by=ben)
    found = search(connection, "What did Ann say of the pottery?", limit=POOL)
    assert found.hits[0].message.id == told


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("which animals did we talk about?", "the cat hid below the sofa again"),
        ("Welche Tiere hatten wir?", "unser Kater liegt auf dem Sofa"),
        ("food preferences", "I could live on pizza"),
    ],
)
def test_a_kind_of_things_finds_its_members_of_the_same_person_only(
    connection: sqlite3.Connection, dialogue: Dialogue, query: str, said: str
) -> None:
    say(connection, dialogue, *(f"nothing new on day {number}" for number in range(20)))
    found = say(connection, dialogue, said)
    say(connection, add_dialogue(connection, add_person(connection)), said)
    (hit,) = (hit for hit in search(connection, query).hits if hit.holds)
    assert hit.message.id == found[0]


def test_the_name_of_a_kind_counts_more_than_a_member(
    connection: sqlite3.Connection, dialogue: Dialogue
) -> None:
    (named, *_) = say(connection, dialogue, "no animals in this flat", "a cat in this flat")
    assert search(connection, "animals").hits[0].message.id == named
