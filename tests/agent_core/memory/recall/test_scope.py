"""Twenty people who use the same words: nobody ever finds what another said."""

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import settings

from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.memory.recall.message_search import search_messages
from agent_core.memory.recall.query import read_query
from agent_core.state.conversations import messages
from agent_core.state.search import message_index
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import SearchFilter
from agent_core.state.tokenizer import UNINDEXED, cut, list_entries
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn
from tests.agent_core.state.schema import create_schema

PEOPLE = 20
SAYINGS = 25
QUERIES = 10 * settings.default.max_examples
# What looks like a scope, an operator or a column must be a word like any other.
PLAIN_WORDS = ["tea", "coffee", "milk", "sugar", "lemon", "ginger", "honey", "water", "Straße"]
TRICKS = ["p1", "p2", "c1", "c2", "scope", "text", "OR", "AND", "NOT", "NEAR", "p1*", "p2_tea"]
SIGNS = ['tea"', "(tea", "'tea", "--", "übermorgen", "東京", "茶", "🎉", "p2__ru"]
WORDS = [*PLAIN_WORDS, *TRICKS, *SIGNS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said, and where."""

    id: MessageId
    turn_id: TurnId
    dialogue: Dialogue
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A database full of talk, and what a just search would know of it."""

    connection: sqlite3.Connection
    said: list[Said]

    def fields(self, chance: random.Random) -> tuple[SearchFilter, set[int]]:
        """A random field with the ids of all messages that may be found in it."""
        one = chance.choice(self.said)
        scope = one.dialogue.conversation.scope
        found = {
            said.id
            for said in self.said
            if said.dialogue.person == one.dialogue.person
            and (scope.startswith("p") or said.dialogue == one.dialogue)
            and said.turn_id != one.turn_id
        }
        person_id = PersonId(one.dialogue.person.id)
        return SearchFilter(person_id=person_id, scope=scope, except_turn=one.turn_id), found


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("town")
    connection = sqlite3.connect(folder / "state.db", isolation_level=None)
    create_schema(connection)
    chance = random.Random(7)
    said = []
    connection.execute("BEGIN")
    for number in range(PEOPLE):
        person = add_person(connection, f"person-{number}")
        dialogues = [
            add_dialogue(connection, person),
            add_dialogue(connection, person, key=f"room-{number}", room=True),
        ]
        for _ in range(SAYINGS):
            dialogue = chance.choice(dialogues)
            text = " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))
            turn_id = add_turn(connection, dialogue)
            message = Message(
                role=chance.choice(["user", "assistant"]), parts=(TextPart(text=text),)
            )
            (message_id,) = messages.append(
                connection, dialogue.shelf(turn_id), [message], now=number
            )
            said.append(Said(id=message_id, turn_id=turn_id, dialogue=dialogue, text=text))
    connection.execute("COMMIT")
    yield Deployment(connection=connection, said=said)
    connection.close()


def _clock(moment: int) -> datetime:
    return datetime.fromtimestamp(moment / 1000, UTC)


@pytest.mark.examples
@pytest.mark.slow
def test_a_search_finds_what_the_person_said_and_nothing_else(deployment: Deployment) -> None:
    """The index alone, and all of it with the messages around: every word, every stranger."""
    chance = random.Random(11)
    texts = {said.id: set(cut(said.text)) - UNINDEXED for said in deployment.said}
    found_in_all = Counter[bool]()
    for _ in range(QUERIES):
        field, allowed = deployment.fields(chance)
        query = read_query(" ".join(chance.choices(WORDS, k=chance.randint(1, 3))))
        expected = {
            one
            for one in allowed
            for term in query.terms
            if any(word.startswith(term.word) for word in texts[one])
            and (term.is_start or term.word in texts[one])
        }
        found = search_messages(deployment.connection, field, query, limit=1000, clock=_clock)
        ids = {hit.message.id for hit in found.hits}
        assert ids <= allowed
        if query.terms:
            assert {hit.message.id for hit in found.hits if hit.holds} == expected
            assert found.count == len(expected)
        found_in_all[bool(ids)] += 1
    assert found_in_all[True] > QUERIES / 2, "the queries must find something to be a test"


@pytest.mark.slow
def test_the_order_and_the_count_are_the_same_whatever_others_say(deployment: Deployment) -> None:
    """A person's search in the full town, and in a deployment where nobody else ever spoke."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for line in deployment.connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB '*_search_*'"
    ).fetchall():
        connection.execute(line[0])
    person = deployment.said[0].dialogue.person.id
    for table in ("people", "turns", "sessions", "conversations", "messages"):
        where = f"WHERE {'id' if table == 'people' else 'person_id'} = {person}"
        where = "" if table == "sessions" else where
        rows = deployment.connection.execute(f"SELECT * FROM {table} {where}").fetchall()
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    indexed = deployment.connection.execute(
        "SELECT id, scope, role, platform, created_at, text FROM messages WHERE person_id = ?",
        (person,),
    ).fetchall()
    for message_id, *row in indexed:
        message_index.index_message(connection, message_id=message_id, entries=list_entries(*row))
    chance = random.Random(17)
    field = SearchFilter(person_id=PersonId(person), scope=f"p{person}", except_turn=TurnId(0))
    for _ in range(100):
        query = read_query(" ".join(chance.choices(WORDS, k=3)))
        one, two = (
            search_messages(place, field, query, limit=20, clock=_clock)
            for place in (deployment.connection, connection)
        )
        assert one == two
        assert one.hits or not query.terms or one.count == 0
    connection.close()


def test_a_scope_of_another_person_finds_nothing(deployment: Deployment) -> None:
    """Even a mistake of the caller, who mixes one's id with another's scope, shows nothing."""
    for stranger in range(2, PEOPLE + 1):
        field = SearchFilter(person_id=PersonId(1), scope=f"p{stranger}", except_turn=TurnId(0))
        for term in (Term(word="tea"), Term(word="東", is_start=True), None):
            assert (
                message_index.count_holders(deployment.connection, field=field, term=term, most=9)
                == 0
            )


def test_a_changed_row_is_left_out(deployment: Deployment) -> None:
    one = next(said for said in deployment.said if "honey" in said.text.split())
    field = SearchFilter(
        person_id=one.dialogue.person.id, scope=f"p{one.dialogue.person.id}", except_turn=TurnId(0)
    )

    def ids() -> set[int]:
        found = search_messages(
            deployment.connection, field, read_query("honey"), limit=1000, clock=_clock
        )
        return {hit.message.id for hit in found.hits if hit.holds}

    assert one.id in ids()
    before = ids()
    where = (one.id,)
    deployment.connection.execute("UPDATE messages SET text = text || ' more' WHERE id = ?", where)
    assert ids() == before - {one.id}
    deployment.connection.execute(
        "UPDATE messages SET text = substr(text, 1, length(text) - 5) WHERE id = ?", where
    )
    assert ids() == before
