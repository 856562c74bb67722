"""What is shared is one entry of one list of one person, with one audience after another."""

from agent_core.state.engine.database import Connection
from agent_core.state.memory import shares
from agent_core.state.memory.shares import Share
from tests.agent_core.state.rows import add_person


def test_an_entry_is_private_until_it_is_shared_and_again_after(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    tea = Share(target="user", entry="likes tea", audience="everyone")
    here = Share(target="user", entry="likes tea", audience="room:7")
    note = Share(target="memory", entry="likes tea", audience="room:7")
    for share in (tea, here, tea, note):
        shares.insert(connection, share, person_id=ann.id, actor="turn:1", now=0)
    shares.insert(connection, tea, person_id=bob.id, actor="turn:2", now=0)
    assert shares.list_of(connection, person_id=ann.id) == [tea, here, note]

    shares.delete(connection, person_id=ann.id, target="user", entry="likes tea")
    assert shares.list_of(connection, person_id=ann.id) == [note]
    assert shares.list_of(connection, person_id=bob.id) == [tea]
