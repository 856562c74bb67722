"""What the index itself promises; what a person finds is tested with the recall tool."""

from pathlib import Path

import pytest

from agent_core.ids import MessageId, PersonId, TurnId
from agent_core.state import search
from agent_core.state.database import Connection, Database
from agent_core.state.search import Field


def field(scope: str) -> Field:
    return Field(person_id=PersonId(1), scope=scope, except_turn=TurnId(0))


@pytest.mark.parametrize("scope", ["", "p", "1", "p1 c1", 'p1" OR "c2', "P1", "p1\n"])
async def test_a_scope_that_is_none_is_refused(tmp_path: Path, scope: str) -> None:
    database = await Database.open(tmp_path / "state.db")
    try:
        for work in (
            lambda connection: search.count_words(connection, field(scope), words=["a"]),
            lambda connection: search.find_fragments(
                connection, field(scope), fragments=["a"], limit=1
            ),
        ):
            with pytest.raises(ValueError, match="scope"):
                await database.read(work)
    finally:
        await database.close()


async def test_a_search_for_nothing_is_refused(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "state.db")
    try:
        with pytest.raises(ValueError, match="word"):
            await database.read(
                lambda connection: search.find_words(connection, field("p1"), words=[], limit=1)
            )
        with pytest.raises(ValueError, match="fragment"):
            await database.read(
                lambda connection: search.count_fragments(connection, field("p1"), fragments=[])
            )
    finally:
        await database.close()


async def test_a_message_without_words_takes_no_place_in_the_index(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "state.db")

    def work(connection: Connection) -> int:
        search.index_message(connection, MessageId(1), "p1 c1", " \n")
        search.index_message(connection, MessageId(2), "p1 c1", "word")
        row = connection.execute("SELECT COUNT(*) FROM message_search_docsize").fetchone()
        return int(row[0])

    try:
        assert await database.write("index", work) == 1
    finally:
        await database.close()


@pytest.mark.parametrize("term", ['a"b', '"', "nul\0", "\ud800", "%", "a OR", "\\", ""])
async def test_any_term_is_safe_to_search(tmp_path: Path, term: str) -> None:
    database = await Database.open(tmp_path / "state.db")
    try:
        for work in (
            lambda connection: search.count_words(connection, field("p1"), words=[term]),
            lambda connection: search.count_fragments(connection, field("p1"), fragments=[term]),
        ):
            assert await database.read(work) == 0
    finally:
        await database.close()
