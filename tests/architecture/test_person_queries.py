"""Whoever reads, changes or drops what is a person's says whose: the SQL itself names them.

The statements are read from the source of `agent_core/state`, so that one which no test runs is
seen, too. A new statement over these tables names the person, or stands below with its reason.
"""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.ids import PersonId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.memory import archive
from agent_core.state.memory.archive import ArchiveFilter
from agent_core.state.search import message_index
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import SearchFilter
from tests.agent_core.state.schema import create_schema
from tests.architecture.source import Module, list_modules
from tests.architecture.statements import Statement, list_statements, list_unread

OWNED = frozenset(
    (
        *(
            "archive",
            "archive_search",
            "compactions",
            "ledger",
            "message_search",
            "messages",
            "external_sync",
        ),
        *("questions", "shares", "turn_files", "usage", "usage_sums"),
    )
)
"""Tables of what people said, keep, were asked and paid."""

NAMES_PERSON = re.compile(
    r"\bperson_id (?:= :|IN [({])|\bperson_id = (?:conversations|turns)\.person_id"
)
NAMES_TURN = re.compile(r"\b(?:turn_id = :turn_id|turns\.id = :turn_id)")
"""Within one turn: the gateway hands its number on, no person and no model can."""

BY_NUMBER = "by the numbers of rows that a statement with the person in it has found just before"
IN_INDEX = "tells the index; every word that it is given has its person in front"
IN_SESSION = "within one session, which was found by its talk, and that by its person"
OWED = "by its number, which `external_sync.list_queued` has just given with its person"
QUESTIONS = "by its number, which only a button with its secret or the gateway itself knows"
EXCEPTIONS = {
    "foreign_sessions.read_hermes_sessions": "reads the database of another program, of one person",
    "archive._index": "writes the index; every word in it has its person in front",
    "archive._unindex": "writes the index; every word in it has its person in front",
    "archive._is_taken": "says whether a number is free; numbers tell a time only",
    "archive.insert": "gives the next number; it tells a time, and nothing of what is there",
    "erase_person.delete_questions": BY_NUMBER,
    "erase_person.delete_rows": BY_NUMBER,
    "erase_person.erase_answers": "takes out who answered, whoever was asked",
    "erase_person.list_messages": IN_SESSION,
    "compactions.move": IN_SESSION,
    "compactions.fingerprint": IN_SESSION,
    "questions.find_open_of_room": "closes what was asked in one room, whoever was asked",
    "evidence.list_accounts": "gives accounts, no words; a merge or split changes whose they are",
    "ledger.find_row": "the owner's desk, and where words that were joined came from",
    "ledger.drop_evidence": BY_NUMBER,
    "ledger.list_recent": "the owner's desk: what was learned last, of whomever",
    "ledger.redact": BY_NUMBER,
    "external_sync._list_providers": "which outside memories there are; nothing of anybody",
    "external_sync.begin": OWED,
    "external_sync.count_all": "the owner's eyes: how much each outside memory is owed",
    "external_sync.count_dropped": IN_SESSION,
    "external_sync.drop": OWED,
    "external_sync.find_newest_change": "gives a number, and nothing of what is there",
    "external_sync.find_oldest_at": "tells a time, and nothing of anybody",
    "external_sync.finish": OWED,
    "external_sync.list_changed": "each is told to their own place outside, under their own name",
    "external_sync.list_queued": "each is told to their own place outside, under their own name",
    "external_sync.park": OWED,
    "external_sync.postpone": OWED,
    "external_sync.revive": "what was set aside is owed again, to each person's own place outside",
    "passages.list_damaged": BY_NUMBER,
    "questions.answer": QUESTIONS,
    "questions.close": QUESTIONS,
    "questions.find": QUESTIONS,
    "questions.list_people_asked": "start of the gateway: whose questions are still open",
    "questions.move": QUESTIONS,
    "questions.reopen": QUESTIONS,
    "message_index._list_sessions": IN_SESSION,
    "message_index.drop_message": IN_INDEX,
    "message_index.index_message": IN_INDEX,
    "message_index.move_sessions": BY_NUMBER,
    "message_index.index_next": IN_SESSION,
    "staged_import.drop_next": IN_SESSION,
    "usage.charged_by_person": "the owner's desk: what everybody's calls cost, each by name",
    "usage.find_newest": "a number only, from where the counters of `/metrics` go on",
    "usage.has_answered": "whether a model works, and nothing of who asked it",
    "usage_sums.list_people": "the owner's desk: what everybody's calls cost, each by name",
    "usage.list_after": "counters of everybody together, without a name",
}
FORGETTING = {
    "redact": BY_NUMBER,
    "retention": "lets go of what has grown old, whoever's it is",
    "person_data": "looks for what is to go wherever it may stand",
}
"""Rooms of the state in which nothing is read for anybody, and why they need not say whose."""

PERSON = PersonId(7)
TERMS = [Term(word="tea"), Term(word="茶", is_start=True)]
FIELDS = [
    SearchFilter(
        person_id=PERSON,
        scope=scope,
        except_turn=TurnId(0),
        since=1,
        until=9,
        role="user",
        platform="slack",
    )
    for scope in ("p7", "c3", "p8")
]
DRAWER = ArchiveFilter(person_id=PERSON, tags=("warm-drinks", "käse"), since=1)


def list_said(connection: Connection) -> None:
    """Everything that can be asked of the index of messages."""
    for field in FIELDS:
        message_index.list_holders(connection, field=field, terms=TERMS, limit=9)
        message_index.list_messages(connection, field=field, limit=9)


