"""The states that the store has."""

from agent_core.state.engine.database import Connection
from tests.integration.harness import Harness


async def states(harness: Harness, table: str) -> list[str]:
    def look(connection: Connection) -> list[str]:
        return [row[0] for row in connection.execute(f"SELECT state FROM {table} ORDER BY id")]

    return await harness.read(look)
