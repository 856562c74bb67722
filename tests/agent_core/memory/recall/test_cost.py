"""A search through long answers does not do much more than one through short messages."""

import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest

from agent_core.ids import PersonId, TurnId
from agent_core.memory.recall.formatting import View, format_hits
from agent_core.memory.recall.message_search import search_messages
from agent_core.memory.recall.query import read_query
from agent_core.state.search import passages
from agent_core.state.search.search_scope import SearchFilter
from agent_core.tools.clock import local_time
from bench.retrieval.town import Talkers, build

FIELD = SearchFilter(person_id=PersonId(1), scope="p1", except_turn=TurnId(0))
VIEW = View(zone="UTC", has_many=True)


def _count_calls(folder: Path, *, has_long_answers: bool) -> int:
    """Count the calls of ten searches with their answers."""
    path = folder / f"{has_long_answers}.db"
    build(path, count=1000, population=1, report=str, has_long_answers=has_long_answers)
    words = Talkers(random.Random(4)).vocabulary
    calls = 0

    def count(_: FrameType, __: str, ___: object) -> None:
        nonlocal calls
        calls += 1

    with closing(sqlite3.connect(path)) as connection:
        for number in range(10):
            query = read_query(" ".join(words[number : number + 3]))
            sys.setprofile(count)
            try:
                found = search_messages(
                    connection, FIELD, query, limit=10, clock=lambda at: local_time(at, "UTC")
                )
                session_ids = [hit.message.session_id for hit in found.hits]
                overviews = passages.load_overviews(
                    connection, field=FIELD, session_ids=session_ids
                )
                assert format_hits(query, found, overviews, VIEW)
            finally:
                sys.setprofile(None)
    return calls


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer counts its own calls")
@pytest.mark.thorough
def test_long_answers_cost_at_most_twice_as_many_steps(tmp_path: Path) -> None:
    short = _count_calls(tmp_path, has_long_answers=False)
    assert _count_calls(tmp_path, has_long_answers=True) <= 2 * short
