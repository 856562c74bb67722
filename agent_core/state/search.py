"""Full-text search over what was said; the one room where SQL is SQLite's own dialect."""

from sqlite3 import Connection

from agent_core.ids import MessageId


def index_message(connection: Connection, message_id: MessageId, scope: str, text: str) -> None:
    """Make a message findable; called in the transaction that stores it.

    `scope` and `text` must be what its row in `messages` holds, for the index keeps no copy
    of its own. A message without words is not indexed.
    """
    if not text.strip():
        return
    connection.execute(
        "INSERT INTO message_search (rowid, scope, text) VALUES (:id, :scope, :text)",
        {"id": message_id, "scope": scope, "text": text},
    )
