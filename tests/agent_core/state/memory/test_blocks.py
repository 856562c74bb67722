"""Blocks and the team as rows: not counted among people; a label is free once it is dropped."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_core.ids import PersonId
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import Block, NewBlock
from agent_core.state.people import owners, people
from agent_core.state.people.people import Person
from tests.agent_core.state.schema import migrate


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    migrate(connection)
    yield connection
    connection.close()


@pytest.fixture
def ann(connection: sqlite3.Connection) -> Person:
    return people.insert(connection, slug="ann", name="Ann", role="member", now=0)


def make(connection: sqlite3.Connection, maker: PersonId, label: str = "list") -> Block:
    new = NewBlock(slug=label, label=label, description="d", limit=100, made_by=maker)
    return blocks.insert(connection, new, now=1)


def test_the_team_is_made_once_and_is_nobody(connection: sqlite3.Connection, ann: Person) -> None:
    assert blocks.find_team(connection) is None
    team = blocks.make_team(connection, now=1)
    assert blocks.make_team(connection, now=2) == team == blocks.find_team(connection)
    make(connection, ann.id)
    assert [person.id for person in people.list_all(connection)] == [ann.id]
    assert people.find_owner(connection) is None
    assert owners.list_all(connection) == []
    assert not people.has_platform_owner(connection, local_platform="console")


def test_a_block_goes_and_its_row_in_people_stays(
    connection: sqlite3.Connection, ann: Person
) -> None:
    assert not blocks.exists(connection)
    block = make(connection, ann.id)
    assert blocks.exists(connection)
    blocks.share(connection, block_id=block.id, person_id=ann.id)
    blocks.drop(connection, block_id=block.id)
    assert blocks.find(connection, label="list") is None
    assert blocks.list_readers(connection, block_id=block.id) == []
    kept = people.find(connection, person_id=block.person_id)
    assert kept
    assert (kept.kind, kept.slug) == ("block", "block-list")
    again = make(connection, ann.id)
    assert (again.label, again.slug) == ("list", "list-2"), "it begins with a file of its own"


def test_what_is_set_is_read_back(connection: sqlite3.Connection, ann: Person) -> None:
    block = make(connection, ann.id)
    blocks.set_read_only(connection, block_id=block.id, is_read_only=True)
    blocks.set_limit(connection, block_id=block.id, limit=300)
    blocks.describe(connection, block_id=block.id, description="new")
    seen = blocks.find(connection, label="list")
    assert seen
    assert (seen.is_read_only, seen.limit, seen.description) == (True, 300, "new")


def test_lists_are_by_label_and_by_who_may_see_them(
    connection: sqlite3.Connection, ann: Person
) -> None:
    bob = people.insert(connection, slug="bob", name="Bob", role="member", now=0)
    b, a, mine = (make(connection, ann.id, label) for label in ("b", "a", "mine"))
    for block in (b, a):
        blocks.share(connection, block_id=block.id, person_id=bob.id)
    seen = blocks.list_visible(connection, person_id=bob.id)
    assert [block.label for block in seen] == ["a", "b"]
    assert blocks.list_visible(connection, person_id=ann.id) == []
    assert blocks.list_made(connection, person_id=ann.id) == [*seen, mine]
    assert blocks.list_made(connection, person_id=bob.id) == []
    assert blocks.list_all(connection) == [*seen, mine]
    team = blocks.make_team(connection, now=1)
    blocks.share(connection, block_id=mine.id, person_id=team)
    assert blocks.list_visible(connection, person_id=None) == [mine]
    assert [p.kind for p in blocks.list_readers(connection, block_id=mine.id)] == ["team"]
