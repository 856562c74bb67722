"""Statements that remove deleted bytes from the file: index merges and VACUUM."""

from typing import Literal

from agent_core.state.engine.database import Connection

Index = Literal["message_search", "archive_search"]
INDEXES: tuple[Index, ...] = ("message_search", "archive_search")


def begin_merge(connection: Connection, *, index: Index, pages: int) -> None:
    """Start to merge the segments of an index, which drops the words of deleted messages.

    `pages` is the most pages that one step writes.
    """
    connection.execute(
        f"INSERT INTO {index} ({index}, rank) VALUES ('merge', :pages)", {"pages": -pages}
    )


def continue_merge(connection: Connection, *, index: Index, pages: int) -> bool:
    """Run the next step of the merge; False once it is complete.

    It is complete when a step changes fewer than two rows, as SQLite documents.
    """
    before = connection.total_changes
    connection.execute(
        f"INSERT INTO {index} ({index}, rank) VALUES ('merge', :pages)", {"pages": pages}
    )
    return connection.total_changes - before >= 2


def vacuum(connection: Connection) -> None:
    """Rewrite the whole file, because moved rows leave copies; must run outside any transaction."""
    connection.execute("VACUUM")
