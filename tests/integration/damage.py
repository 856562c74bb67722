"""Rows damaged as a disk does."""

from agent_core.state.engine.database import Connection
from tests.integration.harness import Harness


async def flip(harness: Harness, table: str, change: str, row_id: int) -> None:
    """Damage a row like a flipped bit on disk."""

    def work(connection: Connection) -> None:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"UPDATE {table} SET {change} WHERE id = ?", (row_id,))
        connection.execute("PRAGMA ignore_check_constraints = OFF")

    await harness.gateway.database.write("test", work)