SEARCHES: dict[str, Callable[[Connection], object]] = {
    "archive.count_holders": lambda c: [
        archive.count_holders(c, person_id=PERSON, term=term, most=9) for term in TERMS
    ],
    "archive.list_holders": lambda c: archive.list_holders(c, within=DRAWER, terms=TERMS, limit=9),
    "message_index._count": lambda c: [
        message_index.count_holders(c, field=field, term=term, most=9)
        for field in FIELDS
        for term in (*TERMS, None)
    ],
    "message_index._match": list_said,
}
"""Every function that asks an index, called in all its ways for one person."""

MACHINERY = {"connection", "database", "upgrade"}
"""Rooms that begin and end transactions, and run migrations: they hold no query of their own."""


def rooms() -> tuple[Module, ...]:
    """The modules of the state."""
    return list_modules(("agent_core/state",))


def find_faults(module: Module) -> list[Statement]:
    """Statements over what is a person's that say neither whose nor in which turn."""
    return [
        one
        for one in list_statements(module)
        if module.name not in FORGETTING and one.place not in EXCEPTIONS and not is_owned(one)
    ]


def is_owned(statement: Statement) -> bool:
    """Whether each part of a statement that names such a table also names the person."""
    return all(
        not part.tables & OWNED
        or "MATCH :match" in part.condition
        or NAMES_PERSON.search(part.condition)
        or NAMES_TURN.search(part.condition)
        or (part.is_insert and re.search(r"\b(?:person_id|turn_id)\b", part.text))
        for part in statement.parts
    )


def test_every_statement_says_whose_rows_it_is_about() -> None:
    faults = [
        f"{module.path}: {one.place} (line {one.line}): {one.text}"
        for module in rooms()
        for one in find_faults(module)
    ]
    assert faults == [], "put the person's id into the condition, or give a reason in EXCEPTIONS"


def test_every_statement_can_be_read_from_the_source() -> None:
    unread = [one for room in rooms() if room.name not in MACHINERY for one in list_unread(room)]
    assert unread == [], "a statement has to stand in the source, or be made of what stands there"


def test_no_reason_is_left_for_a_statement_that_is_gone() -> None:
    all_of_them = [one for room in rooms() for one in list_statements(room)]
    unowned = {one.place for one in all_of_them if not is_owned(one)}
    assert set(EXCEPTIONS) <= unowned
    assert set(FORGETTING) | MACHINERY <= {room.name for room in rooms()}


def test_the_statements_are_really_found() -> None:
    found = [one for room in rooms() for one in list_statements(room)]
    tables = frozenset[str]().union(*(one.tables for one in found))
    assert tables >= OWNED
    assert sum(bool(one.tables & OWNED) for one in found) > 100


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Connection, list[str]]:
    """A database, and the queries of its indexes that it was asked, in their own language."""
    connection = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    create_schema(connection)
    reported: list[str] = []
    connection.set_trace_callback(reported.append)
    return connection, reported


@pytest.mark.parametrize("place", sorted(SEARCHES))
def test_every_word_that_an_index_is_asked_for_has_its_person_in_front(
    place: str, asked: tuple[Connection, list[str]]
) -> None:
    connection, reported = asked
    SEARCHES[place](connection)
    connection.close()
    matches = [found for one in reported for found in re.findall(r"MATCH '([^']*)'", one)]
    assert matches
    for match in matches:
        words = re.findall(r'"([^"]*)"', match)
        assert words
        assert all(word.startswith("p7_") for word in words), match


def test_every_function_that_asks_an_index_is_tried() -> None:
    found = [one for room in rooms() for one in list_statements(room)]
    assert {one.place for one in found if "MATCH" in one.text} == set(SEARCHES)


SEEN = """
_SAID = " person_id = :person_id"

def look(connection, person_id):
    {}
"""


@pytest.mark.parametrize(
    ("is_fault", "body"),
    [
        (False, 'connection.execute(f"SELECT text FROM messages WHERE{_SAID}")'),
        (True, 'connection.execute("SELECT text FROM messages WHERE text = :text")'),
        (True, 'connection.execute("SELECT text FROM messages")'),
        (True, 'connection.execute("UPDATE archive SET person_id = :person_id WHERE id = :id")'),
        (True, 'connection.execute("DELETE FROM shares WHERE entry = :entry")'),
        (True, 'connection.execute("INSERT INTO ledger (target) VALUES (:target)")'),
        (False, 'connection.execute("INSERT INTO ledger (person_id) VALUES (:person_id)")'),
        (False, 'connection.execute("SELECT text FROM messages WHERE turn_id = :turn_id")'),
        (True, 'connection.execute("SELECT 1 FROM turns JOIN usage ON usage.turn_id = turns.id")'),
        (True, 'q = "FROM external_sync"; connection.execute(f"SELECT id {q} WHERE id = :id")'),
        (
            True,
            (
                'q = "SELECT id FROM compactions"; p = "WHERE person_id = :p"; '
                'connection.execute(f"{q} {p} UNION ALL {q}")'
            ),
        ),
        (
            True,
            (
                'for end in ("person_id = :person_id", "id = :id"): '
                'connection.execute(f"SELECT state FROM questions WHERE {end}")'
            ),
        ),
    ],
)
def test_a_statement_without_its_person_would_be_seen(is_fault: bool, body: str) -> None:
    module = Module(path="agent_core/state/planted.py", text=SEEN.format(body))
    assert list_unread(module) == []
    assert bool(find_faults(module)) == is_fault


@pytest.mark.parametrize("name", ["archive", "passages", "ledger", "shares", "messages"])
def test_a_condition_that_is_taken_out_is_missed(name: str) -> None:
    (room,) = (one for one in rooms() if one.name == name)
    text = re.sub(r"(?: AND)?\s[a-z.]*person_id = :person_id(?: AND)?", " ", room.text)
    planted = Module(path=room.path, text=text)
    assert text != room.text
    assert find_faults(planted)
