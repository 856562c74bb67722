"""The index of messages, compared with them."""

from agent_core.state.engine.database import Connection
from agent_core.state.tokenizer import PLACES, list_entries


def check_index(connection: Connection) -> None:
    """Fails if the index does not say what the messages say."""
    connection.execute(
        "INSERT INTO message_search (message_search) VALUES ('integrity-check')",
    )
    connection.execute(
        "CREATE VIRTUAL TABLE temp.entries USING fts5vocab (main, message_search, instance)"
    )
    reported = set(connection.execute("SELECT doc, term FROM temp.entries").fetchall())
    connection.execute("DROP TABLE temp.entries")
    rows = connection.execute("SELECT id, scope, role, platform, created_at, text FROM messages")
    expected = {
        (message_id * PLACES + place, word)
        for message_id, *row in rows.fetchall()
        for place, entry in enumerate(list_entries(*row))
        for word in entry.split()
    }
    assert reported == expected
