"""The count of what people saw: which unfinished messages a kill explains."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

import agent_core.state
from tests.faults.findings import look

OPENING = "ringing id7"
DOUBT = ("key", OPENING)


@pytest.mark.parametrize(
    ("shown", "doubts", "unexplained"),
    [
        pytest.param([OPENING], [], 1, id="no kill"),
        pytest.param([OPENING], [("key", "ringing id8")], 1, id="a kill during another message"),
        pytest.param([OPENING], [DOUBT], 0, id="a kill during this message"),
        pytest.param([OPENING] * 2, [DOUBT, DOUBT], 1, id="two for one message in doubt"),
        pytest.param(["heard m1-1"], [], 0, id="an answer"),
    ],
)
def test_a_stray_needs_a_message_in_doubt(
    tmp_path: Path, shown: Sequence[str], doubts: Sequence[tuple[str, str]], unexplained: int
) -> None:
    schema = Path(agent_core.state.__path__[0]) / "schema.sql"
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        connection.executescript(schema.read_text(encoding="utf-8"))
    assert len(look(tmp_path, [], {1: shown}, [], doubts).unexplained) == unexplained
