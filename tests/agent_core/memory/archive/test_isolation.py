"""Random searches of twenty people over the same words: nothing of anybody else, and no error."""

import random
import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import settings

from agent_core.ids import TurnId
from agent_core.memory.archive import search as finding
from agent_core.memory.archive import writes
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.recall import message_search as recall
from agent_core.memory.recall.query import read_query
from agent_core.state.conversations import messages
from agent_core.state.memory.archive import ArchiveFilter
from agent_core.state.memory.ledger import Origin
from agent_core.state.search.search_scope import SearchFilter
from agent_core.tools.clock import local_time
from agent_core.transcript import Message, Role, TextPart
from tests.agent_core.state.rows import Dialogue, add_dialogue, add_person, add_turn
from tests.agent_core.state.schema import migrate

PEOPLE, EACH = 20, 25
SEARCHES = 10 * settings.default.max_examples
WORDS = (
    *("tea", "lemon", "boiler", "canary", "harbour", "roses", "invoice", "Riga", "falcon", "soup"),
    *("getUserName", "茶と水", "чай", "42", "a-b", "p1_tea", "p2__c1", "the"),
)
SIGNS = ('"', "*", " OR ", " AND ", " NOT ", "NEAR(", "^", "p3_", ":", "-", "'")
TAGS = ("food", "house", "work")


@pytest.fixture(scope="module")
def population(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[sqlite3.Connection, list[Dialogue]]]:
    """Twenty people who have said and kept the same things; each has a word of their own, too."""
    folder = tmp_path_factory.mktemp("crowd")
    connection = sqlite3.connect(folder / "state.db", isolation_level=None)
    migrate(connection)
    connection.execute("BEGIN")
    dice = random.Random(1)
    dialogues = [add_dialogue(connection, add_person(connection, f"p{n}")) for n in range(PEOPLE)]
    for number in range(PEOPLE * EACH):
        fill(connection, dice, dialogues[number % PEOPLE], number)
    connection.execute("COMMIT")
    yield connection, dialogues
    connection.close()


def fill(
    connection: sqlite3.Connection, dice: random.Random, dialogue: Dialogue, number: int
) -> None:
    text = f"{' '.join(dice.choices(WORDS, k=6))} of {dialogue.person.slug}"
    roles: tuple[Role, ...] = ("user", "assistant")
    turn_id = add_turn(connection, dialogue, now=number)
    said = [Message(role=role, parts=(TextPart(text=text),)) for role in roles]
    messages.append(connection, dialogue.shelf(turn_id), said, now=number)
    content = ArchiveContent(text=text, tags=tuple(sorted(dice.sample(TAGS, k=dice.randrange(3)))))
    origin = Origin(actor=f"turn:{turn_id}", now=number + 1)
    writes.insert_entry(connection, person_id=dialogue.person.id, content=content, origin=origin)


def make_query(dice: random.Random) -> str:
    words = dice.choices(WORDS, k=dice.randrange(1, 5))
    if dice.random() < 0.3:
        words.insert(dice.randrange(len(words)), dice.choice(SIGNS))
    if dice.random() < 0.2:
        words.append(f"p{dice.randrange(PEOPLE)}")
    return " ".join(words)


@pytest.mark.examples
@pytest.mark.slow
def test_searches_of_what_was_said_show_nothing_of_anybody_else(
    population: tuple[sqlite3.Connection, list[Dialogue]],
) -> None:
    connection, dialogues = population
    dice, shown = random.Random(2), 0
    for number in range(SEARCHES):
        dialogue = dialogues[number % PEOPLE]
        # A scope that is somebody else's is a mistake that finds nothing.
        scopes = (
            f"p{dialogue.person.id}",
            *(f"c{one.conversation.id}" for one in (dialogue, *dialogues)),
        )
        field = SearchFilter(
            person_id=dialogue.person.id,
            scope=scopes[dice.choice((0, 0, 1, dice.randrange(2, PEOPLE + 2)))],
            except_turn=TurnId(0),
            since=dice.choice((None, 100)),
            role=dice.choice((None, "user")),
        )
        query = read_query(make_query(dice))
        found = recall.search_messages(
            connection, field, query, limit=8, clock=lambda at: local_time(at, "UTC")
        )
        for hit in found.hits:
            assert hit.message.text.endswith(f" of {dialogue.person.slug}")
        assert found.count <= 2 * EACH
        shown += len(found.hits)
    assert shown > SEARCHES


@pytest.mark.examples
@pytest.mark.slow
def test_searches_of_the_archive_show_nothing_of_anybody_else(
    population: tuple[sqlite3.Connection, list[Dialogue]],
) -> None:
    connection, dialogues = population
    dice, shown = random.Random(3), 0
    for number in range(SEARCHES):
        dialogue = dialogues[number % PEOPLE]
        within = ArchiveFilter(
            person_id=dialogue.person.id,
            tags=tuple(dice.sample(TAGS, k=dice.choice((0, 0, 1)))),
            since=dice.choice((None, 100)),
        )
        query = read_query(make_query(dice))
        found = finding.search_archive(connection, within, query, lambda at: local_time(at, "UTC"))
        for hit in found.hits:
            assert hit.entry.text.endswith(f" of {dialogue.person.slug}")
        assert found.count <= EACH
        shown += len(found.hits)
    assert shown > SEARCHES


@pytest.mark.examples
@pytest.mark.slow
def test_strings_of_anything_are_no_error(
    population: tuple[sqlite3.Connection, list[Dialogue]],
) -> None:
    connection, dialogues = population
    dice = random.Random(4)
    ranges = ((0x20, 0x7E), (0x00, 0xFF), (0x370, 0x5FF), (0xE00, 0x11FF), (0x3040, 0x9FFF))
    for number in range(2 * SEARCHES):
        first, last = ranges[number % len(ranges)]
        text = "".join(chr(dice.randint(first, last)) for _ in range(dice.randrange(1, 20)))
        words = [text, *dice.choices((*SIGNS, *WORDS), k=dice.randrange(3))]
        within = ArchiveFilter(person_id=dialogues[0].person.id)
        query = read_query("".join(words))
        finding.search_archive(connection, within, query, lambda at: local_time(at, "UTC"))
