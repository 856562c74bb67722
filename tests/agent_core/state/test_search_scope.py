"""Twenty people who use the same words: nobody ever finds what another said."""

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.state import messages, search
from agent_core.state.search import Field
from agent_core.state.upgrade import FOLDER, load_migrations, upgrade
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.rows import Talk, add_person, add_talk, add_turn

PEOPLE = 20
SAYINGS = 25
QUERIES = 400
# What looks like a scope, an operator or a column must be a word like any other.
PLAIN_WORDS = ["tea", "coffee", "milk", "sugar", "lemon", "ginger", "honey", "water", "Straße"]
TRICKS = ["p1", "p2", "c1", "c2", "scope", "text", "OR", "AND", "NOT", "NEAR", "p1*", "scope:p2"]
SIGNS = ['tea"', "(tea", "'tea", "--", "übermorgen", "東京", "茶"]
WORDS = [*PLAIN_WORDS, *TRICKS, *SIGNS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said, and where."""

    id: MessageId
    turn_id: TurnId
    talk: Talk
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """A database full of talk, and what a just search would know of it."""

    connection: sqlite3.Connection
    said: list[Said]

    def fields(self, chance: random.Random) -> tuple[Field, set[int]]:
        """A random field with the ids of all messages that may be found in it."""
        one = chance.choice(self.said)
        scope = one.talk.conversation.scope
        found = {
            said.id
            for said in self.said
            if said.talk.person == one.talk.person
            and (scope.startswith("p") or said.talk == one.talk)
            and said.turn_id != one.turn_id
        }
        person_id = PersonId(one.talk.person.id)
        return Field(person_id=person_id, scope=scope, except_turn=one.turn_id), found


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    connection = sqlite3.connect(folder / "state.db", isolation_level=None)
    upgrade(connection, load_migrations(FOLDER), folder, datetime.now(UTC))
    chance = random.Random(7)
    said = []
    connection.execute("BEGIN")
    for number in range(PEOPLE):
        person = add_person(connection, f"person-{number}")
        talks = [
            add_talk(connection, person),
            add_talk(connection, person, key=f"room-{number}", room=True),
        ]
        for _ in range(SAYINGS):
            talk = chance.choice(talks)
            text = " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))
            turn_id = add_turn(connection, talk)
            message = Message(
                role=chance.choice(["user", "assistant"]), parts=(TextPart(text=text),)
            )
            (message_id,) = messages.append(connection, talk.shelf(turn_id), [message], now=number)
            said.append(Said(id=message_id, turn_id=turn_id, talk=talk, text=text))
    connection.execute("COMMIT")
    yield Town(connection=connection, said=said)
    connection.close()


def _fold(text: str) -> set[str]:
    """The words of a text as an index without diacritics and signs sees them."""
    plain = text.lower().replace("ü", "u")
    return set("".join(sign if sign.isalnum() else " " for sign in plain).split())


def test_words_find_what_the_person_said_and_nothing_else(town: Town) -> None:
    chance = random.Random(11)
    texts = {said.id: _fold(said.text) for said in town.said}
    found_in_all = Counter[bool]()
    for _ in range(QUERIES):
        field, allowed = town.fields(chance)
        words = chance.choices(WORDS, k=chance.randint(1, 3))
        hits = search.find_words(town.connection, field, words=words, limit=1000)
        ids = {hit.id for hit in hits}
        assert ids <= allowed
        singles = [_fold(word) for word in words if len(_fold(word)) == 1]
        expected = {one for one in allowed if any(single <= texts[one] for single in singles)}
        assert expected <= ids
        assert search.count_words(town.connection, field, words=words) == len(ids)
        found_in_all[bool(ids)] += 1
    assert found_in_all[True] > QUERIES / 2, "the queries must find something to be a test"


def test_fragments_find_what_the_person_said_and_nothing_else(town: Town) -> None:
    chance = random.Random(13)
    texts = {said.id: said.text for said in town.said}
    found_in_all = Counter[bool]()
    for _ in range(QUERIES):
        field, allowed = town.fields(chance)
        fragments = [*chance.choices(["茶", "東", "ea", "%", "_", "p2", "'", '"', "\\"], k=2)]
        hits = search.find_fragments(town.connection, field, fragments=fragments, limit=1000)
        ids = {hit.id for hit in hits}
        lowered = [fragment.lower() for fragment in fragments]
        assert ids == {
            one for one in allowed if any(part in texts[one].lower() for part in lowered)
        }
        assert search.count_fragments(town.connection, field, fragments=fragments) == len(ids)
        found_in_all[bool(ids)] += 1
    assert found_in_all[True] > QUERIES / 2


def test_a_scope_of_another_person_finds_nothing(town: Town) -> None:
    """Even a mistake of the caller, who mixes one's id with another's scope, shows nothing."""
    for stranger in range(2, PEOPLE + 1):
        field = Field(person_id=PersonId(1), scope=f"p{stranger}", except_turn=TurnId(0))
        assert search.find_words(town.connection, field, words=WORDS, limit=1000) == []
        assert search.count_fragments(town.connection, field, fragments=["e"]) == 0


def test_a_changed_row_is_left_out(town: Town) -> None:
    one = next(said for said in town.said if "honey" in said.text.split())
    field = Field(
        person_id=one.talk.person.id, scope=f"p{one.talk.person.id}", except_turn=TurnId(0)
    )

    def ids() -> set[int]:
        found = search.find_words(town.connection, field, words=["honey"], limit=1000)
        return {hit.id for hit in found}

    assert one.id in ids()
    before = ids()
    where = (one.id,)
    town.connection.execute("UPDATE messages SET text = text || ' more' WHERE id = ?", where)
    assert ids() == before - {one.id}
    town.connection.execute(
        "UPDATE messages SET text = substr(text, 1, length(text) - 5) WHERE id = ?", where
    )
    assert ids() == before
