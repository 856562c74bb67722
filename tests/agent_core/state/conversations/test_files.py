"""Files are kept once, by what is in them, and given out once a call."""

import hashlib
import sqlite3

from agent_core.ids import CallId
from agent_core.state.conversations import files
from agent_core.state.conversations.files import StoredFile, TurnFile
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn


def keep(connection: sqlite3.Connection, data: bytes = b"picture") -> str:
    return files.store(connection, data=data, media_type="image/png", now=1)


def test_a_file_is_found_by_the_hash_of_its_bytes(connection: sqlite3.Connection) -> None:
    key = keep(connection)
    assert key == hashlib.sha256(b"picture").hexdigest()
    stored = StoredFile(key=key, media_type="image/png", data=b"picture")
    assert files.find(connection, key=key) == stored
    assert files.find(connection, key="none") is None


def test_the_same_bytes_are_kept_once(connection: sqlite3.Connection) -> None:
    assert keep(connection) == keep(connection)
    assert connection.execute("SELECT COUNT(*) FROM files").fetchone() == (1,)


def test_a_file_whose_bytes_have_changed_is_not_given_out(connection: sqlite3.Connection) -> None:
    key = keep(connection)
    connection.execute("UPDATE files SET data = ?", (b"another",))
    assert files.find(connection, key=key) is None


def test_a_file_that_was_emptied_is_not_there(connection: sqlite3.Connection) -> None:
    key = keep(connection)
    assert files.exists(connection, key=key)
    assert not files.exists(connection, key="none")
    connection.execute("UPDATE files SET data = x''")
    assert not files.exists(connection, key=key)


def test_a_turn_gives_its_files_out_in_order_and_each_call_one(
    connection: sqlite3.Connection,
) -> None:
    dialogue = add_dialogue(connection, add_person(connection))
    turn, other = add_turn(connection, dialogue), add_turn(connection, dialogue)
    first, second = keep(connection, b"1"), keep(connection, b"2")
    for call, key, name in (("a", second, "2.txt"), ("b", first, "1.txt"), ("a", first, "3.txt")):
        files.attach(connection, turn_id=turn, call_id=CallId(call), key=key, name=name, now=1)
    given = [
        TurnFile(key=second, name="2.txt", call_id=CallId("a")),
        TurnFile(key=first, name="1.txt", call_id=CallId("b")),
    ]
    assert files.list_of_turn(connection, turn_id=turn) == given
    assert files.list_of_turn(connection, turn_id=other) == []
