"""Statements that leave no byte of what was deleted: indexes merged, the log cut back."""

from typing import Literal

from agent_core.state.engine.database import Connection

Index = Literal["message_search", "archive_search"]
INDEXES: tuple[Index, ...] = ("message_search", "archive_search")


def begin_merge(connection: Connection, *, index: Index, pages: int) -> None:
    """Begin to make one of all that an index has gathered: only then it lets words go that
    no message holds any more. `pages` are the most that one step writes.
    """
    connection.execute(
        f"INSERT INTO {index} ({index}, rank) VALUES ('merge', :pages)", {"pages": -pages}
    )


def continue_merge(connection: Connection, *, index: Index, pages: int) -> bool:
    """Take the next step of it; False once it is done.

    The sign is SQLite's own: a step that changes next to nothing was the last.
    """
    before = connection.total_changes
    connection.execute(
        f"INSERT INTO {index} ({index}, rank) VALUES ('merge', :pages)", {"pages": pages}
    )
    return connection.total_changes - before >= 2


def vacuum(connection: Connection) -> None:
    """Write the whole file anew, outside of any transaction: moving rows about leaves copies."""
    connection.execute("VACUUM")


def truncate_log(connection: Connection) -> bool:
    """Bring all of the log into the file and empty it; False while somebody still reads it."""
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
